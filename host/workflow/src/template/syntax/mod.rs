//! The syntax of templates.
//!
//! | file | concept |
//! |---|---|
//! | `ast.rs` | the syntax tree |
//! | `token.rs`, `lexer.rs` | tokens; source text to tokens |
//! | `literal.rs` | literals: numbers, strings, characters |
//! | `pipeline.rs` | parser of one action: pipelines, commands, operands |
//! | `parser.rs` | parser of a template: control actions and their bodies |

mod ast;
mod lexer;
mod literal;
mod parser;
mod pipeline;
mod token;

pub(super) use self::{
    ast::{
        BranchNode, CommandNode, NodeList, OperandNode, OperandTerm, PipelineNode, RangeNode, SourceSpan,
        SyntaxTree, TemplateNode,
    },
    parser::parse,
};
