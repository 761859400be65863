//! Runs a template: its bodies and control actions.

use super::{
    EvalError, Expanded, Scope,
    ast::{Ast, Body, Branches, Node, Pipeline, Range, Term},
    limits,
    missing::Missed,
    number::Num,
    print,
    run::{Budget, Held},
    text::Text,
    value::{Map, Val},
};

/// Expands a template.
pub(super) fn expand(
    source: &str,
    ast: &Ast,
    scope: &Scope<'_>,
    strict: bool,
) -> Result<Expanded, EvalError> {
    let held = Held::new();
    let mut run = Run::new(source, ast, &held, strict);
    let root = Val::Map(Map::Root(scope));
    // One action and nothing else: its value is as good as its text.
    if let [Node::Action(pipeline)] = ast.main.as_slice()
        && pipeline.variables.is_empty()
    {
        run.variables.push(root);
        let value = run.printed(pipeline, root)?;
        return Ok(Expanded { text: run.out.written, value: value.json() });
    }
    run.template(&ast.main, root)?;
    Ok(Expanded { text: run.out.written, value: None })
}

/// A run of a template.
pub(super) struct Run<'a> {
    pub source: &'a str,
    ast: &'a Ast,
    pub budget: Budget<'a>,
    pub out: Text,
    /// The variables of all templates that are running.
    pub variables: Vec<Val<'a>>,
    /// Where those of the innermost begin.
    pub base: usize,
    nesting: usize,
    pub strict: bool,
    /// What was last looked for in vain.
    pub missed: Option<Missed<'a>>,
}

/// How a body ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    On,
    Break,
    Continue,
}

impl<'a> Run<'a> {
    fn new(source: &'a str, ast: &'a Ast, held: &'a Held, strict: bool) -> Self {
        let (budget, out) = (Budget::new(held), Text::output());
        Self { source, ast, budget, out, variables: Vec::new(), base: 0, nesting: 0, strict, missed: None }
    }

    /// Runs the body of a template, which has its own variables.
    fn template(&mut self, body: &'a Body, dot: Val<'a>) -> Result<(), EvalError> {
        let (base, mark) = (self.base, self.variables.len());
        self.base = mark;
        self.variables.push(dot);
        self.body(body, dot)?;
        self.variables.truncate(mark);
        self.base = base;
        Ok(())
    }

    fn body(&mut self, body: &'a Body, dot: Val<'a>) -> Result<Flow, EvalError> {
        if self.nesting == limits::NESTING {
            return Err(EvalError::new(format!(
                "template expansion depth limit exceeded: {}",
                limits::NESTING
            )));
        }
        self.nesting += 1;
        let mark = self.variables.len();
        let mut flow = Flow::On;
        for node in body {
            self.budget.spend(1)?;
            flow = self.node(node, dot)?;
            if flow != Flow::On {
                break;
            }
        }
        self.variables.truncate(mark);
        self.nesting -= 1;
        Ok(flow)
    }

    fn node(&mut self, node: &'a Node, dot: Val<'a>) -> Result<Flow, EvalError> {
        match node {
            Node::Text(span) => self.out.push(&self.source[span.start..span.end])?,
            Node::Action(pipeline) if pipeline.variables.is_empty() => {
                self.printed(pipeline, dot)?;
            }
            Node::Action(pipeline) => {
                self.pipeline(pipeline, dot)?;
            }
            Node::If(branches) => return self.branches(branches, dot, false),
            Node::With(branches) => return self.branches(branches, dot, true),
            Node::Range(range) => return self.range(range, dot),
            Node::Break => return Ok(Flow::Break),
            Node::Continue => return Ok(Flow::Continue),
            Node::Template(number, argument) => {
                let dot = match argument {
                    Some(argument) => self.pipeline(argument, dot)?,
                    None => Val::Null,
                };
                self.template(&self.ast.defined[*number], dot)?;
            }
        }
        Ok(Flow::On)
    }

    /// Prints what an action gives.
    fn printed(&mut self, pipeline: &'a Pipeline, dot: Val<'a>) -> Result<Val<'a>, EvalError> {
        self.missed = None;
        let value = self.pipeline(pipeline, dot)?;
        if self.strict && matches!(value, Val::Missing) {
            return Err(self.missing(pipeline.span));
        }
        print::action(value, &mut self.out)?;
        Ok(value)
    }

    fn branches(&mut self, branches: &'a Branches, dot: Val<'a>, with: bool) -> Result<Flow, EvalError> {
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

    fn range(&mut self, range: &'a Range, dot: Val<'a>) -> Result<Flow, EvalError> {
        let mark = self.variables.len();
        let over = self.pipeline(&range.over, dot)?;
        let mut ran = false;
        let mut go_on = |run: &mut Self, key: Val<'a>, item: Val<'a>| {
            ran = true;
            run.turn(range, key, item)
        };
        match over {
            Val::List(list) => {
                for (index, item) in list.iter().enumerate() {
                    if !go_on(self, Val::int(index), Val::from(item))? {
                        break;
                    }
                }
            }
            Val::Map(map) => {
                self.budget.spend(map.len())?;
                for (name, item) in map.sorted() {
                    if !go_on(self, Val::Text(name), Val::from(item))? {
                        break;
                    }
                }
            }
            Val::Number(number) => {
                let Some(count) = number.whole() else {
                    let message = "`range` goes over a whole number, not one with a fraction";
                    return Err(self.failed(range.over.span, EvalError::new(message)));
                };
                let mut index = 0;
                while index < count
                    && go_on(self, Val::Number(Num::Int(index)), Val::Number(Num::Int(index)))?
                {
                    index += 1;
                }
            }
            Val::Missing | Val::Null => {}
            value => {
                let message =
                    format!("`range` goes over lists, objects and numbers, not over {}", value.kind());
                return Err(self.failed(range.over.span, EvalError::new(message)));
            }
        }
        let flow = if ran { Flow::On } else { self.body(&range.otherwise, dot)? };
        self.variables.truncate(mark);
        Ok(flow)
    }

    /// One turn of a range; whether it goes on.
    fn turn(&mut self, range: &'a Range, key: Val<'a>, item: Val<'a>) -> Result<bool, EvalError> {
        self.budget.spend(1)?;
        match range.over.variables.as_slice() {
            [value] => self.set(*value, item),
            [name, value] => {
                self.set(*name, key);
                self.set(*value, item);
            }
            _ => {}
        }
        Ok(self.body(&range.body, item)? != Flow::Break)
    }

    pub fn set(&mut self, variable: usize, value: Val<'a>) {
        if let Some(place) = self.variables.get_mut(self.base + variable) {
            *place = value;
        }
    }

    /// What a constant term is.
    pub fn constant(term: &'a Term) -> Option<Val<'a>> {
        Some(match term {
            Term::Nil => Val::Null,
            Term::Bool(bool) => Val::Bool(*bool),
            Term::Number(number) => Val::Number(*number),
            Term::Text(text) => Val::Text(text),
            _ => return None,
        })
    }
}
