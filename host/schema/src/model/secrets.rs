//! The parts of a call's parameters that must never be shown: not in errors, not in `resolved_inputs`.
//!
//! Authors mark a schema with `writeOnly`, `x-secret` or `format: password`. Values under such a schema are hidden;
//! enclosing values are shown without them. If it is unclear which schema applies to a value (alternatives, undefined
//! members, a string where an object is expected), the value is hidden.

use jsonschema::paths::{Location, LocationSegment};
use loggia_facade::Object;
use serde_json::Value;

use crate::model::{
    keywords::{self, SubschemaLayout},
    resolve::resolve,
};

/// Replaces a secret value.
pub const REDACTED: &str = "(redacted)";

/// Replaces the values that a schema marks as secret by [`REDACTED`]. If the schema is unusable, the whole value is
/// replaced.
#[must_use]
pub fn redact(schema: &Object, value: &Value) -> Value {
    match resolve(schema) {
        Ok(schema) => SecretMap::from_schema(&schema).redact(value),
        Err(_) => REDACTED.into(),
    }
}

/// The secret places in values of one schema.
#[derive(Debug, Default, Clone)]
pub(crate) struct SecretMap {
    /// The value itself is secret.
    is_secret: bool,
    /// Named members, including those without secrets: members that are not listed are hidden.
    members: Vec<(String, Self)>,
    /// Members covered by `additionalProperties`.
    others: Option<Box<Self>>,
    /// Members covered by `patternProperties`.
    patterns: Option<Box<Self>>,
    /// Items of a list.
    items: Option<Box<Self>>,
}

/// The part of a value that may be shown.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ValueVisibility<'a> {
    /// All of it.
    Whole,
    /// Everything but its secrets.
    Without(&'a SecretMap),
    /// Nothing, not even its length.
    Hidden,
}

impl SecretMap {
    /// Collects the secrets of a resolved schema.
    pub(crate) fn from_schema(schema: &Value) -> Self {
        let mut out = Self::default();
        out.read(schema);
        // Most schemas have none; an empty map ends every search at once.
        if out.has_secrets() { out } else { Self::default() }
    }

    fn read(&mut self, schema: &Value) {
        let Value::Object(schema) = schema else { return };
        self.is_secret |= is_marked(schema);
        let mut has_applicators = false;
        for (keyword, value) in schema {
            match keyword.as_str() {
                "properties" => {
                    for (name, value) in value.as_object().into_iter().flatten() {
                        self.member_mut(name).read(value);
                    }
                }
                "patternProperties" => {
                    let patterns = self.patterns.get_or_insert_default();
                    value.as_object().into_iter().flatten().for_each(|(_, value)| patterns.read(value));
                }
                "additionalProperties" | "unevaluatedProperties" if *value != Value::Bool(false) => {
                    self.others.get_or_insert_default().read(value);
                }
                // It applies to names, and names are shown.
                "propertyNames" => self.is_secret |= value.as_object().is_some_and(is_marked),
                "items" | "contains" | "unevaluatedItems" => self.items.get_or_insert_default().read(value),
                "prefixItems" => {
                    let items = self.items.get_or_insert_default();
                    value.as_array().into_iter().flatten().for_each(|value| items.read(value));
                }
                // All other subschemas apply to the same value.
                _ => match (keywords::subschemas(keyword), value) {
                    (Some(SubschemaLayout::One), value) => {
                        has_applicators = true;
                        self.read(value);
                    }
                    (Some(SubschemaLayout::Map), Value::Object(map)) => {
                        has_applicators = true;
                        map.values().for_each(|value| self.read(value));
                    }
                    (Some(SubschemaLayout::List), Value::Array(list)) => {
                        has_applicators = true;
                        list.iter().for_each(|value| self.read(value));
                    }
                    _ => {}
                },
            }
        }
        self.propagate(has_applicators);
    }

    /// Applies to named members what covers them without naming them.
    fn propagate(&mut self, has_applicators: bool) {
        let patterns = self.patterns.clone().filter(|patterns| patterns.has_secrets());
        // Within one schema, `additionalProperties` does not cover named members; of several schemas, one may name a
        // member that another does not.
        let others = self.others.clone().filter(|others| has_applicators && others.has_secrets());
        for all in [patterns, others].into_iter().flatten() {
            self.members.iter_mut().for_each(|(_, member)| member.merge(&all));
        }
    }

