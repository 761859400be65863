//! Go's `text/template`, as composite tools use it.
//!
//! The evaluator is our own. The crate `gtmpl-ng` 1.0.0, the best of the others, has defects that nobody can guard from
//! outside, found by running it:
//!
//! - `{{$a := printf "%999999d" 1}}{{len (print $a $a …)}}`, with five thousand `$a` in 16 KiB, takes 5 GB: arguments
//!   are copied before its limits are asked. The process aborts.
//! - `{{define "r"}}{{template "r" .}}{{end}}{{template "r" .}}` overflows a stack of 512 KiB, as do 32 parentheses, 40
//!   nested `if` and 60 `else if` in an unoptimised build; the process aborts.
//! - All data is copied for each expansion, and each argument of `index` again: 0.3 ms and 0.1 ms with a hundred steps of
//!   2 KB, unoptimised. Ours borrows it.
//! - Its errors print the data, which may be secret: `unable to get hunter2 in map[…]`.
//! - It has no `else with`, and a value that is missing looks like `null` from outside.
//!
//! | file | concept |
//! |---|---|
//! | `lex` | text as actions and tokens |
//! | `literal` | numbers, strings and characters in the source |
//! | `parse`, `pipeline`, `ast` | control actions and their bodies; commands; what comes of them |
//! | `references` | what a template refers to, without a run |
//! | `eval`, `command` | a run: bodies; commands |
//! | `run`, `limits`, `text` | what it may cost, and what it holds |
//! | `value`, `number` | values, borrowed; numbers, exact |
//! | `function`, `compare`, `escape`, `printf`, `verb`, `print` | the functions |
//! | `missing` | errors that tell what is there |
//!
//! # What differs from Go, on purpose
//!
//! - Numbers stay what they are in JSON, where ToolHive makes floats of them: `1234567` prints whole, `%d` prints it, it
//!   is an index, and whole numbers compare with floats.
//! - A field of an explicit `null` is missing, where Go gives an error.
//! - `range` goes over whole numbers from data, and a string is not cut within a character.

mod ast;
mod command;
mod compare;
mod escape;
mod eval;
mod function;
mod lex;
mod limits;
mod literal;
mod missing;
mod number;
mod parse;
mod pipeline;
mod print;
mod printf;
mod references;
mod run;
#[cfg(test)]
mod tests;
mod text;
mod value;
mod verb;

use std::{fmt, sync::Arc};

use loggia_facade::Object;
use serde_json::Value;

/// A template, parsed. Cheap to clone.
#[derive(Clone)]
pub struct Template {
    parsed: Arc<Parsed>,
}

struct Parsed {
    source: String,
    ast: ast::Ast,
    references: Vec<Reference>,
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
        let ast = parse::parse(source)?;
        let references = references::references(&ast);
        Ok(Self { parsed: Arc::new(Parsed { source: source.to_owned(), ast, references }) })
    }

    /// The text it was read from.
    pub fn source(&self) -> &str {
        &self.parsed.source
    }

    /// What it refers to, each once, in the order of the text.
    pub fn references(&self) -> &[Reference] {
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

impl EvalError {
    /// An error without advice.
    fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None }
    }
}

impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Template({:?})", self.source())
    }
}
