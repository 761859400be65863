//! Reads published tools back into their actions and parameters, as a model has to.
//!
//! If this gives what the contract says, then nothing that a first call needs was left out: every action, which
//! parameters it takes, which it requires, their types and the values of each `enum`.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{
    model::{shape::ValueShape, signature::usual_type},
    publish::tool::PublishedTool,
};

/// The type of a value, as a text or a schema gives it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ReadType {
    Any,
    Boolean,
    Integer,
    Number,
    Text,
    Words(Vec<String>),
    List(Box<ReadType>),
    /// An object without known members.
    Free,
    /// Members, and the type of further ones unless they may be anything.
    Record(BTreeMap<String, ReadParameter>, Option<Box<ReadType>>),
    /// Sorted.
    Union(Vec<ReadType>),
}

/// A parameter, or a member of an object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ReadParameter {
    pub(crate) required: bool,
    pub(crate) kind: ReadType,
}

/// The parameters of each action.
pub(crate) type ReadActions = BTreeMap<String, BTreeMap<String, ReadParameter>>;

impl ReadType {
    /// What a reader of the shape would get.
    pub(crate) fn of_shape(shape: &ValueShape) -> Self {
        match shape {
            ValueShape::Any => Self::Any,
            ValueShape::Boolean => Self::Boolean,
            ValueShape::Number { integer } => {
                if *integer {
                    Self::Integer
                } else {
                    Self::Number
                }
            }
            ValueShape::Text(None) => Self::Text,
            ValueShape::Text(Some(values)) => Self::words(values.clone()),
            ValueShape::List(items) => Self::List(Box::new(Self::of_shape(items))),
            ValueShape::Record { members, others } => {
                let members = members.iter().map(|member| {
                    let kind = Self::of_shape(&member.shape);
                    (member.name.clone(), ReadParameter { required: member.required, kind })
                });
                Self::record(members.collect(), others.as_deref().map(Self::of_shape))
            }
            ValueShape::Union(shapes) => Self::union(shapes.iter().map(Self::of_shape).collect()),
        }
    }

    /// Clients reject an `enum` with an empty string, so its values are in the text.
    fn words(values: Vec<String>) -> Self {
        if values.iter().any(String::is_empty) { Self::Text } else { Self::Words(values) }
    }

    fn record(members: BTreeMap<String, ReadParameter>, others: Option<Self>) -> Self {
        match others.filter(|others| *others != Self::Any) {
            None if members.is_empty() => Self::Free,
            others => Self::Record(members, others.map(Box::new)),
        }
    }

    fn union(mut kinds: Vec<Self>) -> Self {
        kinds.sort();
        if kinds.len() == 1 { kinds.remove(0) } else { Self::Union(kinds) }
    }

    /// Whether this is the other type, or it with less detail: nested objects without members, and the beginning of a long
    /// `enum`. The `signatures` form abbreviates these.
    pub(crate) fn abbreviates(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Free, Self::Record(..)) => true,
            (Self::Words(some), Self::Words(all)) => {
                some == all
                    || some.split_last().is_some_and(|(last, some)| last == "…" && all.starts_with(some))
            }
            (Self::List(one), Self::List(other)) => one.abbreviates(other),
            (Self::Union(some), Self::Union(others)) => {
                some.len() == others.len()
                    && some.iter().all(|one| others.iter().any(|other| one.abbreviates(other)))
            }
            (Self::Record(some, one), Self::Record(others, other)) => {
                some.len() == others.len()
                    && some.iter().all(|(name, one)| {
                        others.get(name).is_some_and(|other| {
                            one.required == other.required && one.kind.abbreviates(&other.kind)
                        })
                    })
                    && one.is_some() == other.is_some()
            }
            (one, other) => one == other,
        }
    }
}

