//! Asks the person at the terminal.

use std::borrow::Cow;

use loggia_facade::{Answer, Object, Question, QuestionKind};
use loggia_schema::QuestionForm;
use loggia_serve::form_fields::{FieldKind, FormField, agree, form_fields};
use loggia_text::printable;
use serde_json::Value;

use crate::cli::term;

/// Asks the person. The end of the input cancels.
pub(super) fn prompt_answer(question: &Question) -> Answer {
    term::note(&printable(&question.message));
    match &question.kind {
        QuestionKind::Link { url } => {
            term::note(&format!("open {}", printable(url)));
            prompt_yes("Opened?", &question.kind)
        }
        QuestionKind::Form { schema } => match &form_fields(schema)[..] {
            [] => prompt_yes("Agree?", &question.kind),
            // Consent: a form of its own would be one more question.
            [FormField { kind: FieldKind::Flag, is_required: true, label, .. }] => {
                prompt_yes(&printable(label), &question.kind)
            }
            fields => prompt_form(fields, schema),
        },
    }
}

fn prompt_yes(text: &str, kind: &QuestionKind) -> Answer {
    match term::ask(&format!("{text} [y/N] ")) {
        Some(reply) if term::is_yes(&reply) => Answer::Accepted(agree(kind)),
        Some(_) => Answer::Declined,
        None => Answer::Cancelled,
    }
}

/// Asks for each field, until the form is valid.
fn prompt_form(fields: &[FormField<'_>], schema: &Object) -> Answer {
    // The gate has checked it before it asks.
    let form = QuestionForm::new(schema);
    loop {
        match term::ask("Answer? [Y/n] ") {
            Some(reply) if reply.is_empty() || term::is_yes(&reply) => {}
            Some(_) => return Answer::Declined,
            None => return Answer::Cancelled,
        }
        let mut answer = Object::new();
        for field in fields {
            let Some(reply) = term::ask(&render_label(field)) else { return Answer::Cancelled };
            let text = if reply.is_empty() { field.default_text() } else { Some(reply) };
            if let Some(text) = text {
                answer.insert(field.name.to_owned(), field.parse_value(&text));
            }
        }
        let answer = Value::Object(answer);
        match form.as_ref().map(|form| form.check(&answer)) {
            Ok(Err(reason)) => {
                term::note(&format!("the answer does not fit: {}", printable(&reason.to_string())))
            }
            _ => return Answer::Accepted(answer),
        }
    }
}

/// Renders the label of a field: `Size (small, large), required: `.
fn render_label(field: &FormField<'_>) -> String {
    let kind: Cow<'_, str> = match &field.kind {
        FieldKind::Flag => "yes or no".into(),
        FieldKind::Number { is_integer: true } => "an integer".into(),
        FieldKind::Number { is_integer: false } => "a number".into(),
        FieldKind::Text { format } => format.unwrap_or("a text").into(),
        FieldKind::Choice(choices) => {
            choices.iter().map(|choice| choice.value).collect::<Vec<_>>().join(" | ").into()
        }
        FieldKind::Choices(choices) => {
            let values: Vec<_> = choices.iter().map(|choice| choice.value).collect();
            format!("any of {}, with commas between", values.join(", ")).into()
        }
    };
    let default = field.default_text().map(|text| format!(" [{text}]")).unwrap_or_default();
    let required = if field.is_required { ", required" } else { "" };
    let hint = field.hint.map(|hint| format!(" {hint}")).unwrap_or_default();
    printable(&format!("  {}{hint} ({kind}{required}){default}: ", field.label)).into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn labels_say_what_can_be_typed() {
        let schema = json!({"properties": {
            "size": {"title": "Size", "enum": ["small", "large"]},
            "count": {"type": "integer", "default": 2, "description": "How many?"},
            "gift": {"type": "boolean"},
            "tags": {"type": "array", "items": {"enum": ["a", "b"]}},
            "mail": {"type": "string", "format": "email"},
            "note": {"type": "string", "title": "Note\u{1b}[2J"},
        }, "required": ["size"]});
        let schema = schema.as_object().cloned().unwrap();
        let labels: Vec<_> = form_fields(&schema).iter().map(render_label).collect();
        insta::assert_snapshot!(labels.join("\n"));
    }
}
