//! Schemas of OpenAPI 3.0 and 3.1 as bounded JSON Schema 2020-12 without references.
//!
//! A schema is converted whole first, then with ever less depth and ever shorter texts until it fits. What is cut accepts
//! anything of its type: the API itself still checks it.

use loggia_facade::Object;
use serde_json::{Value, json};

use super::{constraints, merge::merge_all, texts};
use crate::{limits, source::OpenApiDocument};

/// Which side of an exchange a schema describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SchemaSide {
    /// Parameters and bodies of requests: everything that a caller must know.
    Request,
    /// Bodies of responses: their shape only, since APIs keep to little more.
    Response,
}

/// How much of a schema is kept.
#[derive(Clone, Copy)]
struct DetailLevel {
    /// Levels of objects and lists.
    depth: usize,
    /// Bytes of descriptions below the first level.
    text: usize,
}

const fn level(depth: usize, text: usize) -> DetailLevel {
    DetailLevel { depth, text }
}

/// From everything to next to nothing.
const REQUEST: [DetailLevel; 9] = [
    level(8, 300),
    level(8, 120),
    level(6, 120),
    level(5, 80),
    level(4, 80),
    level(3, 60),
    level(2, 60),
    level(1, 60),
    level(0, 0),
];
const RESPONSE: [DetailLevel; 4] = [level(5, 0), level(4, 0), level(3, 0), level(2, 0)];

/// Converts a schema. The result has at most `most` bytes as JSON, or is a schema that accepts anything of the type.
pub(super) fn convert(document: &OpenApiDocument, schema: &Value, side: SchemaSide, most: usize) -> Value {
    fitted(document, schema, side, most).unwrap_or_else(|| {
        let mut conversion = Conversion::new(document, side, level(0, 0));
        conversion.bare(schema)
    })
}

/// Converts a schema if some of it fits.
pub(super) fn fitted(
    document: &OpenApiDocument,
    schema: &Value,
    side: SchemaSide,
    most: usize,
) -> Option<Value> {
    let levels: &[DetailLevel] = if side == SchemaSide::Request { &REQUEST } else { &RESPONSE };
    levels.iter().find_map(|level| {
        let mut conversion = Conversion::new(document, side, *level);
        let converted = conversion.schema(schema, 0)?;
        (converted.to_string().len() <= most).then_some(converted)
    })
}

struct Conversion<'a> {
    document: &'a OpenApiDocument,
    side: SchemaSide,
    detail: DetailLevel,
    /// References being followed, outermost first.
    open: Vec<&'a str>,
    subschemas: usize,
}

impl<'a> Conversion<'a> {
    fn new(document: &'a OpenApiDocument, side: SchemaSide, detail: DetailLevel) -> Self {
        Self { document, side, detail, open: Vec::new(), subschemas: 0 }
    }

    /// Converts one schema; `None` if the whole has too many subschemas.
    fn schema(&mut self, schema: &'a Value, depth: usize) -> Option<Value> {
        let Value::Object(schema) = schema else {
            return Some(if *schema == Value::Bool(false) { json!(false) } else { json!({}) });
        };
        self.object(schema, depth).map(Value::Object)
    }

    fn object(&mut self, schema: &'a Object, depth: usize) -> Option<Object> {
        self.subschemas += 1;
        if self.subschemas > limits::SUBSCHEMAS {
            return None;
        }
        if let Some(Value::String(reference)) = schema.get("$ref") {
            return self.reference(reference, schema, depth);
        }
        let mut out = Object::new();
        if let Some(kind) = constraints::kind(schema) {
            out.insert("type".into(), kind);
        }
        self.describe(schema, depth, &mut out);
        if self.side == SchemaSide::Request {
            constraints::copy(schema, &mut out);
        }
        if depth >= self.detail.depth {
            self.cut(schema, &mut out);
        } else {
            self.children(schema, depth, &mut out)?;
        }
        constraints::add_null(schema, &mut out);
        Some(out)
    }

