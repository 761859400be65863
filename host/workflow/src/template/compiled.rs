//! Parsed templates and their expansion.

use std::{fmt, sync::Arc};

use super::{
    error::{EvalError, ParseError},
    eval,
    expanded::Expanded,
    references::{DataReference, references},
    scope::Scope,
    syntax::{SyntaxTree, parse},
};

/// A template, parsed. Cheap to clone.
#[derive(Clone)]
pub struct Template {
    parsed: Arc<Parsed>,
}

struct Parsed {
    source: String,
    ast: SyntaxTree,
    references: Vec<DataReference>,
}

impl Template {
    /// Reads a template.
    ///
    /// # Errors
    ///
    /// If it is none, or is larger or deeper than any sensible one.
    pub fn parse(source: &str) -> Result<Self, ParseError> {
        let ast = parse(source)?;
        let references = references(&ast);
        Ok(Self { parsed: Arc::new(Parsed { source: source.to_owned(), ast, references }) })
    }

    /// The text it was read from.
    pub fn source(&self) -> &str {
        &self.parsed.source
    }

    /// What it refers to, each once, in the order of the text.
    pub fn references(&self) -> &[DataReference] {
        &self.parsed.references
    }

    /// Expands the template. `strict`: an action that would print `<no value>` because something is not there is an
    /// error that names it and what there is.
    ///
    /// # Errors
    ///
    /// As Go's, and where the template takes too long or gives too much.
    pub fn expand(&self, scope: &Scope<'_>, strict: bool) -> Result<Expanded, EvalError> {
        eval::expand(&self.parsed.source, &self.parsed.ast, scope, strict)
    }
}

impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Template({:?})", self.source())
    }
}
