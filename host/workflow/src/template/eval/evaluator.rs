//! Evaluation of bodies and control actions.

use super::missing::{self, MissingField};
use crate::template::{
    error::EvalError,
    expanded::ExpandedText,
    format::print,
    limits,
    output::{RunBudget, TextWriter},
    scope::TemplateScope,
    syntax::{
        BranchNode, NodeList, OperandTerm, PipelineNode, RangeNode, SourceSpan, SyntaxTree, TemplateNode,
    },
    value::{ExactNumber, TemplateMap, TemplateValue},
};

/// Expands a template.
pub(crate) fn expand(
    source: &str,
    ast: &SyntaxTree,
    scope: &TemplateScope<'_>,
    strict: bool,
) -> Result<ExpandedText, EvalError> {
    let budget = RunBudget::new();
    let mut run = TemplateRun::new(source, ast, &budget, strict);
    let root = TemplateValue::Map(TemplateMap::Root(scope));
    // A template of one action also yields its value.
    if let [TemplateNode::Action(pipeline)] = ast.main.as_slice()
        && pipeline.variables.is_empty()
    {
        run.variables.push(root);
        let value = run.print_action(pipeline, root)?;
        return Ok(ExpandedText { text: run.out.written, value: value.to_json() });
    }
    run.template(&ast.main, root)?;
    Ok(ExpandedText { text: run.out.written, value: None })
}

/// Evaluation of a template.
pub(crate) struct TemplateRun<'a> {
    pub source: &'a str,
    ast: &'a SyntaxTree,
    pub budget: &'a RunBudget,
    pub out: TextWriter<'a>,
    /// Variables of all active templates.
    pub variables: Vec<TemplateValue<'a>>,
    /// Index of the innermost template's first variable.
    pub base: usize,
    nesting: usize,
    pub strict: bool,
    /// Last lookup that found nothing.
    pub missed: Option<MissingField<'a>>,
}

/// Ways in which a body ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    Next,
    Break,
    Continue,
}

impl<'a> TemplateRun<'a> {
    fn new(source: &'a str, ast: &'a SyntaxTree, budget: &'a RunBudget, strict: bool) -> Self {
        let out = TextWriter::for_output(budget);
        Self { source, ast, budget, out, variables: Vec::new(), base: 0, nesting: 0, strict, missed: None }
    }

    /// Evaluates a template's body with its own variables.
    fn template(&mut self, body: &'a NodeList, dot: TemplateValue<'a>) -> Result<(), EvalError> {
        let (base, mark) = (self.base, self.variables.len());
        self.base = mark;
        self.variables.push(dot);
        self.body(body, dot)?;
        self.variables.truncate(mark);
        self.base = base;
        Ok(())
    }

    /// Creates the error for the value that the run last failed to find.
    pub(super) fn missing(&self, span: SourceSpan) -> EvalError {
        missing::error(self.source, span, self.missed)
    }

    fn body(&mut self, body: &'a NodeList, dot: TemplateValue<'a>) -> Result<Flow, EvalError> {
        if self.nesting == limits::NESTING {
            return Err(EvalError::new(format!(
                "template expansion depth limit exceeded: {}",
                limits::NESTING
            )));
        }
        self.nesting += 1;
        let mark = self.variables.len();
        let mut flow = Flow::Next;
        for node in body {
            self.budget.spend(1)?;
            flow = self.node(node, dot)?;
            if flow != Flow::Next {
                break;
            }
        }
        self.variables.truncate(mark);
        self.nesting -= 1;
        Ok(flow)
    }

    fn node(&mut self, node: &'a TemplateNode, dot: TemplateValue<'a>) -> Result<Flow, EvalError> {
        match node {
            TemplateNode::Text(span) => self.out.push(&self.source[span.start..span.end])?,
            TemplateNode::Action(pipeline) if pipeline.variables.is_empty() => {
                self.print_action(pipeline, dot)?;
            }
            TemplateNode::Action(pipeline) => {
                self.pipeline(pipeline, dot)?;
            }
            TemplateNode::If(branches) => return self.branches(branches, dot, false),
            TemplateNode::With(branches) => return self.branches(branches, dot, true),
            TemplateNode::Range(range) => return self.range(range, dot),
            TemplateNode::Break => return Ok(Flow::Break),
            TemplateNode::Continue => return Ok(Flow::Continue),
            TemplateNode::Template(number, argument) => {
                let dot = match argument {
                    Some(argument) => self.pipeline(argument, dot)?,
                    None => TemplateValue::Null,
                };
                self.template(&self.ast.defined[*number], dot)?;
            }
        }
        Ok(Flow::Next)
    }

