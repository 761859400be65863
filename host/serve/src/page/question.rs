//! Pure: fields for the form of a question, and the answer that they make. The gate checks answers; a field that cannot be read
//! is passed on as it is, and refused there with the reason.

use loggia_facade::Object;
use loggia_text::printable;
use maud::{Markup, html};
use serde_json::Value;

use super::{form::FormFields, text::untrusted};
use crate::form_fields::{FieldChoice, FieldKind, form_fields};

/// Prefix of the fields' names.
const PREFIX: &str = "answer.";

/// Renders the fields; `id` keeps those of several forms on a page apart.
pub(super) fn render_fields(schema: &Object, id: &str) -> Markup {
    html! {
        @for (at, field) in form_fields(schema).iter().enumerate() {
            @let name = format!("{PREFIX}{}", field.name);
            @let anchor = format!("{id}-{at}");
            @let label = html! { (printable(field.label)) @if field.is_required { " (required)" } };
            @match &field.kind {
                FieldKind::Flag => {
                    label.check { input type="checkbox" name=(name) checked[field.default == Some(&Value::Bool(true))]; span { (printable(field.label)) } }
                }
                FieldKind::Choices(choices) => {
                    fieldset { legend { (printable(field.label)) }
                        @for FieldChoice { value, text } in choices {
                            label.check { input type="checkbox" name=(name) value=(value); span { (printable(text)) } }
                        }
                    }
                }
                FieldKind::Choice(choices) => {
                    label for=(anchor) { (label) }
                    select id=(anchor) name=(name) {
                        @if !field.is_required { option value="" { "–" } }
                        @for FieldChoice { value, text } in choices {
                            option value=(value) selected[field.default_text().as_deref() == Some(value)] { (printable(text)) }
                        }
                    }
                }
                kind @ (FieldKind::Number { .. } | FieldKind::Text { .. }) => {
                    label for=(anchor) { (label) }
                    @let step = matches!(kind, FieldKind::Number { is_integer: false }).then_some("any");
                    input id=(anchor) name=(name) type=(input_type(kind)) step=[step] value=[field.default_text()];
                }
            }
            @if let Some(hint) = field.hint { p.faint { (untrusted(hint)) } }
        }
    }
}

fn input_type(kind: &FieldKind<'_>) -> &'static str {
    match kind {
        FieldKind::Number { .. } => "number",
        FieldKind::Text { format: Some("email") } => "email",
        FieldKind::Text { format: Some("date") } => "date",
        _ => "text",
    }
}

/// Reads the answer from the fields.
pub(super) fn read_answer(schema: &Object, fields: &FormFields) -> Value {
    let mut answer = Object::new();
    for field in form_fields(schema) {
        let name = format!("{PREFIX}{}", field.name);
        let value = match &field.kind {
            // A box that is not checked is not sent.
            FieldKind::Flag => Some(Value::Bool(fields.get(&name).is_some())),
            FieldKind::Choices(_) => Some(fields.all(&name).map(Value::from).collect()),
            _ => fields.get(&name).filter(|text| !text.is_empty()).map(|text| field.parse_value(text)),
        };
        if let Some(value) = value {
            answer.insert(field.name.to_owned(), value);
        }
    }
    Value::Object(answer)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Object {
        let schema = json!({"properties": {
            "size": {"type": "string", "title": "Size <b>", "oneOf": [{"const": "s", "title": "Small"}, {"const": "m"}]},
            "count": {"type": "integer", "default": 2},
            "gift": {"type": "boolean", "description": "Wrap it?"},
            "tags": {"type": "array", "items": {"enum": ["a", "b"]}},
            "note": {"type": "string"},
        }, "required": ["size"]});
        schema.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn each_type_has_its_field() {
        insta::assert_snapshot!(render_fields(&schema(), "q").into_string().replace("><", ">\n<"));
    }

    #[test]
    fn answers_have_the_types_of_their_schema() {
        let check = |text: &str, expected: Value| {
            assert_eq!(read_answer(&schema(), &FormFields::parse(text.as_bytes())), expected, "{text}");
        };
        check("", json!({"gift": false, "tags": []}));
        check(
            "answer.size=s&answer.count=3&answer.gift=on&answer.tags=a&answer.tags=b&answer.note=%3Cb%3E&other=1",
            json!({"size": "s", "count": 3, "gift": true, "tags": ["a", "b"], "note": "<b>"}),
        );
        check("answer.count=many", json!({"count": "many", "gift": false, "tags": []}));
    }
}
