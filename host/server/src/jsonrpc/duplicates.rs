//! Detects duplicate member names in JSON objects. Most parsers silently take the last value, which may not be the one that
//! the caller meant.

use std::{borrow::Cow, collections::HashSet, fmt};

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

/// Characters of a reported name.
const NAME: usize = 80;

/// Returns the first duplicate name. Returns `None`, too, if the text is not JSON: its parser reports that.
pub fn find_duplicate(json: &[u8]) -> Option<String> {
    check_duplicates(json).ok().flatten()
}

/// Returns the first duplicate name.
///
/// # Errors
///
/// If the text is not JSON.
pub fn check_duplicates(json: &[u8]) -> serde_json::Result<Option<String>> {
    let mut found = None;
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    let searched = Search(&mut found).deserialize(&mut deserializer).and_then(|()| deserializer.end());
    // A duplicate ends the search with an error of ours.
    match found {
        None => searched.map(|()| None),
        found => Ok(found),
    }
}

struct Search<'f>(&'f mut Option<String>);

impl<'de> DeserializeSeed<'de> for Search<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Search<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(Search(self.0))?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let mut names: HashSet<Cow<'de, str>> = HashSet::new();
        while let Some(name) = members.next_key_seed(Name)? {
            if let Some(twice) = names.replace(name) {
                *self.0 = Some(twice.chars().take(NAME).collect());
                return Err(serde::de::Error::custom("duplicate name"));
            }
            members.next_value_seed(Search(self.0))?;
        }
        Ok(())
    }
}

/// Member name, borrowed if it has no escapes.
struct Name;

impl<'de> DeserializeSeed<'de> for Name {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Name {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_borrowed_str<E>(self, name: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(name))
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// H43.
    #[test]
    fn duplicate_names_in_one_object_are_found() {
        let check = |json: &str, expected: Option<&str>| {
            assert_eq!(find_duplicate(json.as_bytes()).as_deref(), expected, "{json}");
        };
        check(r#"{"a": 1, "b": {"a": [{"a": null}, {"a": 1.5}]}, "c": "a"}"#, None);
        check(r#"{"a": 1, "b": true, "a": 2}"#, Some("a"));
        check(r#"{"p": [{"x": {"deep": 1, "deep": 1}}]}"#, Some("deep"));
        check(r#"{"a": 1, "\u0061": 2}"#, Some("a"));
        check("rubbish", None);
        check(r#"{"a": 1e400, "a": 1}"#, None);
        check(&format!("{}{}", "[".repeat(10_000), "]".repeat(10_000)), None);
    }
}
