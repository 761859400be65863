//! Forms and links of an upstream, as questions to a person.

use loggia_facade::{Answer, Question, QuestionKind};
use loggia_text::sanitise_text;
use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction};
use serde_json::Value;

/// Bytes of a question's text.
const MESSAGE: usize = 2048;
/// Bytes of a form's schema, as JSON.
const SCHEMA: usize = 16 * 1024;

/// Reads a question. The gate checks its schema or link like that of any other question.
///
/// # Errors
///
/// Why it cannot be shown: an answer for the upstream.
pub(crate) fn read_question(params: ElicitRequestParams) -> Result<Question, String> {
    // The gate puts the facade's name before it.
    let clean = |message: &str| sanitise_text(message, MESSAGE).trim().to_owned();
    match params {
        ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } => {
            let schema = match serde_json::to_value(requested_schema) {
                Ok(Value::Object(schema)) => schema,
                _ => return Err("the form's schema is no object".to_owned()),
            };
            if serde_json::to_string(&schema).map_or(usize::MAX, |text| text.len()) > SCHEMA {
                return Err(format!("the form's schema has more than {SCHEMA} bytes"));
            }
            Ok(Question::form(clean(&message), schema))
        }
        // `notifications/elicitation/complete`, which may follow with the id, is ignored: the person's answer is all that the
        // upstream waits for, and it knows itself when the work at the link is done.
        ElicitRequestParams::UrlElicitationParams { message, url, .. } => {
            Ok(Question::link(clean(&message), url))
        }
        _ => Err("this client supports forms and URLs only".to_owned()),
    }
}

/// Reads the data of the error that requires links to be opened (2025-11-25). `None` if it is malformed.
pub(crate) fn read_required_links(data: Option<&Value>) -> Option<Vec<Question>> {
    let required = data?.get("elicitations")?.as_array().filter(|required| !required.is_empty())?;
    required
        .iter()
        .map(|params| {
            let params = serde_json::from_value(params.clone()).ok()?;
            read_question(params).ok().filter(|question| matches!(question.kind, QuestionKind::Link { .. }))
        })
        .collect()
}

/// The answer for the upstream.
pub(crate) fn write_answer(answer: Answer) -> ElicitResult {
    match answer {
        // An opened link has no content.
        Answer::Accepted(Value::Null) => ElicitResult::new(ElicitationAction::Accept),
        Answer::Accepted(content) => ElicitResult::new(ElicitationAction::Accept).with_content(content),
        Answer::Declined => ElicitResult::new(ElicitationAction::Decline),
        Answer::Cancelled => ElicitResult::new(ElicitationAction::Cancel),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn questions_are_forms_or_links() {
        let url = "https://a.example/x";
        for (params, expected) in [
            (json!({"mode": "url", "message": " Sign in ", "url": url, "elicitationId": "e"}), url),
            (json!({"mode": "url", "message": "Sign in", "url": url}), url),
            (json!({"message": "Sign in", "requestedSchema": {"type": "object", "properties": {}}}), "form"),
            (
                json!({"mode": "form", "message": "Sign in", "requestedSchema": {"type": "object", "properties": {}}}),
                "form",
            ),
        ] {
            let question = read_question(serde_json::from_value(params).unwrap()).unwrap();
            assert_eq!(question.message, "Sign in");
            match question.kind {
                QuestionKind::Form { .. } => assert_eq!(expected, "form"),
                QuestionKind::Link { url } => assert_eq!(expected, url),
            }
        }
    }

    #[test]
    fn required_links_are_read_or_none() {
        let link = json!({"mode": "url", "message": "m", "url": "https://a.example", "elicitationId": "e"});
        let form = json!({"message": "m", "requestedSchema": {"type": "object", "properties": {}}});
        for (data, expected) in [
            (json!({"elicitations": [link]}), Some(1)),
            (json!({"elicitations": [link, link]}), Some(2)),
            (json!({"elicitations": [link, form]}), None),
            (json!({"elicitations": [link, {"mode": "url"}]}), None),
            (json!({"elicitations": []}), None),
            (json!({"elicitations": {}}), None),
            (json!({}), None),
            (json!(null), None),
        ] {
            assert_eq!(read_required_links(Some(&data)).map(|links| links.len()), expected, "{data}");
        }
        assert_eq!(read_required_links(None), None);
    }
}
