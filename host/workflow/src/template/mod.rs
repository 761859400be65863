//! Go's `text/template`, as far as composite tools use it.

use std::fmt;

use loggia_facade::Object;
use serde_json::Value;

/// A template, parsed. Cheap to clone.
#[derive(Clone)]
pub struct Template {
    source: std::sync::Arc<str>,
}

/// What a template sees.
#[derive(Debug, Clone, Copy)]
pub struct Scope<'a> {
    /// The root: `params`, `steps`, `vars`, `workflow`.
    pub base: &'a Object,
    /// `.forEach`, in the arguments of a `forEach` step's call.
    pub for_each: Option<&'a Value>,
}

/// What came of a template.
#[derive(Debug, Clone, PartialEq)]
pub struct Expanded {
    /// As Go prints it.
    pub text: String,
    /// The value itself, where the template is one action and nothing else, and its value is there: `null` is a value,
    /// what is missing is none.
    pub value: Option<Value>,
}

/// Data that a template refers to, as far as it can be told without running it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Reference {
    /// From the root: `["steps", "fetch", "output", "data"]`. `index .steps "my-step"` is such a path too.
    pub path: Vec<String>,
}

/// Why a text is no template.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ParseError {
    /// One sentence.
    pub message: String,
    /// Where, in bytes from the beginning.
    pub at: Option<usize>,
}

/// Why a template came to nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct EvalError {
    /// One sentence, without values that might be secret.
    pub message: String,
    /// What to do about it: the names that there are.
    pub hint: Option<String>,
}

impl Template {
    /// Reads a template.
    ///
    /// # Errors
    ///
    /// If it is none, or is larger or deeper than any sensible one.
    pub fn parse(source: &str) -> Result<Self, ParseError> {
        let _ = source;
        unimplemented!()
    }

    /// The text it was read from.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// What it refers to, each once, in the order of the text.
    pub fn references(&self) -> &[Reference] {
        unimplemented!()
    }

    /// Expands the template. `strict`: an action that would print `<no value>` because something is not there is an
    /// error that names it and what there is.
    ///
    /// # Errors
    ///
    /// As Go's, and where the template takes too long or gives too much.
    pub fn expand(&self, scope: &Scope<'_>, strict: bool) -> Result<Expanded, EvalError> {
        let _ = (scope, strict);
        unimplemented!()
    }
}

impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Template({:?})", self.source)
    }
}
