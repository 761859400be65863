//! What may stand at some place of the file, as its JSON Schema says.

use serde_json::{Map, Value as Json, json};

use super::place::Place;

/// A place of the schema.
#[derive(Clone, Copy)]
pub struct Grammar<'a> {
    root: &'a Json,
    at: &'a Json,
}

impl<'a> Grammar<'a> {
    /// Of the whole file.
    pub fn of(root: &'a Json) -> Self {
        Self { root, at: root }
    }

    /// The same place, where it says elsewhere what it is.
    fn resolved(self) -> Self {
        let elsewhere = self.at["$ref"].as_str().or_else(|| {
            // What may be left out is this or null.
            let either = self.at["anyOf"].as_array()?;
            either.iter().find_map(|one| one["$ref"].as_str())
        });
        match elsewhere.and_then(|at| self.root.pointer(at.strip_prefix('#')?)) {
            Some(at) => Self { at, ..self },
            None => self,
        }
    }

    /// The keys, where it is a table.
    pub fn keys(self) -> Option<&'a Map<String, Json>> {
        self.resolved().at["properties"].as_object()
    }

    /// The keys that must be there.
    pub fn needed(self) -> impl Iterator<Item = &'a str> {
        self.resolved().at["required"].as_array().into_iter().flatten().filter_map(Json::as_str)
    }

    pub fn key(self, key: &str) -> Option<Self> {
        Some(Self { at: self.keys()?.get(key)?, ..self })
    }

    /// What each item may be, where it is a list.
    pub fn item(self) -> Self {
        Self { at: &self.resolved().at["items"], ..self }
    }

    /// What may stand there.
    pub fn at(self, place: &Place) -> Option<Self> {
        place.steps().try_fold(self, |at, step| match at.keys() {
            Some(_) => at.key(step),
            None => Some(at.item()),
        })
    }

    /// Some value of the kind, to read on where none can be used.
    pub fn stand_in(self) -> Json {
        if self.keys().is_some() {
            let keys = self.needed().filter_map(|key| Some((key.to_owned(), self.key(key)?.stand_in())));
            return Json::Object(keys.collect());
        }
        let at = self.resolved().at;
        let known = [&at["enum"][0], &at["oneOf"][0]["const"], &self.at["examples"][0], &at["examples"][0]];
        match known.into_iter().find(|value| !value.is_null()) {
            Some(value) => value.clone(),
            None if at["type"] == "array" => json!([]),
            None => json!(""),
        }
    }
}
