//! Pure: the fields of a question's form, as the operator's page and a terminal show them, and the values that a person types. The
//! gate checks answers; a text that has not the type of its field is passed on as it is, and refused there with the reason.

use loggia_facade::{Object, QuestionKind};
use serde_json::Value;

/// A property of a form.
pub struct FormField<'a> {
    /// Name of the property.
    pub name: &'a str,
    /// Title, or the name if it has none.
    pub label: &'a str,
    /// Description.
    pub hint: Option<&'a str>,
    /// Whether the answer must have it.
    pub is_required: bool,
    /// Value that it has without an answer.
    pub default: Option<&'a Value>,
    /// What it holds.
    pub kind: FieldKind<'a>,
}

/// What a field holds.
pub enum FieldKind<'a> {
    /// Yes or no.
    Flag,
    /// A number.
    Number {
        /// Without a fraction.
        is_integer: bool,
    },
    /// A text.
    Text {
        /// `email`, `date` and others.
        format: Option<&'a str>,
    },
    /// One of these texts.
    Choice(Vec<FieldChoice<'a>>),
    /// Any of these texts.
    Choices(Vec<FieldChoice<'a>>),
}

/// A text that can be chosen.
pub struct FieldChoice<'a> {
    /// Value in the answer.
    pub value: &'a str,
    /// What a person reads.
    pub text: &'a str,
}

/// Lists the fields of a form, in the order of its schema.
pub fn form_fields(schema: &Object) -> Vec<FormField<'_>> {
    let required = schema.get("required").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let fields = properties.map(|(name, property)| FormField {
        name,
        label: property["title"].as_str().unwrap_or(name),
        hint: property["description"].as_str(),
        is_required: required.iter().any(|required| required == name.as_str()),
        default: property.get("default"),
        kind: field_kind(property),
    });
    fields.collect()
}

fn field_kind(property: &Value) -> FieldKind<'_> {
    match property["type"].as_str() {
        Some("boolean") => FieldKind::Flag,
        Some("array") => FieldKind::Choices(list_choices(&property["items"])),
        Some(kind @ ("number" | "integer")) => FieldKind::Number { is_integer: kind == "integer" },
        _ => {
            let choices = list_choices(property);
            match choices.is_empty() {
                true => FieldKind::Text { format: property["format"].as_str() },
                false => FieldKind::Choice(choices),
            }
        }
    }
}

fn list_choices(property: &Value) -> Vec<FieldChoice<'_>> {
    let titled = property["oneOf"].as_array().or_else(|| property["anyOf"].as_array());
    if let Some(titled) = titled {
        let choices = titled.iter().filter_map(|choice| {
            let value = choice["const"].as_str()?;
            Some(FieldChoice { value, text: choice["title"].as_str().unwrap_or(value) })
        });
        return choices.collect();
    }
    let names = property["enumNames"].as_array();
    let values = property["enum"].as_array().into_iter().flatten().filter_map(Value::as_str).enumerate();
    let choices = values.map(|(at, value)| FieldChoice {
        value,
        text: names.and_then(|names| names.get(at)?.as_str()).unwrap_or(value),
    });
    choices.collect()
}

/// Agrees to a question: required fields that are yes or no are yes.
pub fn agree(kind: &QuestionKind) -> Value {
    let QuestionKind::Form { schema } = kind else { return Value::Null };
    let fields = form_fields(schema).into_iter();
    let flags = fields.filter(|field| field.is_required && matches!(field.kind, FieldKind::Flag));
    Value::Object(flags.map(|field| (field.name.to_owned(), Value::Bool(true))).collect())
}

impl FormField<'_> {
    /// Formats the default as a person would type it.
    pub fn default_text(&self) -> Option<String> {
        match self.default? {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            Value::Bool(true) => Some("yes".to_owned()),
            Value::Bool(false) => Some("no".to_owned()),
            _ => None,
        }
    }

    /// Converts a text that was typed to the type of the field.
    pub fn parse_value(&self, text: &str) -> Value {
        match &self.kind {
            FieldKind::Number { .. } => text.parse().map_or_else(|_| text.into(), Value::Number),
            FieldKind::Flag => match text.to_ascii_lowercase().as_str() {
                "y" | "yes" | "true" => true.into(),
                "n" | "no" | "false" => false.into(),
                _ => text.into(),
            },
            FieldKind::Choices(_) => {
                text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(Value::from).collect()
            }
            FieldKind::Text { .. } | FieldKind::Choice(_) => text.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Object {
        let schema = json!({"properties": {
            "size": {"type": "string", "title": "Size", "oneOf": [{"const": "s", "title": "Small"}, {"const": "m"}]},
            "count": {"type": "integer", "default": 2},
            "gift": {"type": "boolean", "description": "Wrap it?", "default": false},
            "tags": {"type": "array", "items": {"enum": ["a", "b"]}},
            "mail": {"type": "string", "format": "email"},
        }, "required": ["size"]});
        schema.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn fields_have_the_order_of_their_schema() {
        let schema = schema();
        let fields = form_fields(&schema);
        let listed: Vec<_> = fields
            .iter()
            .map(|field| {
                let choices = match &field.kind {
                    FieldKind::Choice(choices) | FieldKind::Choices(choices) => {
                        choices.iter().map(|choice| (choice.value, choice.text)).collect()
                    }
                    _ => Vec::new(),
                };
                (field.label, field.is_required, field.default_text(), choices)
            })
            .collect();
        assert_eq!(
            listed,
            [
                ("Size", true, None, vec![("s", "Small"), ("m", "m")]),
                ("count", false, Some("2".to_owned()), vec![]),
                ("gift", false, Some("no".to_owned()), vec![]),
                ("tags", false, None, vec![("a", "a"), ("b", "b")]),
                ("mail", false, None, vec![]),
            ]
        );
    }

    #[test]
    fn typed_texts_get_the_type_of_their_field() {
        let schema = schema();
        let fields = form_fields(&schema);
        let check = |name: &str, text: &str, expected: Value| {
            let field = fields.iter().find(|field| field.name == name).unwrap();
            assert_eq!(field.parse_value(text), expected, "{name}: {text}");
        };
        check("size", "s", json!("s"));
        check("count", "3", json!(3));
        check("count", "many", json!("many"));
        check("gift", "Yes", json!(true));
        check("gift", "n", json!(false));
        check("gift", "perhaps", json!("perhaps"));
        check("tags", "a, b,", json!(["a", "b"]));
        check("mail", "a@b.example", json!("a@b.example"));
    }
}
