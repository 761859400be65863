//! The JSON Schemas of an action, made from its types.

use std::ops::{Bound, RangeBounds};

use schemars::{
    Schema, SchemaGenerator,
    generate::{Contract, SchemaSettings},
};
use serde::Serialize;

use crate::{
    Object, Value,
    bounds::{Length, Number, Text},
    detail::KEYWORD,
    table::{Outcome, ParamValue},
};

/// Collects an action's parameters, in the order of its declaration.
pub struct Shape {
    generator: SchemaGenerator,
    properties: Object,
    required: Vec<Value>,
}

/// Schema of an action's data; `None` if the type has none.
pub fn data<O: Outcome>() -> Option<Value> {
    let mut generator = generator(Contract::Serialize);
    let schema = O::schema(&mut generator);
    completed(schema, &mut generator)
}

// Not generic, so that a guest contains it once.
fn completed(schema: Schema, generator: &mut SchemaGenerator) -> Option<Value> {
    let mut schema = object(schema);
    let definitions = generator.take_definitions(false);
    if !definitions.is_empty() {
        schema.insert("$defs".into(), definitions.into());
    }
    tidy(&mut schema, None);
    let is_null = schema.len() == 1 && schema.get("type").and_then(Value::as_str) == Some("null");
    (!schema.is_empty() && !is_null).then(|| schema.into())
}

impl Shape {
    pub(crate) fn new() -> Self {
        let generator = generator(Contract::Deserialize);
        Self { generator, properties: Object::new(), required: Vec::new() }
    }

    /// A parameter that must be given.
    pub fn required<T: ParamValue>(&mut self, name: &str, doc: &str) -> Property<'_> {
        self.required.push(name.into());
        self.optional::<T>(name, doc)
    }

    /// Adds an optional parameter.
    pub fn optional<T: ParamValue>(&mut self, name: &str, doc: &str) -> Property<'_> {
        let schema = self.generator.subschema_for::<T>();
        self.add(name, doc, schema)
    }

    /// Adds a parameter with a default.
    pub fn defaulted<T: ParamValue + Serialize>(
        &mut self,
        name: &str,
        doc: &str,
        default: T,
    ) -> Property<'_> {
        let property = self.optional::<T>(name, doc);
        match serde_json::to_value(default) {
            Ok(default) => property.with("default", default),
            Err(_) => property,
        }
    }

    fn add(&mut self, name: &str, doc: &str, schema: Schema) -> Property<'_> {
        let mut schema = object(schema);
        if !doc.is_empty() {
            schema.insert("description".into(), doc.into());
        }
        self.properties.insert(name.into(), schema.into());
        // The last one added; an absent one cannot be, and would only be left without bounds.
        Property(self.properties.get_mut(name).and_then(Value::as_object_mut))
    }

    /// Builds an object schema, described by `about` unless that is empty.
    pub(crate) fn finish(mut self, about: &str) -> Object {
        let mut params = Object::new();
        params.insert("type".into(), "object".into());
        if !about.is_empty() {
            params.insert("description".into(), about.into());
        }
        params.insert("properties".into(), self.properties.into());
        if !self.required.is_empty() {
            params.insert("required".into(), self.required.into());
        }
        params.insert("additionalProperties".into(), false.into());
        let definitions = self.generator.take_definitions(false);
        tidy(&mut params, Some(&definitions));
        params
    }
}

/// A parameter's schema, to which bounds and advice are added.
pub struct Property<'a>(Option<&'a mut Object>);

