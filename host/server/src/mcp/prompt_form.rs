//! Asks a person for the arguments that a prompt requires and the request lacks: in an `input_required` result, after which the
//! client sends the request again with the answer (2026-07-28). Nothing is kept in between.

use std::collections::BTreeMap;

use loggia_facade::{Answer, Object, Question};
use loggia_schema::QuestionForm;
use rmcp::model::{InputRequiredResult, InputResponses};
use serde_json::{Value, json};

use super::elicitation::{is_expressible, parse_answers, to_input_requests};

/// Key of the question.
const KEY: &str = "arguments";

/// Asks for arguments, by their names and schemas. `None` if there are none, or a form cannot ask for them: then the request is
/// invalid, and its error names them. `prompt`: its name and summary.
pub(super) fn ask(prompt: (&str, &str), missing: &[(&str, &Value)]) -> Option<InputRequiredResult> {
    if missing.is_empty() {
        return None;
    }
    let fields: Object =
        missing.iter().map(|(name, schema)| ((*name).to_owned(), to_field(schema))).collect();
    let names: Vec<&str> = missing.iter().map(|(name, _)| *name).collect();
    let schema = json!({ "type": "object", "properties": fields, "required": names });
    let schema = schema.as_object().cloned().unwrap_or_default();
    // It refuses what a form must not ask for, such as a password.
    QuestionForm::new(&schema).ok()?;
    let (name, summary) = prompt;
    let question = Question::form(format!("The prompt `{name}` ({summary}) needs:"), schema);
    is_expressible(&question).then(|| {
        InputRequiredResult::from_input_requests(to_input_requests(&BTreeMap::from([(
            KEY.to_owned(),
            question,
        )])))
    })
}

/// Reads the answer. `None` if it was declined, or is of another question.
pub(super) fn parse_answer(responses: InputResponses) -> Option<Object> {
    let answer = parse_answers(responses).find(|(key, _)| key == KEY);
    match answer {
        Some((_, Answer::Accepted(Value::Object(content)))) => Some(content),
        _ => None,
    }
}

/// Takes the arguments that were asked for, and no others.
pub(super) fn fill_in(arguments: &mut Object, missing: &[(&str, &Value)], answer: Option<Object>) {
    let mut answer = answer.unwrap_or_default();
    for (name, _) in missing {
        if let Some(value) = answer.shift_remove(*name) {
            arguments.insert((*name).to_owned(), value);
        }
    }
}

/// Converts the schema of a scalar to a field of a form, which knows fewer keywords. The call checks the rest.
fn to_field(schema: &Value) -> Value {
    let kind = schema.get("type").and_then(Value::as_str);
    let kind = kind.filter(|kind| matches!(*kind, "number" | "integer" | "boolean")).unwrap_or("string");
    let mut field = json!({ "type": kind });
    let choices = schema.get("enum").and_then(Value::as_array);
    if let Some(choices) = choices.filter(|choices| kind == "string" && choices.iter().all(Value::is_string))
    {
        field["enum"] = json!(choices);
    }
    for key in ["title", "description"] {
        if let Some(text) = schema.get(key).and_then(Value::as_str).filter(|text| !text.is_empty()) {
            field[key] = text.into();
        }
    }
    field
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_have_what_forms_know() {
        for (schema, expected) in [
            (
                json!({"type": "string", "minLength": 3, "description": "A name."}),
                json!({"type": "string", "description": "A name."}),
            ),
            (json!({"type": ["integer", "null"]}), json!({"type": "string"})),
            (json!({"type": "integer", "minimum": 3}), json!({"type": "integer"})),
            (json!({"enum": ["a", "b"]}), json!({"type": "string", "enum": ["a", "b"]})),
            (json!({"enum": [1, 2]}), json!({"type": "string"})),
        ] {
            assert_eq!(to_field(&schema), expected, "{schema}");
        }
    }

    #[test]
    fn only_what_is_missing_is_asked_and_taken() {
        let (text, number) = (json!({"type": "string"}), json!({"type": "number"}));
        let missing = [("a", &text), ("b", &number)];
        assert!(ask(("total", "Adds."), &[]).is_none());
        assert!(ask(("login", "Logs in."), &[("password", &text)]).is_none(), "no form asks for a secret");
        let asked = serde_json::to_value(ask(("total", "Adds."), &missing).unwrap()).unwrap();
        let params = &asked["inputRequests"]["arguments"]["params"];
        assert_eq!(params["message"], "The prompt `total` (Adds.) needs:");
        assert_eq!(params["requestedSchema"]["required"], json!(["a", "b"]));
        let answer = |action: &str| {
            let answer = json!({"action": action, "content": {"a": "x", "b": 2, "c": "other"}});
            parse_answer(BTreeMap::from([("arguments".to_owned(), answer)]))
        };
        let mut arguments = Object::new();
        fill_in(&mut arguments, &missing, answer("accept"));
        assert_eq!(json!(arguments), json!({"a": "x", "b": 2}));
        assert_eq!((answer("decline"), parse_answer(BTreeMap::new())), (None, None));
    }
}
