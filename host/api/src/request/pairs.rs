//! Names and values of a query or a form.

use serde_json::Value;

use super::{percent, text::scalar};
use crate::description::ParameterStyle;

/// One pair, not encoded yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct QueryPair {
    pub(super) name: String,
    pub(super) value: String,
    /// What separates the items within the value: it is not encoded.
    pub(super) separator: Option<char>,
    /// Reserved characters of the value stay as they are.
    pub(super) reserved: bool,
}

impl QueryPair {
    pub(super) fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { name: name.into(), value: value.into(), separator: None, reserved: false }
    }

    fn encode(&self) -> String {
        let encode = |text: &str| {
            if self.reserved { percent::encode_reserved(text) } else { percent::encode(text) }
        };
        let value = match self.separator {
            Some(separator) => {
                let written = if separator == ' ' { "%20".to_owned() } else { separator.to_string() };
                self.value.split('\u{0}').map(encode).collect::<Vec<_>>().join(&written)
            }
            None => encode(&self.value),
        };
        format!("{}={value}", percent::encode(&self.name))
    }
}

/// Writes pairs as a query.
pub(super) fn render(pairs: &[QueryPair]) -> String {
    pairs.iter().map(QueryPair::encode).collect::<Vec<_>>().join("&")
}

/// Turns a value into pairs. Null has none.
pub(super) fn push(
    pairs: &mut Vec<QueryPair>,
    name: &str,
    value: &Value,
    style: ParameterStyle,
    explode: bool,
) {
    match (value, style) {
        (Value::Null, _) => {}
        (value, ParameterStyle::Json) => pairs.push(QueryPair::new(name, value.to_string())),
        (value, ParameterStyle::DeepObject) => deep(pairs, name, value),
        (Value::Array(items), _) if explode => {
            pairs.extend(items.iter().map(|item| QueryPair::new(name, scalar(item))));
        }
        (Value::Object(members), _) if explode => {
            pairs.extend(members.iter().map(|(name, value)| QueryPair::new(name, scalar(value))));
        }
        (Value::Array(items), style) => {
            pairs.push(separated(name, items.iter().map(scalar).collect(), style));
        }
        (Value::Object(members), style) => {
            let words = members.iter().flat_map(|(name, value)| [name.clone(), scalar(value)]).collect();
            pairs.push(separated(name, words, style));
        }
        (value, _) => pairs.push(QueryPair::new(name, scalar(value))),
    }
}

/// Joins words by the separator of a style. Until they are encoded, a character stands between them that no JSON text has
/// unescaped.
fn separated(name: &str, words: Vec<String>, style: ParameterStyle) -> QueryPair {
    let separator = match style {
        ParameterStyle::SpaceDelimited => ' ',
        ParameterStyle::PipeDelimited => '|',
        _ => ',',
    };
    let words: Vec<String> = words.into_iter().map(|word| word.replace('\u{0}', "")).collect();
    QueryPair { separator: Some(separator), ..QueryPair::new(name, words.join("\u{0}")) }
}

/// `a[b][c]=d`. OpenAPI leaves lists open; servers that read this style take an index.
fn deep(pairs: &mut Vec<QueryPair>, name: &str, value: &Value) {
    match value {
        Value::Null => {}
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                deep(pairs, &format!("{name}[{index}]"), item);
            }
        }
        Value::Object(members) => {
            for (key, value) in members {
                deep(pairs, &format!("{name}[{key}]"), value);
            }
        }
        value => pairs.push(QueryPair::new(name, scalar(value))),
    }
}
