//! Data of a reply.

use std::{fmt, ops::Deref, sync::OnceLock};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use serde_json::Value;

use crate::json::{JsonError, is_clean, parse, write_value};

/// The result of an action: a tree, or its text if nothing has to be changed in it. Most results only pass through the host,
/// so their text is checked, copied and never parsed. As a value it is parsed when it is first read.
#[derive(Clone)]
pub struct ReplyData(DataForm);

#[derive(Clone)]
enum DataForm {
    Tree(Value),
    /// A text that [`is_clean`], and its tree if it has been read.
    Text(String, OnceLock<Value>),
}

impl ReplyData {
    /// Takes a JSON text of others. It is kept if it [`is_clean`].
    ///
    /// # Errors
    ///
    /// If it holds too many values, or is no JSON.
    pub fn from_text(text: String) -> Result<Self, JsonError> {
        match is_clean(&text) {
            true => Ok(Self(DataForm::Text(text, OnceLock::new()))),
            false => parse(&text).map(Self::from),
        }
    }

    /// Returns the text, if it has been kept: valid JSON on one line, without members whose name begins with `_`.
    pub fn clean_text(&self) -> Option<&str> {
        match &self.0 {
            DataForm::Text(text, _) => Some(text),
            DataForm::Tree(_) => None,
        }
    }

    /// Converts the data to its text.
    pub fn into_text(self) -> String {
        match self.0 {
            DataForm::Text(text, _) => text,
            DataForm::Tree(tree) => {
                let mut text = String::new();
                write_value(&mut text, &tree);
                text
            }
        }
    }

    /// Converts the data to a tree.
    pub fn into_value(self) -> Value {
        match self.0 {
            DataForm::Tree(tree) => tree,
            DataForm::Text(text, tree) => tree.into_inner().unwrap_or_else(|| parse_clean(&text)),
        }
    }

    /// Changes the data as a tree.
    pub fn change(&mut self, change: impl FnOnce(&mut Value)) {
        let mut tree = std::mem::take(self).into_value();
        change(&mut tree);
        *self = tree.into();
    }

    /// Whether there is nothing to say. Does not parse.
    pub fn is_null(&self) -> bool {
        match &self.0 {
            DataForm::Tree(tree) => tree.is_null(),
            DataForm::Text(text, _) => text == "null",
        }
    }

    /// Returns the text and the tree, as far as they are in memory.
    pub fn in_memory(&self) -> (Option<&String>, Option<&Value>) {
        match &self.0 {
            DataForm::Tree(tree) => (None, Some(tree)),
            DataForm::Text(text, tree) => (Some(text), tree.get()),
        }
    }
}

/// Every clean text is JSON; a test changes texts at random and checks that.
fn parse_clean(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

impl Deref for ReplyData {
    type Target = Value;

    fn deref(&self) -> &Value {
        match &self.0 {
            DataForm::Tree(tree) => tree,
            DataForm::Text(text, tree) => tree.get_or_init(|| parse_clean(text)),
        }
    }
}

impl Default for ReplyData {
    fn default() -> Self {
        Self(DataForm::Tree(Value::Null))
    }
}

impl<T: Into<Value>> From<T> for ReplyData {
    fn from(tree: T) -> Self {
        Self(DataForm::Tree(tree.into()))
    }
}

impl PartialEq for ReplyData {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl PartialEq<Value> for ReplyData {
    fn eq(&self, other: &Value) -> bool {
        **self == *other
    }
}

/// As a string that holds its JSON, so that it is copied as a whole, and however deep it is.
impl Serialize for ReplyData {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.clean_text() {
            Some(text) => serializer.serialize_str(text),
            None => serializer.serialize_str(&self.clone().into_text()),
        }
    }
}

impl<'de> Deserialize<'de> for ReplyData {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_text(String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl fmt::Debug for ReplyData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn clean_text_is_kept_and_other_text_parsed() {
        for (text, kept, value) in [
            (r#"{"a":[1,"b"]}"#, true, json!({"a": [1, "b"]})),
            ("null", true, json!(null)),
            (r#"{"a": 1}"#, false, json!({"a": 1})),
            (r#"{"a":1,"a":2}"#, false, json!({"a": 2})),
            (r#"{"_a":1}"#, false, json!({"_a": 1})),
        ] {
            let data = ReplyData::from_text(text.to_owned()).unwrap();
            assert_eq!(data.clean_text().is_some(), kept, "{text}");
            assert_eq!(
                (data.is_null(), data.clone().into_text()),
                (value.is_null(), value.to_string()),
                "{text}"
            );
            assert_eq!(data, value, "{text}");
            let mut changed = data.clone();
            changed.change(|tree| *tree = json!(1));
            assert_eq!(changed.into_value(), json!(1));
            assert_eq!(data.into_value(), value, "{text}");
        }
        assert!(matches!(ReplyData::from_text("{".to_owned()), Err(JsonError::Syntax(_))));
    }
}
