//! Values during evaluation, borrowed from data, source or arena.

use loggia_facade::Object;
use serde_json::Value;

use super::number::ExactNumber;
use crate::template::scope::TemplateScope;

#[derive(Clone, Copy)]
pub(crate) enum TemplateValue<'a> {
    /// Missing. Prints like `null`, but strict mode distinguishes the two.
    Missing,
    Null,
    Bool(bool),
    Number(ExactNumber),
    Text(&'a str),
    List(&'a [Value]),
    Map(TemplateMap<'a>),
}

/// Map; the root may have `forEach` added.
#[derive(Clone, Copy)]
pub(crate) enum TemplateMap<'a> {
    Plain(&'a Object),
    Root(&'a TemplateScope<'a>),
}

const FOR_EACH: &str = "forEach";

impl<'a> TemplateMap<'a> {
    pub(crate) fn get(self, name: &str) -> Option<&'a Value> {
        match self {
            Self::Plain(object) => object.get(name),
            Self::Root(TemplateScope { for_each: Some(value), .. }) if name == FOR_EACH => Some(value),
            Self::Root(scope) => scope.base.get(name),
        }
    }

    /// Returns the members sorted by name, in Go's order.
    pub(crate) fn sorted(self) -> Vec<(&'a str, &'a Value)> {
        let mut entries: Vec<_> = self.object().iter().map(|(name, value)| (name.as_str(), value)).collect();
        if let Self::Root(TemplateScope { for_each: Some(value), .. }) = self {
            entries.retain(|(name, _)| *name != FOR_EACH);
            entries.push((FOR_EACH, *value));
        }
        entries.sort_unstable_by_key(|(name, _)| *name);
        entries
    }

    /// Returns the names, sorted; of large maps only the first `most`.
    pub(crate) fn names(self, most: usize) -> Vec<&'a str> {
        let added = match self {
            Self::Root(TemplateScope { for_each: Some(_), .. }) => Some(FOR_EACH),
            _ => None,
        };
        let own = self.object().keys().map(String::as_str).filter(|name| Some(*name) != added);
        let mut names: Vec<&str> = added.into_iter().chain(own).take(most).collect();
        names.sort_unstable();
        names
    }

    pub(crate) fn len(self) -> usize {
        let own = self.object();
        let added = matches!(self, Self::Root(TemplateScope { for_each: Some(_), .. }) if !own.contains_key(FOR_EACH));
        own.len() + usize::from(added)
    }

    fn object(self) -> &'a Object {
        match self {
            Self::Plain(object) => object,
            Self::Root(scope) => scope.base,
        }
    }
}

impl<'a> From<&'a Value> for TemplateValue<'a> {
    fn from(value: &'a Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(bool) => Self::Bool(*bool),
            Value::Number(number) => Self::Number(ExactNumber::from_json(number)),
            Value::String(text) => Self::Text(text),
            Value::Array(list) => Self::List(list),
            Value::Object(object) => Self::Map(TemplateMap::Plain(object)),
        }
    }
}

impl<'a> TemplateValue<'a> {
    pub(crate) fn from_usize(number: usize) -> Self {
        Self::Number(ExactNumber::Int(number as i128))
    }

    /// Returns true for Go's `nil`.
    pub(crate) fn is_nil(self) -> bool {
        matches!(self, Self::Missing | Self::Null)
    }

    /// Returns the truth value for `if`.
    pub(crate) fn is_true(self) -> bool {
        match self {
            Self::Missing | Self::Null => false,
            Self::Bool(bool) => bool,
            Self::Number(number) => number.to_f64() != 0.0,
            Self::Text(text) => !text.is_empty(),
            Self::List(list) => !list.is_empty(),
            Self::Map(map) => map.len() > 0,
        }
    }

    /// Converts to JSON; `None` for a missing value.
    pub(crate) fn to_json(self) -> Option<Value> {
        Some(match self {
            Self::Missing => return None,
            Self::Null => Value::Null,
            Self::Bool(bool) => Value::Bool(bool),
            Self::Number(number) => Value::Number(number.to_json()?),
            Self::Text(text) => Value::String(text.to_owned()),
            Self::List(list) => Value::Array(list.to_vec()),
            Self::Map(TemplateMap::Plain(object)) => Value::Object(object.clone()),
            Self::Map(root) => {
                let entries = root.sorted().into_iter();
                Value::Object(entries.map(|(name, value)| (name.to_owned(), value.clone())).collect())
            }
        })
    }

    /// Describes the kind of value in plain words.
    pub(crate) fn kind_name(self) -> &'static str {
        match self {
            Self::Missing => "a missing value",
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::Text(_) => "a string",
            Self::List(_) => "a list",
            Self::Map(_) => "an object",
        }
    }

    /// Returns the Go type, for `%T` and for mismatched verbs.
    pub(crate) fn go_type(self) -> &'static str {
        match self {
            Self::Missing | Self::Null => "<nil>",
            Self::Bool(_) => "bool",
            Self::Number(ExactNumber::Int(_)) => "int",
            Self::Number(ExactNumber::Float(_)) => "float64",
            Self::Text(_) => "string",
            Self::List(_) => "[]interface {}",
            Self::Map(_) => "map[string]interface {}",
        }
    }
}
