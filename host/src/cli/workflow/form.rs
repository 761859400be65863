//! A workflow's question, filled in at the terminal.

use std::io::{BufRead, IsTerminal, Write};

use loggia_facade::{Answer, Object, Question};
use serde_json::Value;

use crate::gate::printable;

/// A question to the person at the terminal.
pub struct Form(Question);

impl Form {
    /// Whether there is a terminal to ask at.
    pub fn can_be_shown() -> bool {
        std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
    }

    /// The form of a question.
    pub fn new(question: Question) -> Self {
        Self(question)
    }

    /// Asks field by field, at the terminal. Blocks.
    pub fn fill(&self) -> Answer {
        self.ask(&mut std::io::stdin().lock(), &mut std::io::stderr())
    }

    fn ask(&self, from: &mut impl BufRead, to: &mut impl Write) -> Answer {
        let Question { message, schema, .. } = &self.0;
        let _ = writeln!(to, "\n{}\n  (d declines, an end of input closes the form)", printable(message));
        let none = Object::new();
        let fields = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
        let required = schema.get("required").and_then(Value::as_array);
        let mut form = Object::new();
        if fields.is_empty() {
            let _ = write!(to, "  go on? [Enter/d] ");
            return match line(from, to) {
                None => Answer::Cancelled,
                Some(word) if word == "d" => Answer::Declined,
                Some(_) => Answer::Accepted(form.into()),
            };
        }
        for (name, field) in fields {
            let needed = required.is_some_and(|names| names.iter().any(|known| known == name));
            loop {
                let _ = write!(to, "  {}: ", prompt(name, field, needed));
                let Some(word) = line(from, to) else { return Answer::Cancelled };
                match (word.as_str(), field.get("default")) {
                    ("d", _) => return Answer::Declined,
                    ("", Some(default)) => drop(form.insert(name.clone(), default.clone())),
                    ("", None) if needed => continue,
                    ("", None) => {}
                    (word, _) => match value(word, field) {
                        Ok(value) => drop(form.insert(name.clone(), value)),
                        Err(said) => {
                            let _ = writeln!(to, "  {said}");
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

fn line(from: &mut impl BufRead, to: &mut impl Write) -> Option<String> {
    let _ = to.flush();
    let mut line = String::new();
    match from.read_line(&mut line) {
        Ok(read) if read > 0 => Some(line.trim().to_owned()),
        _ => None,
    }
}

/// A field's name, what it takes, and what it is without an answer.
fn prompt(name: &str, field: &Value, needed: bool) -> String {
    let shown = |text: &str| printable(text).into_owned();
    let title = field.get("title").and_then(Value::as_str).map_or_else(|| shown(name), shown);
    let choices: Vec<String> = choices(field).into_iter().map(|choice| shown(&choice)).collect();
    let takes = match field.get("type").and_then(Value::as_str) {
        _ if !choices.is_empty() => choices.join("|"),
        Some("boolean") => "y/n".to_owned(),
        Some(kind) => kind.to_owned(),
        None => "text".to_owned(),
    };
    let default = match field.get("default") {
        Some(Value::String(text)) => format!(", else {}", shown(text)),
        Some(default) => format!(", else {default}"),
        None if needed => String::new(),
        None => ", may be left out".to_owned(),
    };
    format!("{title} [{takes}{default}]")
}

/// The values that a field takes, where they are counted out.
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

/// What a person typed, as the field's type has it.
fn value(word: &str, field: &Value) -> Result<Value, String> {
    let number = || word.parse::<f64>().ok().filter(|number| number.is_finite()).map(Value::from);
    match field.get("type").and_then(Value::as_str) {
        Some("boolean") => match word.to_ascii_lowercase().as_str() {
            "y" | "yes" | "true" => Ok(true.into()),
            "n" | "no" | "false" => Ok(false.into()),
            _ => Err("y or n".to_owned()),
        },
        Some("integer") => word.parse::<i64>().map(Value::from).map_err(|_| "a whole number".to_owned()),
        Some("number") => number().ok_or_else(|| "a number".to_owned()),
        Some("array") => Ok(word.split(',').map(|part| Value::from(part.trim())).collect()),
        _ => Ok(word.into()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(schema: Value, typed: &str, expected: Answer) -> String {
        let Value::Object(schema) = schema else { unreachable!() };
        let form = Form::new(Question { message: "Deploy?".to_owned(), schema, timeout: None });
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
        assert!(shown.contains("approved [y/n, may be left out]: "), "{shown}");
        assert!(shown.contains("size [s|m]: ") && shown.contains("n [integer, else 3]: "), "{shown}");
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
}