/// Reads a tool in the form `flat`.
pub(crate) fn read_flat(tool: &PublishedTool) -> ReadActions {
    let properties = tool.input_schema["properties"].as_object().unwrap();
    let schemas = SchemaReader { properties };
    let spilled = properties["action"].get("description").and_then(Value::as_str).unwrap_or_default();
    let lines = tool.description.lines().skip(1).chain(spilled.lines());
    let read = |line: &str| {
        let mut text = TextReader { rest: line, schemas: Some(&schemas), known: None };
        let (names, members, _) = text.call();
        let [name] = names.try_into().unwrap();
        let parameter = |(name, required, kind): (String, bool, Option<ReadType>)| {
            let kind = kind.unwrap_or_else(|| schemas.parameter(&name));
            (name, ReadParameter { required, kind })
        };
        (name, members.into_iter().map(parameter).collect())
    };
    let out: ReadActions = lines.map(read).collect();
    for action in out.keys() {
        assert!(
            properties["action"]["enum"].as_array().unwrap().contains(&action.as_str().into()),
            "{action}"
        );
    }
    out
}

/// Reads a tool in the form `signatures`, with its host actions.
pub(crate) fn read_signatures(tool: &PublishedTool) -> ReadActions {
    let properties = tool.input_schema["properties"].as_object().unwrap();
    let spilled = properties["params"].get("description").and_then(Value::as_str).unwrap_or_default();
    let text = tool.description.split_once('\n').map(|(_, text)| text).unwrap_or_default();
    let mut known = BTreeMap::new();
    let mut out = ReadActions::new();
    for text in [text, spilled] {
        let mut text = TextReader { rest: text, schemas: None, known: Some(&mut known) };
        while !text.rest.is_empty() && !text.take("also ") {
            text.take("[destructive] ");
            let (names, members, _) = text.call();
            let parameters: BTreeMap<_, _> = members
                .into_iter()
                .map(|(name, required, kind)| (name, ReadParameter { required, kind: kind.unwrap() }))
                .collect();
            for name in names {
                assert!(out.insert(name.clone(), parameters.clone()).is_none(), "{name} twice");
            }
            assert!(text.take("; ") || text.rest.is_empty(), "no `; ` at `{}`", text.rest);
        }
    }
    out
}

fn usual(name: &str) -> ReadType {
    match usual_type(name) {
        "integer" => ReadType::Integer,
        "boolean" => ReadType::Boolean,
        "string[]" => ReadType::List(Box::new(ReadType::Text)),
        _ => ReadType::Text,
    }
}

/// Reads the properties of a tool.
struct SchemaReader<'a> {
    properties: &'a serde_json::Map<String, Value>,
}

impl SchemaReader<'_> {
    fn parameter(&self, name: &str) -> ReadType {
        self.schema(self.properties.get(name).unwrap_or_else(|| panic!("`{name}` is no property")))
    }

    fn schema(&self, schema: &Value) -> ReadType {
        if let Some(shapes) = schema.get("anyOf") {
            return ReadType::union(
                shapes.as_array().unwrap().iter().map(|shape| self.schema(shape)).collect(),
            );
        }
        if let Some(values) = schema.get("enum") {
            return ReadType::words(serde_json::from_value(values.clone()).unwrap());
        }
        // What nests deeper is a type at the beginning of the description.
        let is_open = |schema: &Value| schema.get("additionalProperties") == Some(&Value::Bool(true));
        if is_open(schema) || schema.get("items").is_some_and(is_open) {
            let text = schema["description"].as_str().unwrap();
            return TextReader { rest: text, schemas: Some(self), known: None }.kind();
        }
        match schema.get("type").and_then(Value::as_str) {
            None => ReadType::Any,
            Some("boolean") => ReadType::Boolean,
            Some("integer") => ReadType::Integer,
            Some("number") => ReadType::Number,
            Some("string") => ReadType::Text,
            Some("array") => ReadType::List(Box::new(self.schema(&schema["items"]))),
            Some("object") => {
                let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
                let members = schema["properties"].as_object().unwrap().iter().map(|(name, schema)| {
                    let required = required.contains(&name.as_str().into());
                    (name.clone(), ReadParameter { required, kind: self.schema(schema) })
                });
                let others = schema.get("additionalProperties").map(|others| self.schema(others));
                ReadType::record(members.collect(), others)
            }
            Some(other) => panic!("{other}"),
        }
    }
}

