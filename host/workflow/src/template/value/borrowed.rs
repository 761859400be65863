//! Values while a template runs: borrowed from its data, its source, or the arena of the run.

use loggia_facade::Object;
use serde_json::Value;

use super::number::ExactNumber;
use crate::template::scope::Scope;

#[derive(Clone, Copy)]
pub(crate) enum TemplateValue<'a> {
    /// Not there. Prints as `null` does, and is told from it where it matters.
    Missing,
    Null,
    Bool(bool),
    Number(ExactNumber),
    Text(&'a str),
    List(&'a [Value]),
    Map(TemplateMap<'a>),
}

/// A map; the root is one with `forEach` put into it.
#[derive(Clone, Copy)]
pub(crate) enum TemplateMap<'a> {
    Plain(&'a Object),
    Root(&'a Scope<'a>),
}

const FOR_EACH: &str = "forEach";

impl<'a> TemplateMap<'a> {
    pub(crate) fn get(self, name: &str) -> Option<&'a Value> {
        match self {
            Self::Plain(object) => object.get(name),
            Self::Root(Scope { for_each: Some(value), .. }) if name == FOR_EACH => Some(value),
            Self::Root(scope) => scope.base.get(name),
        }
    }

    /// What it holds, by name, as Go orders it.
    pub(crate) fn sorted(self) -> Vec<(&'a str, &'a Value)> {
        let mut entries: Vec<_> = self.object().iter().map(|(name, value)| (name.as_str(), value)).collect();
        if let Self::Root(Scope { for_each: Some(value), .. }) = self {
            entries.retain(|(name, _)| *name != FOR_EACH);
            entries.push((FOR_EACH, *value));
        }
        entries.sort_unstable_by_key(|(name, _)| *name);
        entries
    }

    /// The names of what it holds, sorted; of very many, the first so many.
    pub(crate) fn names(self, most: usize) -> Vec<&'a str> {
        let added = match self {
            Self::Root(Scope { for_each: Some(_), .. }) => Some(FOR_EACH),
            _ => None,
        };
        let own = self.object().keys().map(String::as_str).filter(|name| Some(*name) != added);
        let mut names: Vec<&str> = added.into_iter().chain(own).take(most).collect();
        names.sort_unstable();
        names
    }

    pub(crate) fn len(self) -> usize {
        let own = self.object();
        let added =
            matches!(self, Self::Root(Scope { for_each: Some(_), .. }) if !own.contains_key(FOR_EACH));
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
            Value::Number(number) => Self::Number(ExactNumber::of(number)),
            Value::String(text) => Self::Text(text),
            Value::Array(list) => Self::List(list),
            Value::Object(object) => Self::Map(TemplateMap::Plain(object)),
        }
    }
}

impl<'a> TemplateValue<'a> {
    pub(crate) fn int(number: usize) -> Self {
        Self::Number(ExactNumber::Int(number as i128))
    }

    /// Whether there is nothing: `nil`, as Go knows it.
    pub(crate) fn is_nil(self) -> bool {
        matches!(self, Self::Missing | Self::Null)
    }

    /// What `if` takes it for.
    pub(crate) fn is_true(self) -> bool {
        match self {
            Self::Missing | Self::Null => false,
            Self::Bool(bool) => bool,
            Self::Number(number) => number.float() != 0.0,
            Self::Text(text) => !text.is_empty(),
            Self::List(list) => !list.is_empty(),
            Self::Map(map) => map.len() > 0,
        }
    }

    /// As data; `None` for what is missing.
    pub(crate) fn json(self) -> Option<Value> {
        Some(match self {
            Self::Missing => return None,
            Self::Null => Value::Null,
            Self::Bool(bool) => Value::Bool(bool),
            Self::Number(number) => Value::Number(number.json()?),
            Self::Text(text) => Value::String(text.to_owned()),
            Self::List(list) => Value::Array(list.to_vec()),
            Self::Map(TemplateMap::Plain(object)) => Value::Object(object.clone()),
            Self::Map(root) => {
                let entries = root.sorted().into_iter();
                Value::Object(entries.map(|(name, value)| (name.to_owned(), value.clone())).collect())
            }
        })
    }

    /// What it is, in plain words.
    pub(crate) fn kind(self) -> &'static str {
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

    /// What Go calls it, for `%T` and what `printf` cannot print.
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
