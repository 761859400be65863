//! Tokens of a template.

use std::ops::Range;

use crate::template::value::ExactNumber;

/// A part of a template.
#[derive(Debug)]
pub(crate) enum SourcePart {
    /// Text as it stands.
    Text(Range<usize>),
    /// What stands between `{{` and `}}`.
    Action(ActionTokens),
}

#[derive(Debug)]
pub(crate) struct ActionTokens {
    pub tokens: Vec<LexToken>,
    /// Where its `{{` is.
    pub at: usize,
    /// Where its `}}` is.
    pub end: usize,
}

#[derive(Debug, Clone)]
pub(crate) struct LexToken {
    pub kind: TokenKind,
    pub at: usize,
    pub end: usize,
    /// Whether space stands before it: it parts arguments.
    pub spaced: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TokenKind {
    /// A keyword, a constant or a function.
    Word,
    /// `.name`
    Field,
    /// `$name`
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
