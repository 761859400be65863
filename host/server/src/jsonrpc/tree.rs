//! Parses a message into a tree, and finds duplicate member names on the way. Most parsers silently take the last value,
//! which may not be the one that the caller meant.

use std::{fmt, mem};

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Characters of a reported name.
const NAME: usize = 80;

/// Why a text has no tree.
#[derive(Debug)]
pub enum TreeError {
    /// This name is given twice in one object.
    Duplicate(String),
    /// It is no JSON.
    Syntax(serde_json::Error),
}

/// Parses a text.
///
/// # Errors
///
/// If it is no JSON, or has a duplicate name. Whichever comes first is reported.
pub fn parse_tree(json: &[u8]) -> Result<Value, TreeError> {
    let mut duplicate = None;
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    let tree = Tree(&mut duplicate).deserialize(&mut deserializer);
    let tree = tree.and_then(|tree| deserializer.end().map(|()| tree));
    // A duplicate ends the parse with an error of ours.
    tree.map_err(|error| duplicate.map_or(TreeError::Syntax(error), TreeError::Duplicate))
}

struct Tree<'f>(&'f mut Option<String>);

impl<'de> DeserializeSeed<'de> for Tree<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Tree<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        while let Some(item) = items.next_element_seed(Tree(self.0))? {
            all.push(item);
        }
        Ok(Value::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut all = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            let slot = match all.entry(name) {
                serde_json::map::Entry::Vacant(new) => new.insert(Value::Null),
                serde_json::map::Entry::Occupied(twice) => {
                    *self.0 = Some(twice.key().chars().take(NAME).collect());
                    return Err(A::Error::custom("duplicate name"));
                }
            };
            let value = members.next_value_seed(Tree(self.0))?;
            drop(mem::replace(slot, value));
        }
        Ok(Value::Object(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// H43.
    #[test]
    fn duplicate_names_in_one_object_are_found() {
        let check = |json: &str, expected: Result<(), Option<&str>>| {
            let parsed = parse_tree(json.as_bytes());
            if let Ok(tree) = &parsed {
                assert_eq!(*tree, serde_json::from_str::<Value>(json).unwrap(), "{json:.80}");
            }
            let parsed = parsed.map(|_| ()).map_err(|error| match error {
                TreeError::Duplicate(name) => Some(name),
                TreeError::Syntax(_) => None,
            });
            assert_eq!(parsed, expected.map_err(|name| name.map(str::to_owned)), "{json:.80}");
        };
        check(r#"{"a": 1, "b": {"a": [{"a": null}, {"a": 1.5}]}, "c": "a", "d": [true, -1, "\n"]}"#, Ok(()));
        check(r#"{"a": 1, "b": true, "a": 2}"#, Err(Some("a")));
        check(r#"{"p": [{"x": {"deep": 1, "deep": 1}}]}"#, Err(Some("deep")));
        check(r#"{"a": 1, "\u0061": 2}"#, Err(Some("a")));
        check("rubbish", Err(None));
        check("1 2", Err(None));
        check(r#"{"a": 1e400, "a": 1}"#, Err(None));
        check(&format!("{}{}", "[".repeat(10_000), "]".repeat(10_000)), Err(None));
    }
}
