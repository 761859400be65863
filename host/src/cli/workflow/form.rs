//! A workflow's question, filled in at the terminal.

use std::io::{BufRead, IsTerminal, Write};

use loggia_facade::{Answer, Object, Question};
use loggia_schema::QuestionForm;
use loggia_text::printable;
use serde_json::{Value, json};

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
        let _ = writeln!(to, "\n{}\n  (d declines, Ctrl-D closes the form)", printable(message));
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
                    ("d", _) if !choices(field).iter().any(|choice| choice == "d") => {
                        return Answer::Declined;
                    }
                    ("", Some(default)) => drop(form.insert(name.clone(), default.clone())),
                    ("", None) if needed => {
                        let _ = writeln!(to, "  it needs an answer: {}", takes(field));
                        continue;
                    }
                    ("", None) => {}
                    (word, _) => match value(word, field).filter(|value| fits(value, field)) {
                        Some(value) => drop(form.insert(name.clone(), value)),
                        None => {
                            let _ = writeln!(to, "  that does not fit: {}", takes(field));
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
        _ => {
            let _ = writeln!(to);
            None
        }
    }
}

/// A field's name, what it takes, and what it is without an answer.
fn prompt(name: &str, field: &Value, needed: bool) -> String {
    let shown = |text: &str| printable(text).into_owned();
    let title = field.get("title").and_then(Value::as_str).map_or_else(|| shown(name), shown);
    let takes = takes(field);
    let default = match field.get("default") {
        Some(Value::String(text)) => format!(", else {}", shown(text)),
        Some(default) => format!(", else {default}"),
        None if needed => String::new(),
        None => ", may be left out".to_owned(),
    };
    format!("{title} [{takes}{default}]")
}

/// What a field takes, in words.
fn takes(field: &Value) -> String {
    let choices: Vec<String> =
        choices(field).into_iter().map(|choice| printable(&choice).into_owned()).collect();
    let range = |least: &str, most: &str| match (field.get(least), field.get(most)) {
        (Some(least), Some(most)) => format!(" from {least} to {most}"),
        (Some(least), None) => format!(" from {least} on"),
        (None, Some(most)) => format!(" up to {most}"),
        (None, None) => String::new(),
    };
    match field.get("type").and_then(Value::as_str) {
        Some("array") => format!("{}, with commas between", choices.join("|")),
        _ if !choices.is_empty() => choices.join("|"),
        Some("boolean") => "y/n".to_owned(),
        Some("integer") => format!("whole number{}", range("minimum", "maximum")),
        Some("number") => format!("number{}", range("minimum", "maximum")),
        _ => match field.get("format").and_then(Value::as_str) {
            Some(format) => printable(format).into_owned(),
            None if field.get("minLength").is_some() || field.get("maxLength").is_some() => {
                format!("text of{} letters", range("minLength", "maxLength"))
            }
            None => "text".to_owned(),
        },
    }
}

/// Whether a value is what the field takes: an answer that does not fit ends the step, so it is asked for again here.
fn fits(value: &Value, field: &Value) -> bool {
    let Value::Object(schema) = json!({"type": "object", "properties": {"value": field}}) else {
        return true;
    };
    // A form that cannot be checked is refused before anybody sees it.
    QuestionForm::new(&schema).map_or(true, |form| form.check(&json!({"value": value})).is_ok())
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
fn value(word: &str, field: &Value) -> Option<Value> {
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
        let form = Form::new(Question { message: "Deploy?".to_owned(), schema, name: None, timeout: None });
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
        assert!(shown.contains("size [s|m]: ") && shown.contains("n [whole number, else 3]: "), "{shown}");
        for said in
            ["that does not fit: y/n\n", "it needs an answer: s|m\n", "that does not fit: whole number\n"]
        {
            assert!(shown.contains(said), "{said}: {shown}");
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
    fn what_does_not_fit_is_asked_for_again() {
        let asked = |field: Value, typed: &str, expected: Value, takes: &str| {
            let schema = json!({"type": "object", "required": ["f"], "properties": {"f": field}});
            let shown = check(schema, typed, Answer::Accepted(json!({"f": expected})));
            assert!(shown.contains(&format!("f [{takes}]: ")), "{shown}");
            assert!(shown.contains(&format!("that does not fit: {takes}\n")), "{shown}");
        };
        let sizes = json!({"type": "string", "enum": ["s", "m", "d"]});
        asked(sizes.clone(), "xl\nd\n", json!("d"), "s|m|d");
        let few = json!({"type": "integer", "minimum": 1, "maximum": 5});
        asked(few, "9\n3\n", json!(3), "whole number from 1 to 5");
        asked(json!({"type": "number", "minimum": 0.5}), "0.1\n1\n", json!(1.0), "number from 0.5 on");
        let short = json!({"type": "string", "maxLength": 3});
        asked(short, "long\nabc\n", json!("abc"), "text of up to 3 letters");
        asked(
            json!({"type": "string", "format": "date"}),
            "today\n2026-11-21\n",
            json!("2026-11-21"),
            "date",
        );
        let some = json!({"type": "array", "items": {"type": "string", "enum": ["a", "b"]}});
        asked(some, "a,c\na, b\n", json!(["a", "b"]), "a|b, with commas between");
    }

    #[test]
    fn a_form_that_is_closed_leaves_the_line() {
        let schema = json!({"type": "object", "properties": {"f": {"type": "boolean"}}});
        assert!(check(schema, "", Answer::Cancelled).ends_with("]: \n"));
    }
}
