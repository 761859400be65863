//! Questions to a person, as MCP clients show them: flat objects of texts, numbers, choices and yes or no.

use jsonschema::{Draft, Validator};
use loggia_facade::Object;
use serde_json::Value;

use crate::show;

/// Fields of a form: a person fills them in.
const FIELDS: usize = 16;
/// Bytes of a form's schema.
const BYTES: usize = 16 << 10;

/// A form whose answers can be checked.
pub struct Questionnaire {
    validator: Validator,
    schema: Object,
}

/// What a field's schema may say, by its type.
const COMMON: [&str; 4] = ["type", "title", "description", "default"];
const KINDS: [(&str, &[&str]); 5] = [
    ("string", &["minLength", "maxLength", "format", "enum", "enumNames", "oneOf"]),
    ("number", &["minimum", "maximum"]),
    ("integer", &["minimum", "maximum"]),
    ("boolean", &[]),
    ("array", &["items", "minItems", "maxItems"]),
];
const FORMATS: [&str; 4] = ["email", "uri", "date", "date-time"];
/// Names by which a secret is asked for, which MCP forbids in forms.
const SECRETS: [&str; 4] = ["password", "secret", "token", "apikey"];

impl Questionnaire {
    /// Checks a question's schema.
    ///
    /// # Errors
    ///
    /// What clients would not show of it, and what must not be asked: a form is no place for secrets.
    pub fn new(schema: &Object) -> Result<Self, String> {
        let bytes = serde_json::to_string(schema).map_or(usize::MAX, |text| text.len());
        if bytes > BYTES {
            return Err(format!("its schema has {bytes} bytes, more than {BYTES}"));
        }
        if schema.get("type").is_some_and(|kind| kind != "object") {
            return Err("its type must be object".to_owned());
        }
        let none = Object::new();
        let fields = match schema.get("properties") {
            None => &none,
            Some(Value::Object(fields)) => fields,
            Some(_) => return Err("its properties are not an object".to_owned()),
        };
        if fields.len() > FIELDS {
            return Err(format!("it has {} fields, more than {FIELDS}", fields.len()));
        }
        for (name, field) in fields {
            self::field(name, field).map_err(|said| format!("its field `{}` {said}", show::name(name)))?;
        }
        let known =
            ["$schema", "type", "title", "description", "properties", "required", "additionalProperties"];
        if let Some(other) = schema.keys().find(|key| !known.contains(&key.as_str())) {
            return Err(format!("clients show no `{}`", show::name(other)));
        }
        let validator = jsonschema::options()
            .with_draft(Draft::Draft202012)
            .should_validate_formats(true)
            .build(&Value::Object(schema.clone()))
            .map_err(|error| show::name(&error.to_string()))?;
        Ok(Self { validator, schema: schema.clone() })
    }

    /// Whether an answer fits.
    ///
    /// # Errors
    ///
    /// The first thing that does not fit, without the person's words.
    pub fn check(&self, answer: &Value) -> Result<(), String> {
        let Value::Object(members) = answer else { return Err("it is not an object".to_owned()) };
        let fields = self.schema.get("properties").and_then(Value::as_object);
        if let Some(other) =
            members.keys().find(|name| !fields.is_some_and(|fields| fields.contains_key(*name)))
        {
            return Err(format!("there is no field `{}`", show::name(other)));
        }
        match self.validator.iter_errors(answer).next() {
            None => Ok(()),
            Some(error) => {
                let path = error.instance_path().to_string();
                let keyword = error.schema_path().to_string();
                let keyword =
                    keyword.rsplit('/').find(|part| part.parse::<u32>().is_err()).unwrap_or_default();
                let at = if path.is_empty() { "a field".to_owned() } else { format!("`{}`", &path[1..]) };
                Err(match keyword {
                    "required" => "a required field is missing".to_owned(),
                    keyword => format!("{at} does not fit `{keyword}`"),
                })
            }
        }
    }
}

