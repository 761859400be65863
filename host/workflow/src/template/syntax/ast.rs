//! Syntax tree of a template.

use crate::template::{function::BuiltinFunction, value::ExactNumber};

/// Main body, and the bodies of `{{define}}` and `{{block}}`.
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
    /// Call of a template by its index in [`SyntaxTree::defined`].
    Template(usize, Option<PipelineNode>),
}

/// Branches of `if` or `with`: `{{if}} … {{else if}} … {{else}} … {{end}}`.
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

/// Byte range of the source.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SourceSpan {
    pub start: usize,
    pub end: usize,
}

/// Commands, each of which receives the value of the previous one.
#[derive(Debug)]
pub(crate) struct PipelineNode {
    pub span: SourceSpan,
    pub variables: Vec<VariableSlot>,
    /// True if the variables are assigned instead of declared.
    pub assigns: bool,
    pub commands: Vec<CommandNode>,
}

/// Index of a variable in its template. `$` is the first.
pub(crate) type VariableSlot = usize;

/// Function or value, with arguments.
#[derive(Debug)]
pub(crate) struct CommandNode {
    pub span: SourceSpan,
    pub head: OperandNode,
    pub arguments: Vec<OperandNode>,
}

/// Term followed by field names.
#[derive(Debug)]
pub(crate) struct OperandNode {
    /// Span of the term; empty for the implicit dot before a field.
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
