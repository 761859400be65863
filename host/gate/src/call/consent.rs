//! Confirmation by a person before an action runs, where the policy requires it.

use loggia_facade::{Answer, Failure, Question};
use serde_json::{Value, json};

use super::{audit, frame::CallFrame};
use crate::{failures::denied, plan::PlannedCall};

/// Characters of the parameters that the question shows.
const MAX_PARAMS_CHARS: usize = 500;

/// Requires a person's consent before the action runs.
///
/// A client with elicitation is always asked: `confirm: true` from its model is not accepted in place of the person's
/// answer. Through a client without elicitation, the model asks in its own words and sends `confirm: true`.
pub(super) async fn require_consent(frame: &CallFrame, planned: &PlannedCall) -> Result<(), Failure> {
    let action = &planned.action().name;
    if !frame.can_ask() {
        if planned.confirmed {
            audit::record_decision(frame, "consent", "claimed");
            return Ok(());
        }
        audit::record_decision(frame, "consent", "missing");
        let failure = denied(format_args!("`{action}` needs the person's consent"));
        let hint = "ask the person; if they agree, make the same call with \"confirm\": true";
        if frame.parent.is_none() {
            return Err(failure.hint(hint));
        }
        let tool = frame.name();
        let hint = format!(
            "ask the person; if they agree, call `{action}` of the tool `{tool}` with \"confirm\": true"
        );
        return Err(failure.hint(hint));
    }
    let answer = frame.ask_person(consent_question(planned)).await;
    // An accepted form with the box unticked is no consent.
    let agreed = matches!(&answer, Ok(Answer::Accepted(given)) if given["confirm"] == json!(true));
    match (&answer, agreed) {
        (Ok(Answer::Accepted(_)), false) => audit::record_decision(frame, "consent", "declined"),
        _ => audit::record_answer(frame, "consent", &answer),
    }
    match answer? {
        _ if agreed => Ok(()),
        _ => {
            let failure = denied(format_args!("the person did not agree to `{action}`"));
            Err(failure.hint("do not try again unless the person asks for it"))
        }
    }
}

fn consent_question(planned: &PlannedCall) -> Question {
    let action = planned.action();
    let params = serde_json::to_string(&planned.inputs).unwrap_or_default();
    let shown: String = params.chars().take(MAX_PARAMS_CHARS).collect();
    let more = if shown.len() < params.len() { "…" } else { "" };
    let message = format!("Run `{}` ({}) with {shown}{more}?", action.name, action.effect.as_str());
    let schema = json!({
        "type": "object",
        "properties": { "confirm": { "type": "boolean", "title": "Go ahead" } },
        "required": ["confirm"],
    });
    let Value::Object(schema) = schema else { unreachable!("an object was written") };
    Question::form(message, schema)
}