    fn member_mut(&mut self, name: &str) -> &mut Self {
        let index = self.members.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
            self.members.push((name.to_owned(), Self::default()));
            self.members.len() - 1
        });
        &mut self.members[index].1
    }

    fn merge(&mut self, other: &Self) {
        self.is_secret |= other.is_secret;
        for (name, member) in &other.members {
            self.member_mut(name).merge(member);
        }
        for (own, other) in [
            (&mut self.others, &other.others),
            (&mut self.patterns, &other.patterns),
            (&mut self.items, &other.items),
        ] {
            if let Some(other) = other {
                own.get_or_insert_default().merge(other);
            }
        }
    }

    /// Whether there are any secrets.
    pub(crate) fn has_secrets(&self) -> bool {
        let inner = [&self.others, &self.patterns, &self.items];
        self.is_secret
            || self.members.iter().any(|(_, member)| member.has_secrets())
            || inner.into_iter().flatten().any(|inner| inner.has_secrets())
    }

    fn knows_members(&self) -> bool {
        !self.members.is_empty() || self.others.is_some() || self.patterns.is_some()
    }

    /// The secrets of a member; none if no schema covers it.
    fn member(&self, name: &str) -> Option<&Self> {
        let named = self.members.iter().find(|(known, _)| known == name).map(|(_, member)| member);
        named
            .or(self.others.as_deref().filter(|others| others.has_secrets()))
            .or(self.patterns.as_deref())
            .or(self.others.as_deref())
    }

    /// Returns what may be shown of the value at a place.
    pub(crate) fn visibility_at(&self, place: &Location) -> ValueVisibility<'_> {
        let mut within = self;
        for segment in place.segments() {
            if within.is_secret {
                return ValueVisibility::Hidden;
            }
            if !within.has_secrets() {
                return ValueVisibility::Whole;
            }
            within = match within.descend(&segment) {
                Some(inner) => inner,
                None => return ValueVisibility::Hidden,
            };
        }
        within.visibility()
    }

    /// Returns what may be shown of a parameter.
    pub(crate) fn parameter_visibility(&self, name: &str) -> ValueVisibility<'_> {
        match self.member(name) {
            _ if !self.has_secrets() => ValueVisibility::Whole,
            _ if self.is_secret => ValueVisibility::Hidden,
            Some(member) => member.visibility(),
            None => ValueVisibility::Hidden,
        }
    }

    fn visibility(&self) -> ValueVisibility<'_> {
        match (self.is_secret, self.has_secrets()) {
            (true, _) => ValueVisibility::Hidden,
            (false, true) => ValueVisibility::Without(self),
            (false, false) => ValueVisibility::Whole,
        }
    }

    /// Counts the leading segments of a place that may be named: below a secret, names are part of it.
    pub(crate) fn nameable_segments(&self, place: &Location) -> usize {
        let mut within = Some(self);
        let mut count = 0;
        for segment in place.segments() {
            match within {
                Some(secrets) if secrets.is_secret => return count,
                Some(secrets) => within = secrets.descend(&segment),
                None => {}
            }
            count += 1;
        }
        count
    }

    fn descend(&self, segment: &LocationSegment<'_>) -> Option<&Self> {
        match segment {
            LocationSegment::Property(name) => self.member(name),
            LocationSegment::Index(_) => self.items.as_deref(),
        }
    }

    /// Replaces the secrets of a value.
    fn redact(&self, value: &Value) -> Value {
        match value {
            value if !self.has_secrets() => value.clone(),
            Value::Null | Value::Bool(_) if !self.is_secret => value.clone(),
            Value::Object(members) if !self.is_secret && self.knows_members() => members
                .iter()
                .map(|(name, value)| {
                    let shown =
                        self.member(name).map_or_else(|| REDACTED.into(), |secrets| secrets.redact(value));
                    (name.clone(), shown)
                })
                .collect(),
            Value::Array(items) if !self.is_secret && self.items.is_some() => items
                .iter()
                .map(|item| self.items.as_ref().map_or(Value::Null, |secrets| secrets.redact(item)))
                .collect(),
            _ => REDACTED.into(),
        }
    }
}

impl ValueVisibility<'_> {
    /// Returns the part of a value that may be shown, if any.
    pub(crate) fn reveal(self, value: &Value) -> Option<Value> {
        match self {
            Self::Whole => Some(value.clone()),
            Self::Hidden => None,
            Self::Without(secrets) => Some(secrets.redact(value)).filter(|shown| *shown != REDACTED),
        }
    }
}