impl Property<'_> {
    fn with(self, keyword: &str, value: impl Into<Value>) -> Self {
        self.insert(keyword, value.into())
    }

    #[inline(never)]
    fn insert(mut self, keyword: &str, value: Value) -> Self {
        if let Some(schema) = &mut self.0 {
            schema.insert(keyword.to_owned(), value);
        }
        self
    }

    /// Bounds of a number.
    pub fn range<T: Number>(self, range: impl RangeBounds<T::End>) -> Self {
        let end = |bound: Bound<&T::End>| match bound {
            Bound::Included(end) => serde_json::to_value(end).ok().map(|end| (end, true)),
            Bound::Excluded(end) => serde_json::to_value(end).ok().map(|end| (end, false)),
            Bound::Unbounded => None,
        };
        self.ends(end(range.start_bound()), end(range.end_bound()))
    }

    fn ends(mut self, least: Option<(Value, bool)>, most: Option<(Value, bool)>) -> Self {
        if let Some((least, included)) = least {
            self = self.with(if included { "minimum" } else { "exclusiveMinimum" }, least);
        }
        match most {
            None => self,
            Some((most, true)) => self.with("maximum", most),
            // Whole numbers have a greatest one below the end; fewer readers know `exclusiveMaximum`.
            Some((most, false)) => match most.as_i64().and_then(|most| most.checked_sub(1)) {
                Some(most) => self.with("maximum", most),
                None => self.with("exclusiveMaximum", most),
            },
        }
    }

    /// Bounds of a text's characters or of a list's or map's items.
    pub fn length<T: Length>(self, range: impl RangeBounds<u64>) -> Self {
        let [least, most] = T::KEYWORDS;
        let property = match range.start_bound() {
            Bound::Included(&length) => self.with(least, length),
            Bound::Excluded(&length) => self.with(least, length.saturating_add(1)),
            Bound::Unbounded => self,
        };
        match range.end_bound() {
            Bound::Included(&length) => property.with(most, length),
            Bound::Excluded(&length) => property.with(most, length.saturating_sub(1)),
            Bound::Unbounded => property,
        }
    }

    /// A regular expression that the text matches.
    #[expect(clippy::extra_unused_type_parameters, reason = "its bound is the check")]
    pub fn pattern<T: Text>(self, pattern: &str) -> Self {
        self.with("pattern", pattern)
    }

    /// A format of JSON Schema.
    #[expect(clippy::extra_unused_type_parameters, reason = "its bound is the check")]
    pub fn format<T: Text>(self, format: &str) -> Self {
        self.with("format", format)
    }

    /// Advice to the caller.
    pub fn hint(self, hint: &str) -> Self {
        self.with("x-hint", hint)
    }

    /// Marks a confidential value.
    pub fn secret(self) -> Self {
        self.with("writeOnly", true)
    }

    /// An example value.
    pub fn example<T: Serialize>(self, value: T) -> Self {
        match serde_json::to_value(value) {
            Ok(value) => self.add_example(value),
            Err(_) => self,
        }
    }

    fn add_example(mut self, value: Value) -> Self {
        let schema = self
            .0
            .as_mut()
            .map(|schema| schema.entry("examples").or_insert_with(|| Value::Array(Vec::new())));
        if let Some(Value::Array(examples)) = schema {
            examples.push(value);
        }
        self
    }
}

/// Mark of a variant that keeps its place among the others (see the macro `data`).
const OWN: &str = "x-own";

/// Creates a generator that inlines subschemas, as many clients do not follow references; only recursive types become
/// definitions.
pub(crate) fn generator(contract: Contract) -> SchemaGenerator {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
        settings.contract = contract;
    });
    settings.into_generator()
}

/// The schema as an object; `true`, which takes anything, is `{}`.
pub(crate) fn object(schema: Schema) -> Object {
    match schema.to_value() {
        Value::Object(object) => object,
        _ => Object::new(),
    }
}

/// Removes keywords without information for a model: formats that repeat Rust's number types, and `null` as a default.
///
/// With definitions, as for parameters, recursion is cut where a type refers to itself, keeping only its kind: hosts
/// refuse recursive parameters, as clients cannot read them. Deserialisation checks the rest.
pub(crate) fn tidy(schema: &mut Object, definitions: Option<&Object>) {
    if let Some(kind) = definitions.and_then(|definitions| kind_of_reference(schema, definitions)) {
        schema.insert("type".into(), kind.into());
    }
    schema.retain(|keyword, value| match (keyword.as_str(), &*value) {
        ("format", Value::String(format)) => {
            !["int", "uint", "float", "double"].iter().any(|kind| format.starts_with(kind))
        }
        ("default", Value::Null) | (OWN, _) => false,
        // Parameters have no levels, though the type may also be used in results.
        (KEYWORD, Value::String(_) | Value::Bool(_)) => definitions.is_none(),
        ("$ref", _) if definitions.is_some() => false,
        // These hold data, not schemas.
        ("default" | "examples" | "enum" | "const", _) => true,
        _ => {
            tidy_within(value, definitions);
            true
        }
    });
}

/// The `type` of the definition that the schema refers to.
fn kind_of_reference<'d>(schema: &Object, definitions: &'d Object) -> Option<&'d str> {
    let name = schema.get("$ref")?.as_str()?.strip_prefix("#/$defs/")?;
    definitions.get(name)?.as_object()?.get("type")?.as_str()
}

fn tidy_within(value: &mut Value, definitions: Option<&Object>) {
    match value {
        Value::Object(schema) => tidy(schema, definitions),
        Value::Array(items) => items.iter_mut().for_each(|item| tidy_within(item, definitions)),
        _ => {}
    }
}
