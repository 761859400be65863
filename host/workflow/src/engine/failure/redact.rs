//! Redaction of secrets, and truncation of long values.

use std::fmt;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use loggia_facade::Object;
use loggia_schema::REDACTED;
use serde_json::Value;

/// Maximum length of a value in a report, in characters.
const VALUE: usize = 200;
/// Maximum length of a sentence in a report, in characters. Foreign errors can be long.
const SENTENCE: usize = 2000;
/// Maximum number of list items or object members in a report.
const ITEMS: usize = 50;
/// Minimum length of a secret. Shorter texts occur everywhere.
const SHORTEST: usize = 3;
/// Maximum total size of secrets to search for, in bytes. An automaton for 1 MiB takes seconds and half a gigabyte.
const SECRETS: usize = 64 << 10;

/// Redactor of the secrets that a workflow received.
pub(crate) enum SecretRedactor {
    /// No secrets.
    Nothing,
    /// Automaton that finds the secrets.
    Secrets(AhoCorasick),
    /// Too many secrets to search for: everything is redacted.
    Everything,
}

impl SecretRedactor {
    /// Collects the secrets from input, as marked by its schema.
    pub(crate) fn from_inputs<'a>(given: impl Iterator<Item = (&'a Object, &'a Value)>) -> Self {
        let mut secrets = Vec::new();
        for (schema, given) in given {
            collect_secrets(given, &loggia_schema::redact(schema, given), &mut secrets);
        }
        Self::from_secrets(secrets)
    }

    /// Collects the secrets from the parameters of a call.
    pub(crate) fn from_call(schema: &Object, inputs: &Object) -> Self {
        let inputs = Value::Object(inputs.clone());
        Self::from_inputs([(schema, &inputs)].into_iter())
    }

    fn from_secrets(mut secrets: Vec<String>) -> Self {
        secrets.sort_unstable();
        secrets.dedup();
        if secrets.is_empty() {
            return Self::Nothing;
        }
        if secrets.iter().map(String::len).sum::<usize>() > SECRETS {
            return Self::Everything;
        }
        let mut builder = AhoCorasick::builder();
        // The faster automaton takes up to 1 KiB per byte of a secret.
        builder.match_kind(MatchKind::LeftmostLongest).kind(Some(AhoCorasickKind::ContiguousNFA));
        builder.build(&secrets).map_or(Self::Everything, Self::Secrets)
    }

    /// Redacts a text of any length.
    pub(crate) fn redact(&self, text: &str) -> String {
        self.redact_to(text, usize::MAX)
    }

    /// Redacts and truncates a sentence.
    pub(crate) fn redact_sentence(&self, text: &str) -> String {
        self.redact_to(text, SENTENCE)
    }

    /// Redacts the parameters of a call; `schema` is the action's.
    pub(crate) fn redact_inputs(&self, schema: &Object, inputs: &Object) -> Value {
        self.redact_value(&loggia_schema::redact(schema, &Value::Object(inputs.clone())))
    }

    fn redact_value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.redact_to(text, VALUE)),
            Value::Number(number) if self.contains_secret(&number.to_string()) => REDACTED.into(),
            Value::Array(items) => {
                let mut redacted: Vec<Value> =
                    items.iter().take(ITEMS).map(|item| self.redact_value(item)).collect();
                if let Some(more) = omitted(items.len()) {
                    redacted.push(more.into());
                }
                Value::Array(redacted)
            }
            Value::Object(members) => {
                let first = members.iter().take(ITEMS);
                let mut redacted: Object = first
                    .map(|(name, value)| (self.redact_to(name, VALUE), self.redact_value(value)))
                    .collect();
                if let Some(more) = omitted(members.len()) {
                    redacted.insert("…".to_owned(), more.into());
                }
                Value::Object(redacted)
            }
            other => other.clone(),
        }
    }

    fn contains_secret(&self, text: &str) -> bool {
        match self {
            Self::Nothing => false,
            Self::Secrets(secrets) => secrets.is_match(text),
            Self::Everything => true,
        }
    }

    /// Redacts a text, then truncates it. The order matters: half of a secret is still a leak.
    pub(crate) fn redact_to(&self, text: &str, most: usize) -> String {
        let mut redacted = String::new();
        match self {
            Self::Nothing => redacted.push_str(text),
            Self::Everything => redacted.push_str(REDACTED),
            Self::Secrets(secrets) => secrets.replace_all_with(text, &mut redacted, |_, _, out| {
                out.push_str(REDACTED);
                true
            }),
        }
        if let Some((end, _)) = redacted.char_indices().nth(most) {
            redacted.truncate(end);
            redacted.push('…');
        }
        redacted
    }
}

