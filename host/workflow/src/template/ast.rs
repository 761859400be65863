//! A template, read.

use super::{function::Function, number::Num};

/// What `{{define}}` and `{{block}}` name, and the template itself.
#[derive(Debug)]
pub(super) struct Ast {
    pub main: Body,
    pub defined: Vec<Body>,
}

pub(super) type Body = Vec<Node>;

#[derive(Debug)]
pub(super) enum Node {
    Text(Span),
    Action(Pipeline),
    If(Branches),
    With(Branches),
    Range(Box<Range>),
    Break,
    Continue,
    /// A call of the template of that number in [`Ast::defined`].
    Template(usize, Option<Pipeline>),
}

/// `{{if}} … {{else if}} … {{else}} … {{end}}`, or the same of `with`.
#[derive(Debug)]
pub(super) struct Branches {
    pub arms: Vec<(Pipeline, Body)>,
    pub otherwise: Body,
}

#[derive(Debug)]
pub(super) struct Range {
    pub over: Pipeline,
    pub body: Body,
    pub otherwise: Body,
}

/// A part of the source, in bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub start: usize,
    pub end: usize,
}

/// Commands, each of which gets what the one before it gives.
#[derive(Debug)]
pub(super) struct Pipeline {
    pub span: Span,
    pub variables: Vec<Variable>,
    /// Whether the variables are set, not declared.
    pub assigns: bool,
    pub commands: Vec<Command>,
}

/// Where a variable is, counted from the beginning of its template's variables. `$` is the first.
pub(super) type Variable = usize;

/// A function or a value, and arguments.
#[derive(Debug)]
pub(super) struct Command {
    pub span: Span,
    pub head: Operand,
    pub arguments: Vec<Operand>,
}

/// A value: a term, and the names that lead on from it.
#[derive(Debug)]
pub(super) struct Operand {
    /// Where the term stands; nothing where it is the dot before a name.
    pub span: Span,
    pub term: Term,
    pub fields: Vec<String>,
}

#[derive(Debug)]
pub(super) enum Term {
    Dot,
    Nil,
    Bool(bool),
    Number(Num),
    Text(String),
    Variable(Variable),
    Function(Function),
    Pipeline(Box<Pipeline>),
}
