//! What a report may show: no secrets, and nothing longer than is worth reading.

use std::fmt;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use loggia_facade::Object;
use loggia_schema::REDACTED;
use serde_json::Value;

/// Characters of a value that a report shows.
const VALUE: usize = 200;
/// Characters of a sentence that a report shows: others' errors can be long.
const SENTENCE: usize = 2000;
/// Items of a list, and members of an object, that a report shows.
const ITEMS: usize = 50;
/// What is shorter is no secret, but occurs everywhere.
const SHORTEST: usize = 3;
/// Bytes of all secrets together that are looked for: looking for a megabyte takes seconds and half a gigabyte.
const SECRETS: usize = 64 << 10;

/// Takes out the secrets that a workflow was given, wherever they have got to.
pub(crate) enum SecretRedactor {
    /// There are none.
    Nothing,
    /// They are looked for.
    Secrets(AhoCorasick),
    /// They are too many to look for, so that nothing is shown.
    Everything,
}

impl SecretRedactor {
    /// The secrets among what a person or a caller gave, by its schema.
    pub(crate) fn of<'a>(given: impl Iterator<Item = (&'a Object, &'a Value)>) -> Self {
        let mut secrets = Vec::new();
        for (schema, given) in given {
            hidden(given, &loggia_schema::redact(schema, given), &mut secrets);
        }
        Self::among(secrets)
    }

    /// The secrets among what an action is called with.
    pub(crate) fn of_inputs(schema: &Object, inputs: &Object) -> Self {
        let inputs = Value::Object(inputs.clone());
        Self::of([(schema, &inputs)].into_iter())
    }

    fn among(mut secrets: Vec<String>) -> Self {
        secrets.sort_unstable();
        secrets.dedup();
        if secrets.is_empty() {
            return Self::Nothing;
        }
        if secrets.iter().map(String::len).sum::<usize>() > SECRETS {
            return Self::Everything;
        }
        let mut builder = AhoCorasick::builder();
        // The faster kind takes up to a kilobyte for each of their bytes.
        builder.match_kind(MatchKind::LeftmostLongest).kind(Some(AhoCorasickKind::ContiguousNFA));
        builder.build(&secrets).map_or(Self::Everything, Self::Secrets)
    }

    /// A text without the secrets, whole.
    pub(crate) fn clean(&self, text: &str) -> String {
        self.cut(text, usize::MAX)
    }

    /// A sentence that may be shown.
    pub(crate) fn text(&self, text: &str) -> String {
        self.cut(text, SENTENCE)
    }

    /// What a call was made with, as far as it may be shown: `schema` is the called action's.
    pub(crate) fn inputs(&self, schema: &Object, inputs: &Object) -> Value {
        self.value(&loggia_schema::redact(schema, &Value::Object(inputs.clone())))
    }

    fn value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.cut(text, VALUE)),
            Value::Number(number) if self.holds(&number.to_string()) => REDACTED.into(),
            Value::Array(items) => {
                let mut shown: Vec<Value> = items.iter().take(ITEMS).map(|item| self.value(item)).collect();
                if let Some(more) = more(items.len()) {
                    shown.push(more.into());
                }
                Value::Array(shown)
            }
            Value::Object(members) => {
                let first = members.iter().take(ITEMS);
                let mut shown: Object =
                    first.map(|(name, value)| (self.cut(name, VALUE), self.value(value))).collect();
                if let Some(more) = more(members.len()) {
                    shown.insert("…".to_owned(), more.into());
                }
                Value::Object(shown)
            }
            other => other.clone(),
        }
    }

    fn holds(&self, text: &str) -> bool {
        match self {
            Self::Nothing => false,
            Self::Secrets(secrets) => secrets.is_match(text),
            Self::Everything => true,
        }
    }

    /// Secrets are taken out first: half of one is still too much.
    pub(crate) fn cut(&self, text: &str, most: usize) -> String {
        let mut shown = String::new();
        match self {
            Self::Nothing => shown.push_str(text),
            Self::Everything => shown.push_str(REDACTED),
            Self::Secrets(secrets) => secrets.replace_all_with(text, &mut shown, |_, _, out| {
                out.push_str(REDACTED);
                true
            }),
        }
        if let Some((end, _)) = shown.char_indices().nth(most) {
            shown.truncate(end);
            shown.push('…');
        }
        shown
    }
}

impl fmt::Debug for SecretRedactor {
    /// Without the secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Redaction")
    }
}

/// What is said of items that are not shown.
fn more(count: usize) -> Option<String> {
    (count > ITEMS).then(|| format!("… {} more", count - ITEMS))
}

/// What of a value is not in what may be shown of it, as texts: as they are, and as JSON writes them.
fn hidden(value: &Value, shown: &Value, out: &mut Vec<String>) {
    match (value, shown) {
        (Value::Object(value), Value::Object(shown)) => {
            let pairs = value.iter().filter_map(|(name, value)| Some((value, shown.get(name)?)));
            pairs.for_each(|(value, shown)| hidden(value, shown, out));
        }
        (Value::Array(value), Value::Array(shown)) => {
            value.iter().zip(shown).for_each(|(value, shown)| hidden(value, shown, out));
        }
        (value, shown) if value != shown => collect(value, out),
        _ => {}
    }
}

fn collect(value: &Value, out: &mut Vec<String>) {
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
        Value::Array(items) => items.iter().for_each(|item| collect(item, out)),
        Value::Object(members) => members.values().for_each(|member| collect(member, out)),
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
        SecretRedactor::of([(&object(schema), &params)].into_iter())
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
            assert_eq!(redaction.text(text), expected);
        }
        let schema = object(json!({"properties": {"token": {"x-secret": true}, "n": {}, "list": {}}}));
        let inputs = object(json!({"token": "t", "n": 12345, "list": ["a s3cret\"x b"]}));
        let expected = json!({"token": REDACTED, "n": REDACTED, "list": ["a (redacted) b"]});
        assert_eq!(redaction.inputs(&schema, &inputs), expected);
    }

    #[test]
    fn where_secrets_are_too_many_to_look_for_nothing_is_shown() {
        let redaction = |key: Value| redaction(json!({"password": key}));
        let many = json!((0..9_000).map(|n| format!("k{n:07}")).collect::<Vec<_>>());
        for key in [json!("x".repeat(1 << 20)), many] {
            let redaction = redaction(key);
            assert_eq!(redaction.text("anything"), REDACTED);
            let inputs = object(json!({"a": "text", "b": 5}));
            assert!(!redaction.inputs(&Object::new(), &inputs).to_string().contains("text"));
        }
        assert_eq!(redaction(json!("x".repeat(30_000))).text("anything"), "anything");
    }

    #[test]
    fn long_values_are_cut_after_the_secrets_are_out() {
        let redaction = redaction(json!({"password": "secret"}));
        let inputs = object(
            json!({"text": format!("{}secret", "ä".repeat(197)), "list": (0..60).collect::<Vec<_>>()}),
        );
        let shown = redaction.inputs(&Object::new(), &inputs);
        assert_eq!(shown["text"], format!("{}(re…", "ä".repeat(197)));
        assert_eq!(shown["list"].as_array().unwrap().len(), ITEMS + 1);
        assert_eq!(shown["list"][ITEMS], "… 10 more");
        assert_eq!(redaction.text(&"x".repeat(5000)).chars().count(), SENTENCE + 1);
    }
}
