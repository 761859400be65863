//! Static references of a template, found without evaluation.
//!
//! The template is traced with paths instead of values: data reached from the root has a known path, everything else
//! is unknown.

use std::collections::HashSet;

use super::{
    function::BuiltinFunction,
    limits,
    syntax::{
        BranchNode, CommandNode, NodeList, OperandNode, OperandTerm, PipelineNode, RangeNode, SyntaxTree,
        TemplateNode,
    },
};

/// Data that a template refers to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DataReference {
    /// Path from the root: `["steps", "fetch", "output", "data"]`. `index .steps "my-step"` also yields a path.
    pub path: Vec<String>,
}

/// Returns all static paths of a template, without duplicates, in source order.
pub(super) fn find_references(ast: &SyntaxTree) -> Vec<DataReference> {
    let mut trace = Trace {
        ast,
        variables: vec![Known::root()],
        base: 0,
        seen: HashSet::new(),
        found: Vec::new(),
        calls: 0,
        nesting: 0,
    };
    trace.body(&ast.main, &Known::root());
    trace.found
}

/// Static knowledge of a value.
#[derive(Clone)]
enum Known {
    /// Data at this path.
    Path(Vec<String>),
    Text(String),
    Nothing,
}

impl Known {
    fn root() -> Self {
        Self::Path(Vec::new())
    }

    fn join(self, names: &[String]) -> Self {
        match self {
            _ if names.is_empty() => self,
            Self::Path(path) if path.len() + names.len() <= limits::PATH => {
                Self::Path([&path, names].concat())
            }
            _ => Self::Nothing,
        }
    }
}

struct Trace<'t> {
    ast: &'t SyntaxTree,
    variables: Vec<Known>,
    base: usize,
    seen: HashSet<Vec<String>>,
    found: Vec<DataReference>,
    /// Number of template calls followed so far.
    calls: usize,
    nesting: usize,
}

impl<'t> Trace<'t> {
    fn record(&mut self, known: &Known) {
        if let Known::Path(path) = known
            && !path.is_empty()
            && self.seen.insert(path.clone())
        {
            self.found.push(DataReference { path: path.clone() });
        }
    }

    fn body(&mut self, body: &'t NodeList, dot: &Known) {
        if self.nesting == limits::NESTING {
            return;
        }
        self.nesting += 1;
        let mark = self.variables.len();
        for node in body {
            match node {
                TemplateNode::Text(_) | TemplateNode::Break | TemplateNode::Continue => {}
                TemplateNode::Action(pipeline) => {
                    self.trace_action(pipeline, dot);
                }
                TemplateNode::If(branches) => self.branches(branches, dot, false),
                TemplateNode::With(branches) => self.branches(branches, dot, true),
                TemplateNode::Range(range) => self.range(range, dot),
                TemplateNode::Template(number, argument) => self.template(*number, argument.as_ref(), dot),
            }
        }
        self.variables.truncate(mark);
        self.nesting -= 1;
    }

    fn branches(&mut self, branches: &'t BranchNode, dot: &Known, with: bool) {
        let mark = self.variables.len();
        for (condition, body) in &branches.arms {
            let value = self.trace_action(condition, dot);
            self.body(body, if with { &value } else { dot });
        }
        self.body(&branches.otherwise, dot);
        self.variables.truncate(mark);
    }

    fn range(&mut self, range: &'t RangeNode, dot: &Known) {
        let mark = self.variables.len();
        self.trace_action(&range.over, dot);
        // The item is unknown before evaluation.
        for variable in &range.over.variables {
            self.set(*variable, Known::Nothing);
        }
        self.body(&range.body, &Known::Nothing);
        self.body(&range.otherwise, dot);
        self.variables.truncate(mark);
    }

    fn template(&mut self, number: usize, argument: Option<&'t PipelineNode>, dot: &Known) {
        let dot = match argument {
            Some(argument) => self.trace_action(argument, dot),
            None => Known::Nothing,
        };
        self.calls += 1;
        if self.calls > limits::FOLLOWED {
            return;
        }
        let (base, mark) = (self.base, self.variables.len());
        self.base = mark;
        self.variables.push(dot.clone());
        let ast = self.ast;
        self.body(&ast.defined[number], &dot);
        self.variables.truncate(mark);
        self.base = base;
    }

    fn set(&mut self, variable: usize, known: Known) {
        if let Some(place) = self.variables.get_mut(self.base + variable) {
            *place = known;
        }
    }

    /// Traces an action and records its path.
    fn trace_action(&mut self, pipeline: &'t PipelineNode, dot: &Known) -> Known {
        let known = self.pipeline(pipeline, dot);
        self.record(&known);
        for variable in &pipeline.variables {
            if pipeline.assigns {
                // It is unknown whether and when an assignment runs.
                self.set(*variable, Known::Nothing);
            } else {
                self.variables.push(known.clone());
            }
        }
        known
    }

    fn pipeline(&mut self, pipeline: &'t PipelineNode, dot: &Known) -> Known {
        let mut piped = None;
        for command in &pipeline.commands {
            piped = Some(self.command(command, dot, piped));
        }
        piped.unwrap_or(Known::Nothing)
    }

    fn command(&mut self, command: &'t CommandNode, dot: &Known, piped: Option<Known>) -> Known {
        match &command.head {
            OperandNode { term: OperandTerm::Function(BuiltinFunction::Index), fields, .. }
                if fields.is_empty() =>
            {
                self.index(&command.arguments, dot, piped)
            }
            head => {
                let known = self.operand(head, dot);
                if piped.is_none() && command.arguments.is_empty() {
                    return known;
                }
                for known in piped.into_iter().chain([known]) {
                    self.record(&known);
                }
                for argument in &command.arguments {
                    let known = self.operand(argument, dot);
                    self.record(&known);
                }
                Known::Nothing
            }
        }
    }

    /// Extends a path through `index`, as long as its keys are literal names.
    fn index(&mut self, arguments: &'t [OperandNode], dot: &Known, piped: Option<Known>) -> Known {
        let mut known: Option<Known> = None;
        let mut arguments = arguments.iter();
        let mut piped = piped;
        loop {
            let next = match arguments.next() {
                Some(argument) => self.operand(argument, dot),
                None => match piped.take() {
                    Some(piped) => piped,
                    None => return known.unwrap_or(Known::Nothing),
                },
            };
            known = Some(match (known, next) {
                (None, first) => first,
                (Some(path @ Known::Path(_)), Known::Text(name)) => path.join(&[name]),
                (Some(path), key) => {
                    // A number or a dynamic key: the path is known up to here.
                    self.record(&path);
                    self.record(&key);
                    Known::Nothing
                }
            });
        }
    }

    fn operand(&mut self, operand: &'t OperandNode, dot: &Known) -> Known {
        let known = match &operand.term {
            OperandTerm::Dot => dot.clone(),
            OperandTerm::Variable(variable) => {
                self.variables.get(self.base + variable).cloned().unwrap_or(Known::Nothing)
            }
            OperandTerm::Text(text) => Known::Text(text.clone()),
            OperandTerm::Pipeline(pipeline) => self.pipeline(pipeline, dot),
            OperandTerm::Nil | OperandTerm::Bool(_) | OperandTerm::Number(_) | OperandTerm::Function(_) => {
                Known::Nothing
            }
        };
        known.join(&operand.fields)
    }
}