    /// Prints the value of an action.
    fn print_action(
        &mut self,
        pipeline: &'a PipelineNode,
        dot: TemplateValue<'a>,
    ) -> Result<TemplateValue<'a>, EvalError> {
        self.missed = None;
        let value = self.pipeline(pipeline, dot)?;
        if self.strict && matches!(value, TemplateValue::Missing) {
            return Err(self.missing(pipeline.span));
        }
        print::write_action(value, &mut self.out)?;
        Ok(value)
    }

    fn branches(
        &mut self,
        branches: &'a BranchNode,
        dot: TemplateValue<'a>,
        with: bool,
    ) -> Result<Flow, EvalError> {
        let mark = self.variables.len();
        let mut chosen = (&branches.otherwise, dot);
        for (condition, body) in &branches.arms {
            self.budget.spend(1)?;
            let value = self.pipeline(condition, dot)?;
            if value.is_true() {
                chosen = (body, if with { value } else { dot });
                break;
            }
        }
        let flow = self.body(chosen.0, chosen.1)?;
        self.variables.truncate(mark);
        Ok(flow)
    }

    fn range(&mut self, range: &'a RangeNode, dot: TemplateValue<'a>) -> Result<Flow, EvalError> {
        let mark = self.variables.len();
        let over = self.pipeline(&range.over, dot)?;
        let mut ran = false;
        let mut go_on = |run: &mut Self, key: TemplateValue<'a>, item: TemplateValue<'a>| {
            ran = true;
            run.iterate(range, key, item)
        };
        match over {
            TemplateValue::List(list) => {
                for (index, item) in list.iter().enumerate() {
                    if !go_on(self, TemplateValue::from_usize(index), TemplateValue::from(item))? {
                        break;
                    }
                }
            }
            TemplateValue::Map(map) => {
                self.budget.spend(4 * map.len())?;
                for (name, item) in map.sorted() {
                    if !go_on(self, TemplateValue::Text(name), TemplateValue::from(item))? {
                        break;
                    }
                }
            }
            TemplateValue::Number(number) => {
                let Some(count) = number.as_integer() else {
                    let message = "`range` accepts integers, not fractions";
                    return Err(self.with_span(range.over.span, EvalError::new(message)));
                };
                let mut index = 0;
                while index < count
                    && go_on(
                        self,
                        TemplateValue::Number(ExactNumber::Int(index)),
                        TemplateValue::Number(ExactNumber::Int(index)),
                    )?
                {
                    index += 1;
                }
            }
            TemplateValue::Missing | TemplateValue::Null => {}
            value => {
                let message =
                    format!("`range` accepts lists, objects and integers, not {}", value.kind_name());
                return Err(self.with_span(range.over.span, EvalError::new(message)));
            }
        }
        let flow = if ran { Flow::Next } else { self.body(&range.otherwise, dot)? };
        self.variables.truncate(mark);
        Ok(flow)
    }

    /// Evaluates one iteration of a range; returns false after `break`.
    fn iterate(
        &mut self,
        range: &'a RangeNode,
        key: TemplateValue<'a>,
        item: TemplateValue<'a>,
    ) -> Result<bool, EvalError> {
        self.budget.spend(1)?;
        match range.over.variables.as_slice() {
            [value] => self.assign(*value, item),
            [name, value] => {
                self.assign(*name, key);
                self.assign(*value, item);
            }
            _ => {}
        }
        Ok(self.body(&range.body, item)? != Flow::Break)
    }

    pub(super) fn assign(&mut self, variable: usize, value: TemplateValue<'a>) {
        if let Some(place) = self.variables.get_mut(self.base + variable) {
            *place = value;
        }
    }

    /// Returns the value of a constant term.
    pub(super) fn constant(term: &'a OperandTerm) -> Option<TemplateValue<'a>> {
        Some(match term {
            OperandTerm::Nil => TemplateValue::Null,
            OperandTerm::Bool(bool) => TemplateValue::Bool(*bool),
            OperandTerm::Number(number) => TemplateValue::Number(*number),
            OperandTerm::Text(text) => TemplateValue::Text(text),
            _ => return None,
        })
    }
}
