//! Parser of workflows.

use std::sync::Arc;

use loggia_facade::{Action, Effect, Object, Surface};
use loggia_schema::Contract;
use serde_json::Value as Json;

use super::{attach::parse_attach, output::parse_output, start::parse_start, steps::parse_steps};
use crate::{
    FileProblem,
    definition::{
        check,
        limits::{COMPENSATION_TIMEOUT, STEPS, TIMEOUT},
        model::{EffectHints, SagaRules, Workflow},
        place::{NodePlace, ObjectFields, join},
        report::ParseReport,
    },
    yaml::excerpt,
};

/// Fields of a composite tool.
pub(crate) const FIELDS: [&str; 16] = [
    "name",
    "description",
    "parameters",
    "timeout",
    "steps",
    "output",
    "annotations",
    "failureMode",
    "transaction",
    "compensationTimeout",
    "dryRun",
    "attach",
    "runAs",
    "schedule",
    "hook",
    "onState",
];
/// Maximum length of a name, in bytes.
const NAME: usize = 64;

/// Parses and checks a composite tool.
pub(crate) fn parse_workflow(fields: &ObjectFields<'_>, strict: bool, report: &mut ParseReport) -> Workflow {
    report.uses.clear();
    let (name, description) = (parse_name(fields, report), fields.text("description", report));
    if description.is_none() && !fields.is_of_another_kind("description") {
        let missing = fields.missing("description", "is required");
        report.problem(missing.hint("describe the tool in one sentence"));
    }
    let parameters = match fields.get("parameters") {
        None => any_object(),
        // The problem has been reported, so references to parameters are not checked.
        Some(place) => parse_parameters(&place, report).unwrap_or_else(|| {
            let mut open = any_object();
            open.insert("additionalProperties".to_owned(), true.into());
            open
        }),
    };
    let timeout = fields.get("timeout").and_then(|place| place.duration(report)).unwrap_or(TIMEOUT);
    let continues = parse_failure_mode(fields, report);
    let saga = parse_transaction(fields, report);
    let start = parse_start(fields, &parameters, report);
    let dry_runs = parse_dry_runs(fields, &parameters, report);
    let attach = parse_attach(fields, &parameters, report);
    let list = join(&fields.path, "steps");
    let places = fields.get("steps").and_then(|place| place.items(report)).unwrap_or_default();
    if places.is_empty() && fields.get("steps").is_none_or(|place| place.node.kind_name() == "a list") {
        report.problem(fields.missing("steps", "must have at least one step"));
    }
    if places.len() > STEPS {
        let message = format!("{list}: too many steps: {} (max {STEPS})", places.len());
        report.problem(FileProblem::new(fields.line, &*list, message).hint("split the workflow"));
    }
    let steps = parse_steps(&places[..places.len().min(STEPS)], report);
    let output = fields.get("output").and_then(|place| parse_output(&place, report));
    let annotations = fields.get("annotations").and_then(|place| parse_annotations(&place, report));
    let workflow = Workflow {
        name,
        description: description.unwrap_or_default().to_owned(),
        parameters,
        timeout,
        continues,
        strict,
        dry_runs,
        attach,
        start,
        saga,
        steps,
        output,
        annotations: annotations.unwrap_or_default(),
        line: fields.line,
        path: fields.path.clone(),
    };
    let uses = std::mem::take(&mut report.uses);
    check::check_workflow(&workflow, &uses, places.len() <= STEPS, report);
    workflow
}

fn parse_name(fields: &ObjectFields<'_>, report: &mut ParseReport) -> String {
    let Some(name) = fields.text("name", report) else {
        if !fields.is_of_another_kind("name") {
            report.problem(fields.missing("name", "is required"));
        }
        return String::new();
    };
    if !is_name(name)
        && let Some(place) = fields.get("name")
    {
        let message = format!(
            "\"{}\" must have 1 to {NAME} characters of a-z, 0-9, `-` and `_`, and start and end with a letter or digit",
            excerpt(name)
        );
        report.problem(place.problem(&message));
    }
    name.to_owned()
}

/// `^[a-z0-9]([a-z0-9_-]*[a-z0-9])?$`
fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let inner = name.chars().all(|c| plain(c) || matches!(c, '_' | '-'));
    inner && name.len() <= NAME && name.starts_with(plain) && name.ends_with(plain)
}

fn any_object() -> Object {
    Object::from_iter([("type".to_owned(), Json::from("object"))])
}

fn parse_parameters(place: &NodePlace<'_>, report: &mut ParseReport) -> Option<Object> {
    let schema = place.object(report)?;
    let type_line = place.node.get("type").map_or(place.node.line, |node| node.line);
    let message = match schema.get("type") {
        None => "must have 'type' field (should be 'object' for JSON Schema)".to_owned(),
        Some(Json::String(kind)) if kind == "object" => return validate_parameters(place, schema, report),
        Some(Json::String(kind)) => format!("'type' must be 'object' (got '{}')", excerpt(kind)),
        Some(_) => "'type' field must be a string".to_owned(),
    };
    report.problem(FileProblem::new(type_line, &*place.path, format!("{}: {message}", place.path)));
    None
}