    /// Converts the subschemas.
    fn children(&mut self, schema: &'a Object, depth: usize, out: &mut Object) -> Option<()> {
        let mut inner = Object::new();
        for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            if !self.is_hidden(property) && loggia_text::is_clean(name) {
                inner.insert(name.clone(), self.schema(property, depth + 1)?);
            }
        }
        if self.side == SchemaSide::Request {
            constraints::copy_required(schema, &inner, out);
        }
        if schema.get("properties").is_some_and(Value::is_object) {
            out.insert("properties".into(), Value::Object(inner));
        }
        match schema.get("additionalProperties") {
            Some(Value::Bool(allowed)) if self.side == SchemaSide::Request => {
                out.insert("additionalProperties".into(), json!(allowed));
            }
            Some(others @ Value::Object(_)) => {
                out.insert("additionalProperties".into(), self.schema(others, depth + 1)?);
            }
            _ => {}
        }
        match schema.get("items") {
            Some(items @ (Value::Object(_) | Value::Bool(_))) => {
                out.insert("items".into(), self.schema(items, depth + 1)?);
            }
            Some(Value::Array(tuple)) => self.list("prefixItems", tuple, depth, out)?,
            _ => {}
        }
        if let Some(Value::Array(tuple)) = schema.get("prefixItems") {
            self.list("prefixItems", tuple, depth, out)?;
        }
        // `oneOf` becomes `anyOf`, and `not` is left out: both refuse valid values once something below them was cut.
        let branches = ["anyOf", "oneOf"].iter().find_map(|keyword| schema.get(*keyword)?.as_array());
        if let Some(branches) = branches.filter(|branches| !branches.is_empty()) {
            self.list("anyOf", branches, depth, out)?;
            let names_members = |branch: &Value| branch.get("properties").is_some();
            let is_open = out["anyOf"].as_array().is_some_and(|branches| branches.iter().any(names_members));
            if is_open && out.get("additionalProperties") == Some(&json!(false)) {
                // It would refuse the members that only the branches name.
                out.shift_remove("additionalProperties");
            }
        }
        if let Some(Value::Array(parts)) = schema.get("allOf") {
            let mut converted = Vec::new();
            for part in parts {
                // The parts of one object are on its own level.
                let Value::Object(part) = part else { continue };
                converted.push(self.object(part, depth)?);
            }
            merge_all(out, converted);
        }
        Some(())
    }

    fn list(&mut self, keyword: &str, list: &'a [Value], depth: usize, out: &mut Object) -> Option<()> {
        let converted = list.iter().map(|value| self.schema(value, depth + 1));
        out.insert(keyword.into(), converted.collect::<Option<Vec<_>>>()?.into());
        Some(())
    }

    fn reference(&mut self, reference: &'a str, schema: &'a Object, depth: usize) -> Option<Object> {
        let target = self.document.find(reference).filter(|_| self.open.len() < limits::REFERENCES);
        let Some(Value::Object(target)) = target else { return Some(Object::new()) };
        let mut out = if self.open.contains(&reference) {
            // A schema that holds itself is cut where it repeats.
            let mut out = Object::new();
            if let Some(kind) = constraints::kind(target) {
                out.insert("type".into(), kind);
            }
            out
        } else {
            self.open.push(reference);
            let converted = self.object(target, depth);
            self.open.pop();
            converted?
        };
        // 3.1 allows siblings, and documents of 3.0 have them all the same.
        self.describe(schema, depth, &mut out);
        constraints::add_null(schema, &mut out);
        Some(out)
    }

    /// Adds the description, shortened.
    fn describe(&self, schema: &Object, depth: usize, out: &mut Object) {
        let most = if depth == 0 { limits::PARAMETER_TEXT } else { self.detail.text };
        if self.side == SchemaSide::Response || most == 0 {
            return;
        }
        let own = schema.get("description").and_then(Value::as_str).unwrap_or_default();
        let text = texts::with_default(&texts::clean(own, most), constraints::default_text(schema));
        if !text.is_empty() {
            out.insert("description".into(), text.into());
        }
    }

    /// Keeps no more than the type of what has subschemas.
    fn cut(&mut self, schema: &'a Object, out: &mut Object) {
        if out.contains_key("type") {
            return;
        }
        for keyword in ["allOf", "anyOf", "oneOf"] {
            let branches = schema.get(keyword).and_then(Value::as_array).into_iter().flatten();
            let mut kinds = branches.filter_map(|branch| constraints::kind(self.document.object(branch)?));
            if let Some(first) = kinds.next()
                && kinds.all(|kind| kind == first)
                && (keyword == "allOf"
                    || schema[keyword].as_array().is_some_and(|list| {
                        list.iter().all(|branch| {
                            self.document.object(branch).is_some_and(|b| constraints::kind(b).is_some())
                        })
                    }))
            {
                out.insert("type".into(), first);
                return;
            }
        }
    }

    /// The type alone.
    fn bare(&mut self, schema: &'a Value) -> Value {
        let mut out = Object::new();
        if let Some(schema) = self.document.object(schema) {
            if let Some(kind) = constraints::kind(schema) {
                out.insert("type".into(), kind);
            } else {
                self.cut(schema, &mut out);
            }
            constraints::add_null(schema, &mut out);
        }
        Value::Object(out)
    }

    /// Whether a property is not part of this side.
    fn is_hidden(&self, property: &Value) -> bool {
        let keyword = if self.side == SchemaSide::Request { "readOnly" } else { "writeOnly" };
        let is = |object: &Object| object.get(keyword) == Some(&Value::Bool(true));
        property.as_object().is_some_and(is) || self.document.object(property).is_some_and(is)
    }
}
