//! Parser of what a file states about a call: its effect, its idempotency key, and how a saga undoes it.

use loggia_facade::Effect;

use super::{
    arguments::parse_call,
    on_error::{parse_on_error, parse_unknown_outcome},
    template::parse_template,
};
use crate::{
    definition::{
        limits::{COMPENSATION_RETRIES, RETRY_DELAY, STEP_TIMEOUT},
        model::{CompensatingCall, OnError, UndoRule, WorkflowStep},
        place::{NodePlace, ObjectFields},
        report::ParseReport,
        template_use::{StepPart, TemplateSite},
    },
    template::TextTemplate,
};

/// Fields that state something about a call.
pub(crate) const OF_CALLS: [&str; 4] = ["effect", "idempotencyKey", "compensate", "irreversible"];
/// Fields of a compensation.
const OF_COMPENSATION: [&str; 5] = ["tool", "arguments", "timeout", "onError", "onUnknown"];

/// What a file states about a call.
#[derive(Default)]
pub(crate) struct CallRules {
    effect: Option<Effect>,
    key: Option<TextTemplate>,
    undo: Option<UndoRule>,
}

impl CallRules {
    /// Adds the rules to the step that makes the call.
    pub(crate) fn apply(self, step: &mut WorkflowStep) {
        (step.effect, step.key, step.undo) = (self.effect, self.key, self.undo);
    }
}

/// Parses the rules of a step's call. `item`: the item's name in a `forEach`.
pub(crate) fn parse_call_rules(
    fields: &ObjectFields<'_>,
    index: usize,
    item: Option<&str>,
    report: &mut ParseReport,
) -> CallRules {
    for place in OF_CALLS.into_iter().filter_map(|name| fields.get(name).map(|place| (name, place))) {
        let (name, place) = place;
        report.note(place.node.line, &*place.path, format!("ToolHive does not know `{name}`"));
    }
    let part = item.map_or(StepPart::Argument, |item| StepPart::Each(item.to_owned()));
    CallRules {
        effect: parse_effect(fields, report),
        key: fields
            .get("idempotencyKey")
            .and_then(|place| parse_template(&place, TemplateSite::Step(index, part), report)),
        undo: parse_undo(fields, index, item, report),
    }
}

fn parse_effect(fields: &ObjectFields<'_>, report: &mut ParseReport) -> Option<Effect> {
    const EFFECTS: [Effect; 3] = [Effect::Read, Effect::Write, Effect::Destructive];
    let place = fields.get("effect")?;
    let stated = place.text(report)?;
    let found = EFFECTS.into_iter().find(|effect| effect.as_str() == stated);
    if found.is_none() {
        let names = EFFECTS.map(Effect::as_str);
        let problem = place.problem(&format!("must be one of: {}", names.join(", ")));
        report.problem(report.with_suggestion(problem, stated, names));
    }
    found
}

fn parse_undo(
    fields: &ObjectFields<'_>,
    index: usize,
    item: Option<&str>,
    report: &mut ParseReport,
) -> Option<UndoRule> {
    let irreversible = fields.get("irreversible").and_then(|place| Some((place.boolean(report)?, place)));
    let Some(place) = fields.get("compensate") else {
        return irreversible.filter(|(stated, _)| *stated).map(|_| UndoRule::Irreversible);
    };
    if let Some((true, irreversible)) = &irreversible {
        report.problem(irreversible.problem("cannot be true next to compensate"));
    }
    parse_compensation(&place, index, item, report).map(|call| UndoRule::Compensate(Box::new(call)))
}

fn parse_compensation(
    place: &NodePlace<'_>,
    index: usize,
    item: Option<&str>,
    report: &mut ParseReport,
) -> Option<CompensatingCall> {
    if place.refuse_text(report, "an object", |tool| format!("write compensate: {{tool: {tool}}}")) {
        return None;
    }
    let fields = place.fields(&OF_COMPENSATION, report)?;
    let at = TemplateSite::Step(index, StepPart::Undo(item.map(str::to_owned)));
    let call = parse_call(&fields, &at, "is required for a compensation", report);
    let timeout = fields.get("timeout").and_then(|place| place.duration(report)).unwrap_or(STEP_TIMEOUT);
    let on_error = match fields.get("onError") {
        Some(_) => parse_on_error(&fields, report),
        None => OnError::Retry {
            count: COMPENSATION_RETRIES,
            delay: RETRY_DELAY,
            on: Vec::new(),
            then_continues: false,
        },
    };
    Some(CompensatingCall { call, timeout, on_error, on_unknown: parse_unknown_outcome(&fields, report) })
}