fn field(name: &str, field: &Value) -> Result<(), String> {
    let Value::Object(field) = field else { return Err("has no schema".to_owned()) };
    let folded: String = name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
    let secret = field.get("writeOnly") == Some(&Value::Bool(true))
        || field.get("format").is_some_and(|format| format == "password")
        || SECRETS.iter().any(|secret| folded.contains(secret));
    if secret {
        return Err("asks for a secret, which a form must not".to_owned());
    }
    let kind = field.get("type").and_then(Value::as_str).unwrap_or_default();
    let Some((_, known)) = KINDS.iter().find(|(known, _)| *known == kind) else {
        return Err("must be of type string, number, integer, boolean, or array of choices".to_owned());
    };
    if let Some(other) =
        field.keys().find(|key| !COMMON.contains(&key.as_str()) && !known.contains(&key.as_str()))
    {
        return Err(format!("says `{}`, which clients do not show", show::name(other)));
    }
    if let Some(format) = field.get("format")
        && !format.as_str().is_some_and(|format| FORMATS.contains(&format))
    {
        return Err(format!("has a format that clients do not know ({})", FORMATS.join(", ")));
    }
    let whole = |key: &str| {
        field.get(key).is_none_or(|value| value.as_u64().is_some_and(|length| length <= u32::MAX.into()))
    };
    if !["minLength", "maxLength", "minItems", "maxItems"].iter().all(|key| whole(key)) {
        return Err("has a length that is no whole number".to_owned());
    }
    let whole = |key: &str| field.get(key).is_none_or(Value::is_i64);
    if kind == "integer" && !["minimum", "maximum"].iter().all(|key| whole(key)) {
        return Err("has a bound that is no whole number".to_owned());
    }
    let choices = field.contains_key("enum") || field.contains_key("oneOf");
    if choices && ["minLength", "maxLength", "format"].iter().any(|key| field.contains_key(*key)) {
        return Err("has choices and bounds, of which clients show one".to_owned());
    }
    if kind == "array" {
        let choices = field.get("items").and_then(Value::as_object);
        let has_choices = choices.is_some_and(|items| {
            let words = items.contains_key("enum") && items.get("type") == Some(&"string".into());
            words || items.contains_key("anyOf")
        });
        if !has_choices {
            return Err("is a list, but not of choices".to_owned());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn form(properties: &Value) -> Result<Questionnaire, String> {
        let schema = json!({"type": "object", "properties": properties, "required": ["name"]});
        Questionnaire::new(schema.as_object().unwrap())
    }

    #[test]
    fn a_form_is_flat_and_asks_for_no_secrets() {
        let check = |properties: Value, expected: Option<&str>| {
            let said = form(&properties).err();
            assert_eq!(said.as_deref(), expected, "{properties}");
        };
        check(json!({"name": {"type": "string", "minLength": 1, "title": "Name"}}), None);
        check(
            json!({"name": {"type": "string", "format": "email"}, "n": {"type": "integer", "maximum": 5}}),
            None,
        );
        check(json!({"size": {"type": "string", "oneOf": [{"const": "s", "title": "Small"}]}}), None);
        check(json!({"tags": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}}}), None);
        check(
            json!({"at": {"type": "object", "properties": {}}}),
            Some("its field `at` must be of type string, number, integer, boolean, or array of choices"),
        );
        check(json!({"tags": {"type": "array"}}), Some("its field `tags` is a list, but not of choices"));
        check(
            json!({"n": {"type": "integer", "multipleOf": 2}}),
            Some("its field `n` says `multipleOf`, which clients do not show"),
        );
        check(
            json!({"n": {"type": "integer", "minimum": 1.5}}),
            Some("its field `n` has a bound that is no whole number"),
        );
        check(
            json!({"name": {"type": "string", "minLength": 2.5}}),
            Some("its field `name` has a length that is no whole number"),
        );
        check(
            json!({"name": {"type": "string", "enum": ["a"], "minLength": 1}}),
            Some("its field `name` has choices and bounds, of which clients show one"),
        );
        check(
            json!({"tags": {"type": "array", "items": {"enum": ["a"]}}}),
            Some("its field `tags` is a list, but not of choices"),
        );
        check(
            json!({"name": {"type": "string", "format": "hostname"}}),
            Some("its field `name` has a format that clients do not know (email, uri, date, date-time)"),
        );
        for (name, schema) in [
            ("api_key", json!({"type": "string"})),
            ("Password", json!({"type": "string"})),
            ("pin", json!({"type": "string", "writeOnly": true})),
        ] {
            check(
                json!({ name: schema }),
                Some(&format!("its field `{name}` asks for a secret, which a form must not")),
            );
        }
        assert!(Questionnaire::new(&Object::new()).is_ok(), "yes or no");
        let refused = |schema: Value| Questionnaire::new(schema.as_object().unwrap()).err().unwrap();
        assert_eq!(refused(json!({"type": "string"})), "its type must be object");
        assert_eq!(refused(json!({"anyOf": []})), "clients show no `anyOf`");
    }

    #[test]
    fn an_answer_fits_or_says_what_does_not() {
        let form =
            form(&json!({"name": {"type": "string", "maxLength": 3}, "n": {"type": "integer"}})).unwrap();
        let check = |answer: Value, expected: Result<(), &str>| {
            assert_eq!(form.check(&answer), expected.map_err(str::to_owned), "{answer}");
        };
        check(json!({"name": "ada"}), Ok(()));
        check(json!({"name": "ada", "n": 5}), Ok(()));
        check(json!({}), Err("a required field is missing"));
        check(json!({"name": "Babbage"}), Err("`name` does not fit `maxLength`"));
        check(json!({"name": "ada", "n": "x"}), Err("`n` does not fit `type`"));
        check(json!({"name": "ada", "x": 1}), Err("there is no field `x`"));
        check(json!("ada"), Err("it is not an object"));
    }
}
