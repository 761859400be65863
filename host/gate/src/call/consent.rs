//! Confirmation by a person before an action runs, where the policy requires it.

use loggia_facade::{Answer, Failure, Question};
use loggia_schema::ConsentSource;
use serde_json::{Value, json};

use super::{audit, frame::CallFrame};
use crate::{failures::denied, plan::PlannedCall};

/// Characters of the parameters that the question shows.
const MAX_PARAMS_CHARS: usize = 500;

/// Requires a person's consent before the action runs.
///
/// A client with elicitation asks its user: `confirm: true` from its model is not accepted in place of the answer. Where the
/// client cannot ask, an operator approves, unless the policy accepts the model's word.
pub(super) async fn require_consent(frame: &CallFrame, planned: &PlannedCall) -> Result<(), Failure> {
    if frame.can_ask() {
        return ask_user(frame, planned).await;
    }
    if frame.state.is_person && planned.confirmed {
        audit::record_decision(frame, "consent", "accepted");
        return Ok(());
    }
    let source = frame.entry.contract.policy().confirm_by;
    match (source, &frame.gate.approvals) {
        (ConsentSource::Model, _) if planned.confirmed => {
            audit::record_decision(frame, "consent", "claimed");
            Ok(())
        }
        (ConsentSource::Person, Some(desk)) => {
            frame.ask_operator_consent(desk, consent_text(planned), planned).await
        }
        (source, _) => {
            audit::record_decision(frame, "consent", "missing");
            Err(missing_consent(frame, planned, source))
        }
    }
}

/// Failure of a call without consent, where no person can be asked.
fn missing_consent(frame: &CallFrame, planned: &PlannedCall, source: ConsentSource) -> Failure {
    let action = &planned.action().name;
    let failure = denied(format_args!("`{action}` needs the person's consent"));
    if source == ConsentSource::Person && !frame.state.is_person {
        let hint = "this client cannot ask the person, and the server keeps no approvals; use a client with elicitation";
        return failure.hint(hint);
    }
    if frame.parent.is_none() {
        return failure.hint("ask the person; if they agree, make the same call with \"confirm\": true");
    }
    let tool = frame.name();
    failure.hint(format!(
        "ask the person; if they agree, call `{action}` of the tool `{tool}` with \"confirm\": true"
    ))
}

async fn ask_user(frame: &CallFrame, planned: &PlannedCall) -> Result<(), Failure> {
    let action = &planned.action().name;
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

fn consent_text(planned: &PlannedCall) -> String {
    let action = planned.action();
    let params = serde_json::to_string(&planned.inputs).unwrap_or_default();
    let shown: String = params.chars().take(MAX_PARAMS_CHARS).collect();
    let more = if shown.len() < params.len() { "…" } else { "" };
    format!("Run `{}` ({}) with {shown}{more}?", action.name, action.effect.as_str())
}

fn consent_question(planned: &PlannedCall) -> Question {
    let schema = json!({
        "type": "object",
        "properties": { "confirm": { "type": "boolean", "title": "Go ahead" } },
        "required": ["confirm"],
    });
    let Value::Object(schema) = schema else { unreachable!("an object was written") };
    Question::form(consent_text(planned), schema)
}
