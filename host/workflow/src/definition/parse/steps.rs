//! Parser of steps.

use std::collections::HashMap;

use super::{
    arguments::parse_call,
    call_rules::{CallRules, OF_CALLS, parse_call_rules},
    for_each,
    on_error::{parse_on_error, parse_unknown_outcome},
    question,
    step_fields::FIELDS,
    template::parse_template,
};
use crate::{
    FileProblem,
    definition::{
        limits::{QUESTION_TIMEOUT, STEP_TIMEOUT},
        model::{OnError, StepKind, ToolCall, WorkflowStep},
        place::{NodePlace, ObjectFields, join},
        report::ParseReport,
        template_use::{StepPart, TemplateSite},
    },
    yaml::excerpt,
};

/// Fields that are ignored in steps of other types.
const OF_TOOLS: [&str; 4] = ["tool", "arguments", "onUnknown", "onMissing"];
const OF_QUESTIONS: [&str; 4] = ["message", "schema", "onDecline", "onCancel"];
const OF_FOR_EACH: [&str; 5] = ["collection", "itemVar", "maxParallel", "maxIterations", "step"];

/// Parses the steps of a workflow.
pub(crate) fn parse_steps(places: &[NodePlace<'_>], report: &mut ParseReport) -> Vec<WorkflowStep> {
    let mut ids = Ids::new();
    for (index, place) in places.iter().enumerate() {
        let Some(id) = place.node.get("id").filter(|node| !node.is_null()) else { continue };
        let id = NodePlace::new(id, format!("{}.id", place.path));
        // An id that is not a text is reported when the step is parsed.
        let Some(text) = id.text(&mut ParseReport::default()).filter(|text| !text.is_empty()) else {
            continue;
        };
        if ids.contains_key(text) {
            let problem = id.problem(&format!("\"{}\" is duplicated", excerpt(text)));
            report.problem(problem.hint("give each step a unique id"));
        } else {
            ids.insert(text, index);
        }
    }
    places.iter().enumerate().map(|(index, place)| parse_step(place, index, &ids, report)).collect()
}

/// Indexes of steps by id.
type Ids<'a> = HashMap<&'a str, usize>;

fn parse_step(place: &NodePlace<'_>, index: usize, ids: &Ids<'_>, report: &mut ParseReport) -> WorkflowStep {
    let line = place.node.line;
    let mut step = WorkflowStep {
        id: String::new(),
        kind: placeholder(line),
        condition: None,
        depends_on: Vec::new(),
        timeout: STEP_TIMEOUT,
        on_error: OnError::Abort,
        on_unknown: None,
        key: None,
        effect: None,
        skips_missing: false,
        undo: None,
        default_results: None,
        line,
    };
    let Some(fields) = place.fields(&FIELDS, report) else { return step };
    match fields.text("id", report) {
        Some(id) => step.id = id.to_owned(),
        None if fields.is_of_another_kind("id") => {}
        None => report.problem(fields.missing("id", "is required")),
    }
    if let Some((kind, rules)) = parse_kind(&fields, index, report) {
        step.kind = kind;
        rules.apply(&mut step);
    }
    if let Some(place) = fields.get("condition")
        && place.text(report).is_some_and(|text| !text.is_empty())
    {
        step.condition = parse_template(&place, TemplateSite::Step(index, StepPart::Condition), report);
    }
    step.depends_on = parse_depends_on(&fields, ids, report);
    if let Some(place) = fields.get("timeout")
        && let Some(timeout) = place.duration(report)
    {
        step.timeout = timeout;
        if matches!(step.kind, StepKind::Ask(_)) && timeout > QUESTION_TIMEOUT {
            step.timeout = QUESTION_TIMEOUT;
            report.warn(place.problem("exceeds the maximum of 720h for a question"));
        }
    }
    step.on_error = parse_on_error(&fields, report);
    step.on_unknown = parse_unknown_outcome(&fields, report);
    step.skips_missing = parse_skips_missing(&fields, report);
    if matches!(step.on_error, OnError::Retry { .. }) && !matches!(step.kind, StepKind::Tool(_)) {
        let message = "onError.action: retry has no effect here: only tool calls are retried";
        let problem = FileProblem::new(line, &*place.path, format!("{}: {message}", place.path));
        report.warn(match step.kind {
            StepKind::ForEach(_) => problem.hint("move it to the inner step"),
            _ => problem,
        });
    }
    // Null is a valid default.
    step.default_results = fields
        .entry("defaultResults")
        .and_then(|entry| NodePlace::new(&entry.node, join(&place.path, "defaultResults")).json(report));
    step
}

/// Creates a placeholder for a step that cannot be parsed and has a reported problem.
fn placeholder(line: usize) -> StepKind {
    StepKind::Tool(ToolCall { tool: String::new(), arguments: Vec::new(), line })
}

fn parse_kind(
    fields: &ObjectFields<'_>,
    index: usize,
    report: &mut ParseReport,
) -> Option<(StepKind, CallRules)> {
    let place = fields.get("type");
    let kind = fields.text("type", report).unwrap_or_default();
    let (has_tool, has_message) = (fields.get("tool").is_some(), fields.get("message").is_some());
    match kind {
        "" if has_tool && has_message => {
            let message = "cannot have both tool and message fields - use explicit type to clarify intent";
            report.problem(fields.problem(message).hint("write type: tool or type: elicitation"));
            None
        }
        "" if has_message => {
            let missing = fields.missing("tool", "is required when type is tool");
            report.problem(missing.hint("to ask a person, write type: elicitation"));
            None
        }
        "" if fields.get("collection").is_some() && !has_tool => {
            let missing = fields.missing("tool", "is required when type is tool");
            report.problem(missing.hint("to call for each item, write type: forEach"));
            None
        }
        "" | "tool" => {
            warn_unused_fields(fields, "tool", &[&OF_QUESTIONS, &OF_FOR_EACH], report);
            let at = TemplateSite::Step(index, StepPart::Argument);
            let call = parse_call(fields, &at, "is required when type is tool", report);
            Some((StepKind::Tool(call), parse_call_rules(fields, index, None, report)))
        }
        "elicitation" => {
            warn_unused_fields(fields, "elicitation", &[&OF_TOOLS, &OF_CALLS, &OF_FOR_EACH], report);
            let question = question::parse_question(fields, index, report)?;
            Some((StepKind::Ask(question), CallRules::default()))
        }
        "forEach" => {
            warn_unused_fields(fields, "forEach", &[&["arguments"], &OF_QUESTIONS[1..]], report);
            for place in OF_CALLS.iter().filter_map(|name| fields.get(name)) {
                let problem = place.problem("has no effect here: it states something about a call");
                report.problem(problem.hint("move it to the inner step"));
            }
            let (each, rules) = for_each::parse_for_each(fields, index, report)?;
            Some((StepKind::ForEach(each), rules))
        }
        other => {
            let place = place?;
            let problem = place.problem("must be one of: tool, elicitation, forEach");
            report.problem(report.with_suggestion(problem, other, ["tool", "elicitation", "forEach"]));
            None
        }
    }
}

/// Warns of fields that a step of this type ignores.
fn warn_unused_fields(fields: &ObjectFields<'_>, kind: &str, others: &[&[&str]], report: &mut ParseReport) {
    for name in others.iter().flat_map(|names| names.iter()) {
        if let Some(place) = fields.get(name) {
            report.warn(place.problem(&format!("has no effect in a step of type {kind}")));
        }
    }
}

/// Parses `onMissing`; returns true if the step is skipped if what it calls is not there.
fn parse_skips_missing(fields: &ObjectFields<'_>, report: &mut ParseReport) -> bool {
    const ACTIONS: [&str; 2] = ["abort", "continue"];
    let Some(place) = fields.get("onMissing") else { return false };
    report.note(place.node.line, &*place.path, "ToolHive does not know `onMissing`");
    match place.text(report) {
        Some("continue") => true,
        Some("abort") | None => false,
        Some(other) => {
            let problem = place.problem("must be one of: abort, continue");
            report.problem(report.with_suggestion(problem, other, ACTIONS));
            false
        }
    }
}

fn parse_depends_on(fields: &ObjectFields<'_>, ids: &Ids<'_>, report: &mut ParseReport) -> Vec<usize> {
    let mut found = Vec::new();
    let Some(place) = fields.get("dependsOn") else { return found };
    if place.refuse_text(report, "a list", |id| format!("write dependsOn: [{id}]")) {
        return found;
    }
    for item in place.items(report).unwrap_or_default() {
        let Some(id) = item.text(report) else { continue };
        match ids.get(id) {
            Some(index) if found.contains(index) => {}
            Some(index) => found.push(*index),
            None => {
                let message = format!("{} references unknown step \"{}\"", place.path, excerpt(id));
                let problem = FileProblem::new(item.node.line, item.path, message);
                report.problem(report.with_suggestion(problem, id, ids.keys().copied()));
            }
        }
    }
    found
}
