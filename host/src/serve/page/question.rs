//! Pure: fields for the form of a question, and the answer that they make. The gate checks answers; a field that cannot be read
//! is passed on as it is, and refused there with the reason.

use loggia_facade::Object;
use loggia_text::printable;
use maud::{Markup, html};
use serde_json::{Number, Value};

use super::{form::FormFields, text::untrusted};

/// Prefix of the fields' names.
const PREFIX: &str = "answer.";

/// Properties of a form, in the order of its schema.
fn properties(schema: &Object) -> impl Iterator<Item = (&String, &Value)> {
    schema.get("properties").and_then(Value::as_object).into_iter().flatten()
}

/// Choices of a property: value and text.
fn choices(property: &Value) -> Vec<(&str, &str)> {
    let titled = property["oneOf"].as_array().or_else(|| property["anyOf"].as_array());
    if let Some(titled) = titled {
        let choices = titled.iter().filter_map(|choice| {
            let value = choice["const"].as_str()?;
            Some((value, choice["title"].as_str().unwrap_or(value)))
        });
        return choices.collect();
    }
    let names = property["enumNames"].as_array();
    let values = property["enum"].as_array().into_iter().flatten().filter_map(Value::as_str).enumerate();
    values
        .map(|(at, value)| (value, names.and_then(|names| names.get(at)?.as_str()).unwrap_or(value)))
        .collect()
}

/// Renders the fields; `id` keeps those of several forms on a page apart.
pub(super) fn render_fields(schema: &Object, id: &str) -> Markup {
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    html! {
        @for (at, (name, property)) in properties(schema).enumerate() {
            @let field = format!("{PREFIX}{name}");
            @let label = property["title"].as_str().unwrap_or(name);
            @let is_required = required.contains(&name.as_str());
            @let anchor = format!("{id}-{at}");
            @let hint = property["description"].as_str();
            @match property["type"].as_str() {
                Some("boolean") => {
                    label.check { input type="checkbox" name=(field) checked[property["default"] == true]; span { (printable(label)) } }
                }
                Some("array") => {
                    fieldset { legend { (printable(label)) }
                        @for (value, text) in choices(&property["items"]) {
                            label.check { input type="checkbox" name=(field) value=(value); span { (printable(text)) } }
                        }
                    }
                }
                kind => {
                    label for=(anchor) { (printable(label)) @if is_required { " (required)" } }
                    @let given = property["default"].as_str().map(str::to_owned).or_else(|| property["default"].as_number().map(Number::to_string));
                    @let choices = choices(property);
                    @if choices.is_empty() {
                        input id=(anchor) name=(field) type=(input_type(kind, property)) step=[(kind == Some("number")).then_some("any")] value=[given];
                    } @else {
                        select id=(anchor) name=(field) {
                            @if !is_required { option value="" { "–" } }
                            @for (value, text) in choices {
                                option value=(value) selected[given.as_deref() == Some(value)] { (printable(text)) }
                            }
                        }
                    }
                }
            }
            @if let Some(hint) = hint { p.faint { (untrusted(hint)) } }
        }
    }
}

fn input_type(kind: Option<&str>, property: &Value) -> &'static str {
    match (kind, property["format"].as_str()) {
        (Some("number" | "integer"), _) => "number",
        (_, Some("email")) => "email",
        (_, Some("date")) => "date",
        _ => "text",
    }
}

/// Reads the answer from the fields.
pub(super) fn read_answer(schema: &Object, fields: &FormFields) -> Value {
    let mut answer = Object::new();
    for (name, property) in properties(schema) {
        let field = format!("{PREFIX}{name}");
        let text = fields.get(&field).filter(|text| !text.is_empty());
        let value = match property["type"].as_str() {
            Some("boolean") => Some(Value::Bool(fields.get(&field).is_some())),
            Some("array") => Some(fields.all(&field).map(Value::from).collect()),
            Some("number" | "integer") => {
                text.map(|text| text.parse().map_or_else(|_| text.into(), Value::Number))
            }
            _ => text.map(Value::from),
        };
        if let Some(value) = value {
            answer.insert(name.clone(), value);
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