/// Returns the schema if an action may use it; reports problems otherwise.
fn validate_parameters(place: &NodePlace<'_>, schema: Object, report: &mut ParseReport) -> Option<Object> {
    let params = Arc::new(schema);
    let action = Action {
        name: ACTION.to_owned(),
        summary: ACTION.to_owned(),
        effect: Effect::Read,
        idempotent: false,
        open_world: false,
        long_running: false,
        details: false,
        aliases: Vec::new(),
        needs: Vec::new(),
        group: None,
        resource: None,
        view: None,
        data: None,
        examples: Vec::new(),
        params: Arc::clone(&params),
    };
    let surface = Surface {
        name: ACTION.to_owned(),
        title: ACTION.to_owned(),
        version: String::new(),
        summary: ACTION.to_owned(),
        instructions: None,
        default_action: None,
        views: Vec::new(),
        wants: Vec::new(),
        actions: vec![action],
    };
    let Err(problems) = Contract::new(Arc::new(surface)) else { return Some(Arc::unwrap_or_clone(params)) };
    for message in problems.0 {
        let message = message.strip_prefix("action `workflow`: ").unwrap_or(&message);
        let message =
            message.strip_prefix("the schema of its parameters cannot be used: ").unwrap_or(message);
        let message = format!("{}: invalid JSON Schema: {message}", place.path);
        report.problem(FileProblem::new(place.node.line, &*place.path, message));
    }
    None
}

/// Name of the stand-in action that validates a workflow's parameters.
const ACTION: &str = "workflow";

fn parse_failure_mode(fields: &ObjectFields<'_>, report: &mut ParseReport) -> bool {
    let Some(place) = fields.get("failureMode") else { return false };
    let message = "ToolHive's guide has `failureMode`, but its code rejects the file";
    report.note(place.node.line, &*place.path, message);
    match place.text(report) {
        Some("continue") => return true,
        Some("abort") | None => {}
        Some(other) => {
            let problem = place.problem("must be one of: abort, continue");
            report.problem(report.with_suggestion(problem, other, ["abort", "continue"]));
        }
    }
    false
}

fn parse_dry_runs(fields: &ObjectFields<'_>, parameters: &Object, report: &mut ParseReport) -> bool {
    let Some(place) = fields.get("dryRun") else { return false };
    report.note(place.node.line, &*place.path, "ToolHive does not know `dryRun`");
    let is_allowed = match place.text(report) {
        Some("allowed") => true,
        Some("refused") | None => false,
        Some(other) => {
            let problem = place.problem("must be one of: allowed, refused");
            report.problem(report.with_suggestion(problem, other, ["allowed", "refused"]));
            false
        }
    };
    let properties = parameters.get("properties").and_then(Json::as_object);
    if is_allowed && properties.is_some_and(|properties| properties.contains_key(Workflow::DRY_RUN)) {
        report.problem(place.problem("cannot be allowed: the parameters define `dry_run` themselves"));
    }
    is_allowed
}

fn parse_transaction(fields: &ObjectFields<'_>, report: &mut ParseReport) -> Option<SagaRules> {
    const KINDS: [&str; 2] = ["none", "saga"];
    let stated = fields.get("compensationTimeout");
    let timeout = stated.as_ref().and_then(|place| place.duration(report));
    for (name, place) in [("transaction", fields.get("transaction")), ("compensationTimeout", stated.clone())]
    {
        if let Some(place) = place {
            report.note(place.node.line, &*place.path, format!("ToolHive does not know `{name}`"));
        }
    }
    let is_saga = fields.get("transaction").is_some_and(|place| match place.text(report) {
        Some("saga") => true,
        Some("none") | None => false,
        Some(other) => {
            let problem = place.problem("must be one of: none, saga");
            report.problem(report.with_suggestion(problem, other, KINDS));
            false
        }
    });
    if let (false, Some(place)) = (is_saga, stated) {
        report.warn(place.problem("has no effect without transaction: saga"));
    }
    is_saga.then(|| SagaRules { timeout: timeout.unwrap_or(COMPENSATION_TIMEOUT) })
}

fn parse_annotations(place: &NodePlace<'_>, report: &mut ParseReport) -> Option<EffectHints> {
    const KNOWN: [&str; 5] = ["title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];
    let fields = place.fields(&KNOWN, report)?;
    let title = fields.text("title", report).map(str::to_owned);
    let mut flag = |key: &str| fields.get(key).and_then(|place| place.boolean(report));
    Some(EffectHints {
        title,
        read_only: flag("readOnlyHint"),
        destructive: flag("destructiveHint"),
        idempotent: flag("idempotentHint"),
        open_world: flag("openWorldHint"),
    })
}