/// A name, whether it is required, and its type if the text gives one.
type ReadMember = (String, bool, Option<ReadType>);

/// Reads the TypeScript-like notation.
struct TextReader<'a> {
    rest: &'a str,
    schemas: Option<&'a SchemaReader<'a>>,
    /// The last types of names, where those without a type have it.
    known: Option<&'a mut BTreeMap<String, ReadType>>,
}

impl TextReader<'_> {
    /// `name(member, …)`, or `one|other(member, …)`
    fn call(&mut self) -> (Vec<String>, Vec<ReadMember>, Option<ReadType>) {
        let mut names = vec![self.name()];
        while self.take("|") {
            names.push(self.name());
        }
        self.expect("(");
        let (members, others) = self.members(")");
        (names, members, others)
    }

    fn expect(&mut self, token: &str) {
        assert!(self.take(token), "`{token}` is missing at `{}`", self.rest);
    }

    fn take(&mut self, token: &str) -> bool {
        let rest = self.rest.strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// A name or a word, in quotes unless it is plain.
    fn name(&mut self) -> String {
        self.word(&[',', '?', ':', ')', '(', '}', '|', '[', ']', ' '])
    }

    fn word(&mut self, ends: &[char]) -> String {
        if self.rest.starts_with('"') {
            let mut values = serde_json::Deserializer::from_str(self.rest).into_iter::<String>();
            let name = values.next().unwrap().unwrap();
            self.rest = &self.rest[values.byte_offset()..];
            return name;
        }
        let end = self.rest.find(ends).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        assert!(!name.is_empty(), "a name is missing at `{rest}`");
        self.rest = rest;
        name.to_owned()
    }

    fn members(&mut self, end: &str) -> (Vec<ReadMember>, Option<ReadType>) {
        let (mut out, mut others) = (Vec::new(), None);
        while !self.take(end) {
            if self.take("[name]: ") {
                others = Some(self.kind());
            } else {
                let name = self.name();
                let required = !self.take("?");
                let kind = self.take(": ").then(|| self.kind());
                let kind = match &mut self.known {
                    Some(known) => {
                        let last = || known.get(&name).cloned().unwrap_or_else(|| usual(&name));
                        let kind = kind.unwrap_or_else(last);
                        known.insert(name.clone(), kind.clone());
                        Some(kind)
                    }
                    None => kind,
                };
                out.push((name, required, kind));
            }
            let _ = self.take(", ");
        }
        (out, others)
    }

    fn kind(&mut self) -> ReadType {
        let (mut kinds, mut words) = (Vec::new(), Vec::new());
        loop {
            self.alternative(&mut kinds, &mut words);
            if !self.take("|") {
                break;
            }
        }
        if !words.is_empty() {
            kinds.push(ReadType::words(words));
        }
        ReadType::union(kinds)
    }

    fn alternative(&mut self, kinds: &mut Vec<ReadType>, words: &mut Vec<String>) {
        let is_quoted = self.rest.starts_with('"');
        let mut kind = if self.take("(") {
            let kind = self.kind();
            self.expect(")");
            kind
        } else if self.take("{") {
            let (members, others) = self.members("}");
            let members = members.into_iter().map(|(name, required, kind)| {
                let kind = kind.unwrap_or_else(|| usual(&name));
                (name, ReadParameter { required, kind })
            });
            ReadType::record(members.collect(), others)
        } else if self.take("typeof ") {
            let name = self.name();
            self.schemas.expect("properties").parameter(&name)
        } else {
            let word = self.word(&[',', ')', '}', '|', '[', ' ']);
            match word.as_str() {
                "any" if !is_quoted => ReadType::Any,
                "boolean" if !is_quoted => ReadType::Boolean,
                "integer" if !is_quoted => ReadType::Integer,
                "number" if !is_quoted => ReadType::Number,
                "string" if !is_quoted => ReadType::Text,
                "object" if !is_quoted => ReadType::Free,
                _ => return words.push(word),
            }
        };
        while self.take("[]") {
            kind = ReadType::List(Box::new(kind));
        }
        kinds.push(kind);
    }
}
