//! Forms of an upstream, as questions to a person.

use loggia_facade::{Answer, Question};
use loggia_text::sanitise_text;
use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction};
use serde_json::Value;

/// Bytes of a question's text.
const MESSAGE: usize = 2048;
/// Bytes of a form's schema, as JSON.
const SCHEMA: usize = 16 * 1024;

/// Reads a form. The gate checks its schema like that of any other question.
///
/// # Errors
///
/// Why it cannot be shown: an answer for the upstream.
pub(crate) fn read_form(params: ElicitRequestParams) -> Result<Question, String> {
    let ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } = params else {
        return Err("this client supports forms only, no URLs".to_owned());
    };
    let schema = match serde_json::to_value(requested_schema) {
        Ok(Value::Object(schema)) => schema,
        _ => return Err("the form's schema is no object".to_owned()),
    };
    if serde_json::to_string(&schema).map_or(usize::MAX, |text| text.len()) > SCHEMA {
        return Err(format!("the form's schema has more than {SCHEMA} bytes"));
    }
    // The gate puts the facade's name before it.
    let message = sanitise_text(&message, MESSAGE).trim().to_owned();
    Ok(Question::form(message, schema))
}

/// The answer for the upstream.
pub(crate) fn write_answer(answer: Answer) -> ElicitResult {
    match answer {
        Answer::Accepted(content) => ElicitResult::new(ElicitationAction::Accept).with_content(content),
        Answer::Declined => ElicitResult::new(ElicitationAction::Decline),
        Answer::Cancelled => ElicitResult::new(ElicitationAction::Cancel),
    }
}
