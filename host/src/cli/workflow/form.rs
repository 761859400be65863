//! Asks the questions of a workflow and of its steps at the terminal.

use std::io::{BufRead, IsTerminal, Write};

use loggia_facade::{Answer, Object, Question, QuestionKind};
use loggia_schema::QuestionForm;
use loggia_text::printable;
use serde_json::{Value, json};

/// A question to ask at the terminal.
pub struct TerminalForm(Question);

impl TerminalForm {
    /// Whether there is a terminal.
    pub fn can_ask() -> bool {
        std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
    }

    pub fn new(question: Question) -> Self {
        Self(question)
    }

    /// Asks for each field at the terminal. Blocks.
    pub fn fill(&self) -> Answer {
        self.ask(&mut std::io::stdin().lock(), &mut std::io::stderr())
    }

    fn ask(&self, from: &mut impl BufRead, to: &mut impl Write) -> Answer {
        let _ = writeln!(to, "\n{}\n  (d declines, Ctrl-D cancels)", printable(&self.0.message));
        let schema = match &self.0.kind {
            QuestionKind::Form { schema } => schema,
            QuestionKind::Link { url } => {
                let _ = write!(to, "  {}\n  opened? [Enter/d] ", printable(url));
                return read_consent(from, to);
            }
        };
        let none = Object::new();
        let fields = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
        let required = schema.get("required").and_then(Value::as_array);
        let mut form = Object::new();
        if fields.is_empty() {
            let _ = write!(to, "  continue? [Enter/d] ");
            return read_consent(from, to);
        }
        for (name, field) in fields {
            let needed = required.is_some_and(|names| names.iter().any(|known| known == name));
            loop {
                let _ = write!(to, "  {}: ", prompt(name, field, needed));
                let Some(word) = read_line(from, to) else { return Answer::Cancelled };
                match (word.as_str(), field.get("default")) {
                    ("d", _) if !choices(field).iter().any(|choice| choice == "d") => {
                        return Answer::Declined;
                    }
                    ("", Some(default)) => drop(form.insert(name.clone(), default.clone())),
                    ("", None) if needed => {
                        let _ = writeln!(to, "  required; expected {}", describe_field(field));
                        continue;
                    }
                    ("", None) => {}
                    (word, _) => match parse_value(word, field).filter(|value| is_valid(value, field)) {
                        Some(value) => drop(form.insert(name.clone(), value)),
                        None => {
                            let _ = writeln!(to, "  invalid; expected {}", describe_field(field));
                            continue;
                        }
                    },
                }
                break;
            }
        }
        Answer::Accepted(form.into())
    }
}

/// Reads yes or no, in answer to a question without fields.
fn read_consent(from: &mut impl BufRead, to: &mut impl Write) -> Answer {
    match read_line(from, to) {
        None => Answer::Cancelled,
        Some(word) if word == "d" => Answer::Declined,
        Some(_) => Answer::Accepted(Value::Object(Object::new())),
    }
}

fn read_line(from: &mut impl BufRead, to: &mut impl Write) -> Option<String> {
    let _ = to.flush();
    let mut line = String::new();
    match from.read_line(&mut line) {
        Ok(read) if read > 0 => Some(line.trim().to_owned()),
        _ => {
            let _ = writeln!(to);
            None
        }
    }
}

/// Renders the prompt of a field: name, type and default.
fn prompt(name: &str, field: &Value, needed: bool) -> String {
    let shown = |text: &str| printable(text).into_owned();
    let title = field.get("title").and_then(Value::as_str).map_or_else(|| shown(name), shown);
    let takes = describe_field(field);
    let default = match field.get("default") {
        Some(Value::String(text)) => format!(", default {}", shown(text)),
        Some(default) => format!(", default {default}"),
        None if needed => String::new(),
        None => ", optional".to_owned(),
    };
    format!("{title} [{takes}{default}]")
}

/// Describes the values that a field accepts.
fn describe_field(field: &Value) -> String {
    let choices: Vec<String> =
        choices(field).into_iter().map(|choice| printable(&choice).into_owned()).collect();
    let range = |least: &str, most: &str| match (field.get(least), field.get(most)) {
        (Some(least), Some(most)) => format!(" from {least} to {most}"),
        (Some(least), None) => format!(" of at least {least}"),
        (None, Some(most)) => format!(" of up to {most}"),
        (None, None) => String::new(),
    };
    match field.get("type").and_then(Value::as_str) {
        Some("array") => format!("{}, separated by commas", choices.join("|")),
        _ if !choices.is_empty() => choices.join("|"),
        Some("boolean") => "y/n".to_owned(),
        Some("integer") => format!("whole number{}", range("minimum", "maximum")),
        Some("number") => format!("number{}", range("minimum", "maximum")),
        _ => match field.get("format").and_then(Value::as_str) {
            Some(format) => printable(format).into_owned(),
            None if field.get("minLength").is_some() || field.get("maxLength").is_some() => {
                format!("text{} characters", range("minLength", "maxLength"))
            }
            None => "text".to_owned(),
        },
    }
}

/// Validates an answer here, because an invalid one would fail the step.
fn is_valid(value: &Value, field: &Value) -> bool {
    let Value::Object(schema) = json!({"type": "object", "properties": {"value": field}}) else {
        return true;
    };
    // Invalid forms are rejected before they get here.
    QuestionForm::new(&schema).map_or(true, |form| form.check(&json!({"value": value})).is_ok())
}

