//! Tokens of a template.

use std::ops::Range;

use crate::template::value::ExactNumber;

/// Part of a template.
#[derive(Debug)]
pub(crate) enum SourcePart {
    /// Literal text.
    Text(Range<usize>),
    /// Action between `{{` and `}}`.
    Action(ActionTokens),
}

#[derive(Debug)]
pub(crate) struct ActionTokens {
    pub tokens: Vec<LexToken>,
    /// Offset of `{{`.
    pub at: usize,
    /// Offset of `}}`.
    pub end: usize,
}

#[derive(Debug, Clone)]
pub(crate) struct LexToken {
    pub kind: TokenKind,
    pub at: usize,
    pub end: usize,
    /// Preceded by white space, which separates arguments.
    pub spaced: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TokenKind {
    /// Keyword, constant or function.
    Word,
    /// Field: `.name`
    Field,
    /// Variable: `$name`
    Variable,
    Dot,
    Number(ExactNumber),
    Text(String),
    Declare,
    Assign,
    Comma,
    Pipe,
    Open,
    Close,
}
