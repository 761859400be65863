//! Actions before which the operator wants a person asked.

use loggia_facade::{Answer, Failure, Question, code};
use serde_json::{Value, json};

use super::{audit, frame::CallFrame};
use crate::plan::PlannedCall;

/// Characters of the parameters that the question shows.
const MAX_PARAMS_CHARS: usize = 500;

/// Asks whether the action may run.
///
/// A client that can ask is always asked: a model cannot answer for the person. Through one that cannot, the model asks
/// in its own words, and says that the person agreed.
pub(super) async fn require_consent(frame: &CallFrame, planned: &PlannedCall) -> Result<(), Failure> {
    let action = &planned.action().name;
    if !frame.can_ask() {
        if planned.confirmed {
            audit::record_decision(frame, "consent", "claimed");
            return Ok(());
        }
        audit::record_decision(frame, "consent", "missing");
        let message = format!("access denied: `{action}` needs the person's consent");
        let hint = "ask the person; if they agree, make the same call with \"confirm\": true";
        return Err(Failure::new(code::DENIED, message).hint(hint));
    }
    let answer = frame.ask_person(consent_question(planned)).await;
    // Whoever sends the form without the tick has not agreed.
    let agreed = matches!(&answer, Ok(Answer::Accepted(given)) if given["confirm"] == json!(true));
    match (&answer, agreed) {
        (Ok(Answer::Accepted(_)), false) => audit::record_decision(frame, "consent", "declined"),
        _ => audit::record_answer(frame, "consent", &answer),
    }
    match answer? {
        _ if agreed => Ok(()),
        _ => {
            let message = format!("access denied: the person did not agree to `{action}`");
            Err(Failure::new(code::DENIED, message).hint("do not try again unless the person asks for it"))
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
    Question { message, schema, name: None, timeout: None }
}