/// Lists the choices of a field, if it has any.
fn choices(field: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let of = |holder: &Value| {
        let words = holder["enum"].as_array().into_iter().flatten().filter_map(text);
        let titled = ["oneOf", "anyOf"].into_iter().flat_map(|key| holder[key].as_array()).flatten();
        words.chain(titled.filter_map(|choice| text(&choice["const"]))).collect::<Vec<_>>()
    };
    let own = of(field);
    if own.is_empty() { of(&field["items"]) } else { own }
}

/// Parses an answer by the type of its field.
fn parse_value(word: &str, field: &Value) -> Option<Value> {
    match field.get("type").and_then(Value::as_str) {
        Some("boolean") => match word.to_ascii_lowercase().as_str() {
            "y" | "yes" | "true" => Some(true.into()),
            "n" | "no" | "false" => Some(false.into()),
            _ => None,
        },
        Some("integer") => word.parse::<i64>().ok().map(Value::from),
        Some("number") => word.parse::<f64>().ok().filter(|number| number.is_finite()).map(Value::from),
        Some("array") => Some(word.split(',').map(|part| Value::from(part.trim())).collect()),
        _ => Some(word.into()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(schema: Value, typed: &str, expected: Answer) -> String {
        let Value::Object(schema) = schema else { unreachable!() };
        let form = TerminalForm::new(Question::form("Deploy?", schema));
        let mut shown = Vec::new();
        assert_eq!(form.ask(&mut typed.as_bytes(), &mut shown), expected, "{typed:?}");
        String::from_utf8(shown).unwrap()
    }

    #[test]
    fn a_form_is_filled_in_field_by_field() {
        let schema = json!({"type": "object", "required": ["size"], "properties": {
            "approved": {"type": "boolean"},
            "size": {"type": "string", "enum": ["s", "m"]},
            "n": {"type": "integer", "default": 3},
            "note": {"type": "string"},
        }});
        let accepted = |form| Answer::Accepted(form);
        let shown = check(
            schema.clone(),
            "maybe\nyes\n\nm\nx\n5\n\n",
            accepted(json!({"approved": true, "size": "m", "n": 5})),
        );
        assert!(shown.contains("approved [y/n, optional]: "), "{shown}");
        assert!(shown.contains("size [s|m]: ") && shown.contains("n [whole number, default 3]: "), "{shown}");
        for reply in
            ["invalid; expected y/n\n", "required; expected s|m\n", "invalid; expected whole number\n"]
        {
            assert!(shown.contains(reply), "{reply}: {shown}");
        }
        check(
            schema.clone(),
            "n\ns\n\nhello\n",
            accepted(json!({"approved": false, "size": "s", "n": 3, "note": "hello"})),
        );
        check(schema.clone(), "y\nd\n", Answer::Declined);
        check(schema, "y\n", Answer::Cancelled);
        check(json!({"type": "object"}), "\n", accepted(json!({})));
        check(json!({"type": "object"}), "d\n", Answer::Declined);
    }

    #[test]
    fn a_link_is_opened_or_declined() {
        let form =
            TerminalForm::new(Question::link("[fake, link to a.example] Sign in", "https://a.example/x"));
        for (typed, expected) in
            [("\n", Answer::Accepted(json!({}))), ("d\n", Answer::Declined), ("", Answer::Cancelled)]
        {
            let mut shown = Vec::new();
            assert_eq!(form.ask(&mut typed.as_bytes(), &mut shown), expected, "{typed:?}");
            assert!(
                String::from_utf8(shown)
                    .unwrap()
                    .contains("Sign in\n  (d declines, Ctrl-D cancels)\n  https://a.example/x\n")
            );
        }
    }

    #[test]
    fn invalid_answers_are_asked_for_again() {
        let asked = |field: Value, typed: &str, expected: Value, takes: &str| {
            let schema = json!({"type": "object", "required": ["f"], "properties": {"f": field}});
            let shown = check(schema, typed, Answer::Accepted(json!({"f": expected})));
            assert!(shown.contains(&format!("f [{takes}]: ")), "{shown}");
            assert!(shown.contains(&format!("invalid; expected {takes}\n")), "{shown}");
        };
        let sizes = json!({"type": "string", "enum": ["s", "m", "d"]});
        asked(sizes.clone(), "xl\nd\n", json!("d"), "s|m|d");
        let few = json!({"type": "integer", "minimum": 1, "maximum": 5});
        asked(few, "9\n3\n", json!(3), "whole number from 1 to 5");
        asked(json!({"type": "number", "minimum": 0.5}), "0.1\n1\n", json!(1.0), "number of at least 0.5");
        let short = json!({"type": "string", "maxLength": 3});
        asked(short, "long\nabc\n", json!("abc"), "text of up to 3 characters");
        asked(
            json!({"type": "string", "format": "date"}),
            "today\n2026-11-21\n",
            json!("2026-11-21"),
            "date",
        );
        let some = json!({"type": "array", "items": {"type": "string", "enum": ["a", "b"]}});
        asked(some, "a,c\na, b\n", json!(["a", "b"]), "a|b, separated by commas");
    }

    #[test]
    fn a_cancelled_form_ends_its_line() {
        let schema = json!({"type": "object", "properties": {"f": {"type": "boolean"}}});
        assert!(check(schema, "", Answer::Cancelled).ends_with("]: \n"));
    }
}
