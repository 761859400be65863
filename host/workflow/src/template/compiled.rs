//! Parsed templates and their expansion.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use super::{
    error::{EvalError, ParseError},
    eval,
    expanded::ExpandedText,
    references::{DataReference, find_references},
    scope::TemplateScope,
    syntax::{SyntaxTree, parse},
};

/// Parsed template. Cheap to clone.
#[derive(Clone)]
pub struct TextTemplate {
    parsed: Arc<Parsed>,
}

struct Parsed {
    source: String,
    ast: SyntaxTree,
    references: Vec<DataReference>,
}

impl TextTemplate {
    /// Parses a template.
    ///
    /// # Errors
    ///
    /// Syntax errors, and templates beyond the limits on size and nesting.
    pub fn parse(source: &str) -> Result<Self, ParseError> {
        let ast = parse(source)?;
        let references = find_references(&ast);
        Ok(Self { parsed: Arc::new(Parsed { source: source.to_owned(), ast, references }) })
    }

    /// Returns the source text.
    pub fn source(&self) -> &str {
        &self.parsed.source
    }

    /// Returns the data that the template refers to, without duplicates, in source order.
    pub fn references(&self) -> &[DataReference] {
        &self.parsed.references
    }

    /// Expands the template. With `strict`, an action that would print `<no value>` for a missing value is an error
    /// that lists the existing names.
    ///
    /// # Errors
    ///
    /// Go's errors, and exceeded limits on steps and output.
    pub fn expand(&self, scope: &TemplateScope<'_>, strict: bool) -> Result<ExpandedText, EvalError> {
        eval::expand(&self.parsed.source, &self.parsed.ast, scope, strict)
    }
}

/// As its source text.
impl Serialize for TextTemplate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.source())
    }
}

impl<'de> Deserialize<'de> for TextTemplate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl fmt::Debug for TextTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Template({:?})", self.source())
    }
}
