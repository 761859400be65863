//! The call whose refusal is explained.

use jsonschema::ValidationError;
use serde_json::Value;

use crate::{
    contract::rules::ActionRules,
    model::{keywords, secrets::ValueVisibility},
    text::{near, path, show},
};

/// Other actions with a parameter that are looked for: one more than a message names.
pub(crate) const OWNERS: usize = 5;
/// Characters of a path that a message shows.
const PATH: usize = 200;

/// A refused call: its parameters, and what the explanation may refer to.
pub(crate) struct ErrorContext<'a> {
    pub(crate) rules: &'a ActionRules,
    pub(crate) action: &'a str,
    pub(crate) instance: &'a Value,
    /// Returns the names of other actions that have a parameter of this name, up to [`OWNERS`].
    pub(crate) owners: &'a dyn Fn(&str) -> Vec<&'a str>,
    /// Hides all values that were sent: they include parameters of other actions, which may be secret.
    pub(crate) discreet: bool,
}

impl<'a> ErrorContext<'a> {
    /// The schema that holds the violated keyword.
    pub(crate) fn schema(&self, error: &ValidationError<'_>) -> Option<&'a Value> {
        let path = error.schema_path().as_str();
        let (parent, _) = path.rsplit_once('/')?;
        self.rules.schema.pointer(parent)
    }

    /// ` (got "standard")`; empty for a secret.
    pub(crate) fn got(&self, error: &ValidationError<'_>) -> String {
        match self.rules.secrets.visibility_at(error.instance_path()) {
            _ if self.discreet => String::new(),
            // No copy: the value may be large.
            ValueVisibility::Whole => format!(" (got {})", show::value(error.instance())),
            sight => sight
                .reveal(error.instance())
                .map_or_else(String::new, |shown| format!(" (got {})", show::value(&shown))),
        }
    }

    /// Whether the refused value must be hidden altogether.
    pub(crate) fn is_secret(&self, error: &ValidationError<'_>) -> bool {
        matches!(self.rules.secrets.visibility_at(error.instance_path()), ValueVisibility::Hidden)
    }

    /// The subject of a message about an error.
    pub(crate) fn subject(&self, error: &ValidationError<'_>) -> String {
        let path = self.path(error);
        let place = error.instance_path();
        let part = self.rules.secrets.nameable_segments(place) < place.segments().count();
        match path.as_str() {
            "" => "the call".to_owned(),
            path if part => format!("a part of `{path}`"),
            path => format!("`{path}`"),
        }
    }

    /// The path of an error: `items[3].name`. It ends before the members of a secret.
    pub(crate) fn path(&self, error: &ValidationError<'_>) -> String {
        let place = error.instance_path();
        let mut shown = String::new();
        for segment in place.segments().take(self.rules.secrets.nameable_segments(place)) {
            path::push(&mut shown, &segment);
        }
        show::cut(&shown, PATH)
    }

    /// The author's advice in the violated schema, or in the nearest schema around it.
    pub(crate) fn hint(&self, error: &ValidationError<'_>) -> Option<String> {
        let mut path = error.schema_path().as_str();
        while let Some((parent, _)) = path.rsplit_once('/') {
            path = parent;
            // The keys of these objects are names, not keywords.
            let names = matches!(
                path.rsplit('/').next(),
                Some("properties" | "patternProperties" | "dependentSchemas")
            );
            let advice = self.rules.schema.pointer(path).filter(|_| !names).and_then(keywords::advice);
            if advice.is_some() {
                return advice;
            }
        }
        None
    }

    /// A message about a parameter that this action does not have, with the actions that have it and the nearest name.
    pub(crate) fn unknown_parameter(&self, name: &str) -> String {
        let shown = show::name(name);
        let owners = (self.owners)(name);
        let own = self.rules.parameters().iter().map(|member| member.name.as_str());
        // The unknown name cannot stand for a parameter that was sent too. One with a default may have been filled in.
        let left = own.filter(|name| self.instance.get(name).is_none() || self.has_default(name));
        let near = near::nearest(name, left)
            .or_else(|| near::nearest(name, ["detail", "wait", "confirm", "params"]));
        let few: Vec<&str> = owners.iter().take(OWNERS - 1).copied().collect();
        let more = if owners.len() > few.len() { " and others" } else { "" };
        let owners = show::names(&few, if more.is_empty() { "and" } else { "," }).replace(" , ", ", ");
        let clue = match (few.is_empty(), near) {
            (true, None) => String::new(),
            (true, Some(near)) => format!(" (did you mean `{near}`?)"),
            (false, None) => format!(" (it belongs to {owners}{more})"),
            (false, Some(near)) => format!(" (it belongs to {owners}{more}; did you mean `{near}`?)"),
        };
        format!("`{shown}` is not a parameter of `{}`{clue}", self.action)
    }

    fn has_default(&self, name: &str) -> bool {
        let schema = self.rules.schema.as_object().and_then(|root| keywords::property(root, name));
        schema.is_some_and(|schema| schema.get("default").is_some())
    }

    /// Whether any part of the schema defines a parameter of this name.
    pub(crate) fn defines(&self, name: &str) -> bool {
        let root = self.rules.schema.as_object();
        self.rules.has(name) || root.is_some_and(|root| keywords::property(root, name).is_some())
    }
}
