//! Questions to the person.

use loggia_facade::{
    Answer, Failure, Object, Question, Session, code,
    json::{JsonError, parse},
};
use serde_json::Value;

use super::denied::denied;

/// Characters of a question's name.
const NAME: usize = 64;

/// Asks by a form, whose JSON Schema is a text. The schema's `$anchor`, if it has one, names the question. The call's session
/// knows whether the policy lets the plugin ask.
pub(crate) async fn ask(session: Option<&Session>, message: String, schema: &str) -> Result<Answer, Failure> {
    let session = session.ok_or_else(|| denied("elicit"))?;
    // Nothing is parsed for a plugin that may not ask.
    session.may_elicit()?;
    let (schema, name) = parse_form(schema)?;
    session.elicit(Question { name, ..Question::form(message, schema) }).await
}

/// Parses the schema of a question and takes the question's name out of it.
fn parse_form(schema: &str) -> Result<(Object, Option<String>), Failure> {
    let invalid = |message: String| Failure::new(code::INVALID_PARAMS, message);
    let mut schema: Object = match parse(schema) {
        Ok(Value::Object(schema)) => schema,
        Err(error @ JsonError::Values) => {
            return Err(invalid(format!("the question's schema cannot be read: {error}")));
        }
        _ => return Err(invalid("the question's schema is not a JSON object".to_owned())),
    };
    let name = match schema.remove("$anchor") {
        None => None,
        Some(Value::String(name)) if is_name(&name) => Some(name),
        Some(_) => {
            return Err(invalid(format!("the question's name has letters, digits, _ and -, at most {NAME}")));
        }
    };
    Ok((schema, name))
}

fn is_name(name: &str) -> bool {
    let is_plain = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-');
    (1..=NAME).contains(&name.len()) && name.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_needs_an_object_as_schema_and_a_plain_name() {
        let parsed = |schema: &str| parse_form(schema).map_err(|failure| failure.message);
        let name = |schema: &str| parsed(schema).map(|(_, name)| name);
        assert_eq!(name(r#"{"type": "object"}"#), Ok(None));
        assert_eq!(name(r#"{"$anchor": "which_day-1"}"#), Ok(Some("which_day-1".to_owned())));
        assert!(parsed(r#"{"$anchor": "x"}"#).is_ok_and(|(schema, _)| schema.is_empty()), "it is taken out");
        let wrong = Err("the question's name has letters, digits, _ and -, at most 64".to_owned());
        for anchor in [r#""""#, r#""a b""#, "1", &format!("{:?}", "x".repeat(65))] {
            assert_eq!(name(&format!(r#"{{"$anchor": {anchor}}}"#)), wrong, "{anchor}");
        }
        for schema in ["[]", "{"] {
            assert_eq!(name(schema), Err("the question's schema is not a JSON object".to_owned()));
        }
    }
}