impl fmt::Debug for SecretRedactor {
    /// Hides the secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Redaction")
    }
}

/// Describes the items that are left out.
fn omitted(count: usize) -> Option<String> {
    (count > ITEMS).then(|| format!("… {} more", count - ITEMS))
}

/// Collects values that differ from their redacted form, both as plain text and as JSON-escaped text.
fn collect_secrets(value: &Value, redacted: &Value, out: &mut Vec<String>) {
    match (value, redacted) {
        (Value::Object(value), Value::Object(redacted)) => {
            let pairs = value.iter().filter_map(|(name, value)| Some((value, redacted.get(name)?)));
            pairs.for_each(|(value, redacted)| collect_secrets(value, redacted, out));
        }
        (Value::Array(value), Value::Array(redacted)) => {
            value.iter().zip(redacted).for_each(|(value, redacted)| collect_secrets(value, redacted, out));
        }
        (value, redacted) if value != redacted => collect_texts(value, out),
        _ => {}
    }
}

fn collect_texts(value: &Value, out: &mut Vec<String>) {
    let mut add = |text: &str| {
        if text.chars().nth(SHORTEST - 1).is_some() {
            out.push(text.to_owned());
        }
    };
    match value {
        Value::Null | Value::Bool(_) => {}
        Value::Number(number) => add(&number.to_string()),
        Value::String(text) => {
            let json = value.to_string();
            add(text);
            add(&json[1..json.len() - 1]);
        }
        Value::Array(items) => items.iter().for_each(|item| collect_texts(item, out)),
        Value::Object(members) => members.values().for_each(|member| collect_texts(member, out)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Object {
        value.as_object().cloned().unwrap()
    }

    fn redaction(params: Value) -> SecretRedactor {
        let secret = json!({"writeOnly": true});
        let schema = json!({"type": "object", "properties": {"user": {}, "password": secret,
            "keys": {"type": "array", "items": {"type": "object", "properties": {"id": {}, "key": secret}}}}});
        SecretRedactor::from_inputs([(&object(schema), &params)].into_iter())
    }

    #[test]
    fn a_workflows_secrets_are_taken_out_wherever_they_are() {
        let redaction = redaction(
            json!({"user": "ann", "password": "s3cret\"x", "keys": [{"id": "k1", "key": 12345}, {"id": "k2", "key": "no"}]}),
        );
        for (text, expected) in [
            ("ann may not s3cret\"x", "ann may not (redacted)"),
            (r#"{"p":"s3cret\"x"}"#, r#"{"p":"(redacted)"}"#),
            ("12345 k1 no", "(redacted) k1 no"),
            ("s3cret", "s3cret"),
        ] {
            assert_eq!(redaction.redact_sentence(text), expected);
        }
        let schema = object(json!({"properties": {"token": {"x-secret": true}, "n": {}, "list": {}}}));
        let inputs = object(json!({"token": "t", "n": 12345, "list": ["a s3cret\"x b"]}));
        let expected = json!({"token": REDACTED, "n": REDACTED, "list": ["a (redacted) b"]});
        assert_eq!(redaction.redact_inputs(&schema, &inputs), expected);
    }

    #[test]
    fn too_many_secrets_redact_everything() {
        let redaction = |key: Value| redaction(json!({"password": key}));
        let many = json!((0..9_000).map(|n| format!("k{n:07}")).collect::<Vec<_>>());
        for key in [json!("x".repeat(1 << 20)), many] {
            let redaction = redaction(key);
            assert_eq!(redaction.redact_sentence("anything"), REDACTED);
            let inputs = object(json!({"a": "text", "b": 5}));
            assert!(!redaction.redact_inputs(&Object::new(), &inputs).to_string().contains("text"));
        }
        assert_eq!(redaction(json!("x".repeat(30_000))).redact_sentence("anything"), "anything");
    }

    #[test]
    fn long_values_are_cut_after_the_secrets_are_out() {
        let redaction = redaction(json!({"password": "secret"}));
        let inputs = object(
            json!({"text": format!("{}secret", "ä".repeat(197)), "list": (0..60).collect::<Vec<_>>()}),
        );
        let shown = redaction.redact_inputs(&Object::new(), &inputs);
        assert_eq!(shown["text"], format!("{}(re…", "ä".repeat(197)));
        assert_eq!(shown["list"].as_array().unwrap().len(), ITEMS + 1);
        assert_eq!(shown["list"][ITEMS], "… 10 more");
        assert_eq!(redaction.redact_sentence(&"x".repeat(5000)).chars().count(), SENTENCE + 1);
    }
}