/// Whether any schema in an object is marked as secret, including those that nothing refers to.
pub(crate) fn has_marks(schema: &Object) -> bool {
    fn in_value(value: &Value) -> bool {
        match value {
            Value::Array(items) => items.iter().any(in_value),
            Value::Object(members) => has_marks(members),
            _ => false,
        }
    }
    is_marked(schema) || schema.values().any(in_value)
}

/// Whether an author marks values as secret.
fn is_marked(schema: &Object) -> bool {
    schema.get("writeOnly") == Some(&Value::Bool(true))
        || schema.get("x-secret") == Some(&Value::Bool(true))
        || schema.get("format").and_then(Value::as_str) == Some("password")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Checks the part of the parameter `p` that is shown.
    fn check(schema: Value, sent: Value, expected: Value) {
        let root = json!({"type": "object", "properties": {"p": schema}, "additionalProperties": false});
        let shown = SecretMap::from_schema(&root)
            .parameter_visibility("p")
            .reveal(&sent)
            .unwrap_or_else(|| REDACTED.into());
        assert_eq!(shown, expected, "{sent} by {schema}");
    }

    #[test]
    fn marked_values_are_hidden_and_their_siblings_shown() {
        let secret = json!({"type": "string", "writeOnly": true});
        let user = json!({"type": "object", "properties": {"name": {"type": "string"}, "pin": secret}});
        check(json!({"type": "string"}), json!("x"), json!("x"));
        for mark in [json!({"writeOnly": true}), json!({"x-secret": true}), json!({"format": "password"})] {
            check(mark, json!({"a": 1}), json!(REDACTED));
        }
        check(json!({"writeOnly": false, "x-secret": "no"}), json!("x"), json!("x"));
        check(user.clone(), json!({"name": "n", "pin": "s"}), json!({"name": "n", "pin": REDACTED}));
        let users = json!({"type": "array", "items": user});
        check(users.clone(), json!([{"name": "n", "pin": "s"}]), json!([{"name": "n", "pin": REDACTED}]));
        // An unknown member may be a misspelt secret, and a string may contain one.
        check(user.clone(), json!({"name": "n", "pim": "s"}), json!({"name": "n", "pim": REDACTED}));
        check(user.clone(), json!("{\"pin\": \"s\"}"), json!(REDACTED));
        check(user, json!(["s"]), json!(REDACTED));
        check(users.clone(), json!({"s": 1}), json!(REDACTED));
        check(users, json!(12345), json!(REDACTED));
    }

    #[test]
    fn redact_follows_references_and_hides_all_for_an_invalid_schema() {
        let params = json!({"name": "n", "login": {"pin": "s"}});
        for (login, expected) in [
            (json!({"$ref": "#/$defs/login"}), json!({"name": "n", "login": {"pin": REDACTED}})),
            (json!({"$ref": "#/$defs/nothing"}), json!(REDACTED)),
            (json!({}), params.clone()),
        ] {
            let schema = json!({"type": "object", "properties": {"name": {}, "login": login},
                "$defs": {"login": {"properties": {"pin": {"writeOnly": true}}}}});
            assert_eq!(redact(schema.as_object().unwrap(), &params), expected, "{schema}");
        }
    }

    #[test]
    fn every_applicable_subschema_can_mark_a_value() {
        let secret = json!({"writeOnly": true});
        let hidden = json!({"a": REDACTED});
        for schema in [
            json!({"additionalProperties": secret}),
            json!({"patternProperties": {"^a": secret}, "properties": {"a": {}}}),
            json!({"unevaluatedProperties": secret}),
            json!({"allOf": [{"properties": {"a": {}}}, {"properties": {"a": secret}}]}),
            json!({"anyOf": [{"properties": {"a": {}}}, {"additionalProperties": secret}]}),
            json!({"oneOf": [{"type": "null"}, {"properties": {"a": secret}}]}),
            json!({"if": {"required": ["b"]}, "then": {"properties": {"a": secret}}, "properties": {"a": {}}}),
            json!({"dependentSchemas": {"b": {"properties": {"a": secret}}}, "properties": {"a": {}}}),
            json!({"properties": {"a": {"anyOf": [{"type": "integer"}, secret]}}}),
        ] {
            check(schema, json!({"a": "s"}), hidden.clone());
        }
        for schema in [
            json!({"prefixItems": [secret]}),
            json!({"contains": secret}),
            json!({"unevaluatedItems": secret}),
        ] {
            check(schema, json!(["s"]), json!([REDACTED]));
        }
    }
}
