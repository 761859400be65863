//! Parser of questions.

use loggia_facade::Object;
use loggia_schema::QuestionForm;

use super::template::parse_template;
use crate::{
    FileProblem,
    definition::{
        model::{QuestionStep, RefusalAction},
        place::{NodePlace, ObjectFields},
        report::ParseReport,
        template_use::{StepPart, TemplateSite},
    },
};

/// Parses the question of a step.
pub(crate) fn parse_question(
    fields: &ObjectFields<'_>,
    index: usize,
    report: &mut ParseReport,
) -> Option<QuestionStep> {
    let message = match fields.get("message") {
        Some(place) if place.text(report) != Some("") => {
            parse_template(&place, TemplateSite::Step(index, StepPart::Message), report)
        }
        _ => {
            report.problem(fields.missing("message", "is required when type is elicitation"));
            None
        }
    };
    let schema = match fields.get("schema") {
        Some(place) => parse_form_schema(&place, report),
        None => {
            let missing = fields.missing("schema", "is required for elicitation steps");
            report.problem(missing.hint("write an object schema with the fields of the form"));
            None
        }
    };
    let on_decline = parse_refusal_action(fields, "onDecline", report);
    let on_cancel = parse_refusal_action(fields, "onCancel", report);
    Some(QuestionStep { message: message?, schema: schema?, on_decline, on_cancel })
}

fn parse_form_schema(place: &NodePlace<'_>, report: &mut ParseReport) -> Option<Object> {
    let mut schema = place.object(report)?;
    if schema.contains_key("properties") && !schema.contains_key("type") {
        schema.insert("type".into(), "object".into());
    }
    let message = match schema.contains_key("type") {
        true => QuestionForm::new(&schema).err(),
        false => Some("its type must be object".to_owned()),
    };
    let Some(message) = message else { return Some(schema) };
    let message = format!("{}: invalid JSON Schema: {message}", place.path);
    let problem = FileProblem::new(place.node.line, &*place.path, message);
    let is_object = schema.get("type").is_some_and(|kind| kind == "object");
    report.problem(match is_object {
        true => problem,
        false => problem.hint("write type: object, and the question's field under properties"),
    });
    None
}

fn parse_refusal_action(fields: &ObjectFields<'_>, key: &str, report: &mut ParseReport) -> RefusalAction {
    const ACTIONS: [&str; 3] = ["abort", "continue", "skip_remaining"];
    let Some(place) = fields.get(key) else { return RefusalAction::Abort };
    let Some(fields) = place.fields(&["action"], report) else { return RefusalAction::Abort };
    match fields.text("action", report) {
        None => report.problem(fields.missing("action", "is required")),
        Some("abort") => {}
        Some("continue") => return RefusalAction::Continue,
        Some("skip_remaining") => {
            let message = "ToolHive runs the remaining steps despite `skip_remaining`; Loggia skips them";
            report.note(place.node.line, &*place.path, message);
            return RefusalAction::SkipRemaining;
        }
        Some(other) => {
            let message = format!("must be one of: {}", ACTIONS.join(", "));
            let problem = fields
                .get("action")
                .map_or_else(|| fields.missing("action", &message), |p| p.problem(&message));
            report.problem(report.with_suggestion(problem, other, ACTIONS));
        }
    }
    RefusalAction::Abort
}
