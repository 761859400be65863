//! A document of a supported version of OpenAPI, and what its references name.

use loggia_facade::{Object, json};
use loggia_text::mention;
use serde_json::Value;

use super::{document_error::DocumentError, yaml};
use crate::limits;

/// An OpenAPI document.
#[derive(Debug, Clone)]
pub(crate) struct OpenApiDocument {
    root: Object,
    version: String,
}

impl OpenApiDocument {
    /// Reads a document.
    ///
    /// # Errors
    ///
    /// See [`DocumentError`].
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, DocumentError> {
        if bytes.len() > limits::DOCUMENT {
            let size = format!("it has {} bytes; at most {} are accepted", bytes.len(), limits::DOCUMENT);
            return Err(DocumentError::Large(size));
        }
        let text = std::str::from_utf8(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes))
            .map_err(|_| DocumentError::Syntax("it is not UTF-8".into()))?;
        let root = if text.trim_start().starts_with('{') { read_json(text) } else { yaml::read(text) }?;
        let Value::Object(root) = root else {
            return Err(DocumentError::Foreign("it is not an object"));
        };
        let version = root.get("openapi").or_else(|| root.get("swagger"));
        let version = match version {
            Some(Value::String(version)) => version.trim().to_owned(),
            // Unquoted in YAML.
            Some(Value::Number(version)) => version.to_string(),
            _ => return Err(DocumentError::Foreign("it has no `openapi: 3…`")),
        };
        if root.contains_key("swagger") && !root.contains_key("openapi") {
            return Err(DocumentError::Swagger(mention(&version, 16)));
        }
        let is = |minor: &str| version == minor || version.starts_with(&format!("{minor}."));
        if !is("3.0") && !is("3.1") {
            return Err(DocumentError::Version(mention(&version, 16)));
        }
        if !root.get("paths").is_some_and(Value::is_object) {
            return Err(DocumentError::Foreign("it has no `paths`"));
        }
        Ok(Self { root, version })
    }

    /// The version of OpenAPI.
    pub(crate) fn version(&self) -> &str {
        &self.version
    }

    pub(crate) fn root(&self) -> &Object {
        &self.root
    }

    /// Finds the target of a local reference.
    pub(crate) fn find(&self, reference: &str) -> Option<&Value> {
        let pointer = reference.strip_prefix("#/")?;
        let mut tokens = pointer.split('/').map(|token| token.replace("~1", "/").replace("~0", "~"));
        let member = |object: &'_ Object, token: &str| -> Option<String> {
            if object.contains_key(token) { Some(token.to_owned()) } else { decoded(token) }
        };
        let first = tokens.next()?;
        let first = self.root.get(&member(&self.root, &first)?)?;
        tokens.try_fold(first, |value, token| match value {
            Value::Object(object) => object.get(&member(object, &token)?),
            Value::Array(list) => list.get(token.parse::<usize>().ok()?),
            _ => None,
        })
    }

    /// Follows the references of an object that is no schema: a parameter, a response. Siblings of a reference are ignored.
    pub(crate) fn object<'a>(&'a self, value: &'a Value) -> Option<&'a Object> {
        let mut object = value.as_object()?;
        for _ in 0..limits::REFERENCES {
            match object.get("$ref").and_then(Value::as_str) {
                None => return Some(object),
                Some(reference) => object = self.find(reference)?.as_object()?,
            }
        }
        None
    }
}

/// Decodes the percent-encoding of a reference's fragment.
fn decoded(token: &str) -> Option<String> {
    if !token.contains('%') {
        return None;
    }
    // `+` is no space in a fragment.
    let pair = token.replace('+', "%2B");
    url::form_urlencoded::parse(pair.as_bytes()).next().map(|(name, _)| name.into_owned())
}

fn read_json(text: &str) -> Result<Value, DocumentError> {
    if json::has_more_values(text.as_bytes(), limits::NODES) {
        return Err(DocumentError::too_many_values());
    }
    // A file whose first character is `{` may be YAML in flow style, but is JSON in practice.
    serde_json::from_str(text).map_err(|error| DocumentError::Syntax(error.to_string()))
}
