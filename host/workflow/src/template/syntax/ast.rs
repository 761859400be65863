//! A template, read.

use crate::template::{function::BuiltinFunction, value::ExactNumber};

/// What `{{define}}` and `{{block}}` name, and the template itself.
#[derive(Debug)]
pub(crate) struct SyntaxTree {
    pub main: NodeList,
    pub defined: Vec<NodeList>,
}

pub(crate) type NodeList = Vec<TemplateNode>;

#[derive(Debug)]
pub(crate) enum TemplateNode {
    Text(SourceSpan),
    Action(PipelineNode),
    If(BranchNode),
    With(BranchNode),
    Range(Box<RangeNode>),
    Break,
    Continue,
    /// A call of the template of that number in [`SyntaxTree::defined`].
    Template(usize, Option<PipelineNode>),
}

/// `{{if}} … {{else if}} … {{else}} … {{end}}`, or the same of `with`.
#[derive(Debug)]
pub(crate) struct BranchNode {
    pub arms: Vec<(PipelineNode, NodeList)>,
    pub otherwise: NodeList,
}

#[derive(Debug)]
pub(crate) struct RangeNode {
    pub over: PipelineNode,
    pub body: NodeList,
    pub otherwise: NodeList,
}

/// A part of the source, in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SourceSpan {
    pub start: usize,
    pub end: usize,
}

/// Commands, each of which gets what the one before it gives.
#[derive(Debug)]
pub(crate) struct PipelineNode {
    pub span: SourceSpan,
    pub variables: Vec<VariableSlot>,
    /// Whether the variables are set, not declared.
    pub assigns: bool,
    pub commands: Vec<CommandNode>,
}

/// Where a variable is, counted from the beginning of its template's variables. `$` is the first.
pub(crate) type VariableSlot = usize;

/// A function or a value, and arguments.
#[derive(Debug)]
pub(crate) struct CommandNode {
    pub span: SourceSpan,
    pub head: OperandNode,
    pub arguments: Vec<OperandNode>,
}

/// A value: a term, and the names that lead on from it.
#[derive(Debug)]
pub(crate) struct OperandNode {
    /// Where the term stands; nothing where it is the dot before a name.
    pub span: SourceSpan,
    pub term: OperandTerm,
    pub fields: Vec<String>,
}

#[derive(Debug)]
pub(crate) enum OperandTerm {
    Dot,
    Nil,
    Bool(bool),
    Number(ExactNumber),
    Text(String),
    Variable(VariableSlot),
    Function(BuiltinFunction),
    Pipeline(Box<PipelineNode>),
}
