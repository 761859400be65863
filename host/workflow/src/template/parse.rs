//! Parts of a template, put together: which bodies belong to which control actions.

use super::{
    ParseError,
    ast::{Ast, Body, Branches, Node, Pipeline, Range, Span, Variable},
    lex::{self, Action, Kind, Part, shown},
    limits,
    pipeline::Tokens,
};

/// Reads a template.
pub(super) fn parse(source: &str) -> Result<Ast, ParseError> {
    if source.len() > limits::SOURCE {
        let message =
            format!("a template is at most {} bytes long, and this one {}", limits::SOURCE, source.len());
        return Err(ParseError { message, at: None });
    }
    let mut parser = Parser {
        source,
        parts: lex::parts(source)?.into_iter(),
        variables: vec!["$"],
        controls: 0,
        ranges: 0,
        depth: 0,
        named: Vec::new(),
    };
    let (main, stop) = parser.body()?;
    match stop {
        Stop::End => {}
        Stop::Closed(at) => return Err(error("`{{end}}` without anything to end", at)),
        Stop::Else(action) => return Err(error("`{{else}}` without `if`, `with` or `range`", action.at)),
    }
    let mut defined = Vec::with_capacity(parser.named.len());
    for Named { name, body, at } in parser.named {
        match body {
            Some(body) => defined.push(body),
            None => return Err(error(format!("there is no template {:?}", shown(&name)), at)),
        }
    }
    Ok(Ast { main, defined })
}

pub(super) fn error(message: impl Into<String>, at: usize) -> ParseError {
    ParseError { message: message.into(), at: Some(at) }
}

struct Parser<'s> {
    source: &'s str,
    parts: std::vec::IntoIter<Part>,
    /// The names of the variables that are in scope, in the order in which a run holds their values.
    variables: Vec<&'s str>,
    controls: usize,
    /// Ranges around what is being read.
    ranges: usize,
    /// Control actions around what is being read.
    depth: usize,
    named: Vec<Named>,
}

/// A template that is defined or called.
struct Named {
    name: String,
    body: Option<Body>,
    at: usize,
}

/// Why a body ends.
enum Stop {
    End,
    Closed(usize),
    Else(Action),
}

impl<'s> Parser<'s> {
    fn body(&mut self) -> Result<(Body, Stop), ParseError> {
        let mut body = Vec::new();
        while let Some(part) = self.parts.next() {
            let action = match part {
                Part::Text(range) => {
                    body.push(Node::Text(Span { start: range.start, end: range.end }));
                    continue;
                }
                Part::Action(action) => action,
            };
            let word = match action.tokens.first() {
                Some(token) if token.kind == Kind::Word => &self.source[token.at..token.end],
                _ => "",
            };
            let mut tokens = Tokens::new(self.source, &action);
            if matches!(word, "if" | "with" | "range" | "define" | "template" | "block") {
                tokens.skip();
                self.count(action.at)?;
            }
            match word {
                "if" => body.push(Node::If(self.branches(tokens, "if", action.at)?)),
                "with" => body.push(Node::With(self.branches(tokens, "with", action.at)?)),
                "range" => body.push(self.range(tokens, action.at)?),
                "define" => self.define(tokens, action.at)?,
                "template" => {
                    let name = tokens.name()?;
                    let argument = if tokens.is_done() { None } else { Some(self.pipeline(&mut tokens, 0)?) };
                    body.push(Node::Template(self.named(name, action.at), argument));
                }
                "block" => {
                    let name = tokens.name()?;
                    let argument = self.pipeline(&mut tokens, 0)?;
                    self.define_as(name.clone(), action.at)?;
                    body.push(Node::Template(self.named(name, action.at), Some(argument)));
                }
                "end" if action.tokens.len() == 1 => return Ok((body, Stop::Closed(action.at))),
                "else" => return Ok((body, Stop::Else(action))),
                "break" | "continue" if action.tokens.len() == 1 => {
                    if self.ranges == 0 {
                        return Err(error(format!("`{{{{{word}}}}}` outside of `range`"), action.at));
                    }
                    body.push(if word == "break" { Node::Break } else { Node::Continue });
                }
                _ => body.push(Node::Action(self.pipeline(&mut tokens, 1)?)),
            }
        }
        Ok((body, Stop::End))
    }

    fn count(&mut self, at: usize) -> Result<(), ParseError> {
        self.controls += 1;
        if self.controls > limits::CONTROLS {
            let message =
                format!("a template has at most {} control actions (`if`, `range` …)", limits::CONTROLS);
            return Err(error(message, at));
        }
        Ok(())
    }

    /// A whole pipeline, which may declare so many variables.
    fn pipeline(&mut self, tokens: &mut Tokens<'s, '_>, declares: usize) -> Result<Pipeline, ParseError> {
        tokens.pipeline(&mut self.variables, declares)
    }

    /// A body that must end; with its own variables.
    fn inner(&mut self, at: usize) -> Result<(Body, Option<Action>), ParseError> {
        let mark = self.variables.len();
        self.depth += 1;
        if self.depth > limits::NESTING {
            return Err(error(format!("control actions are more than {} deep", limits::NESTING), at));
        }
        let (body, stop) = self.body()?;
        self.depth -= 1;
        self.variables.truncate(mark);
        match stop {
            Stop::Closed(_) => Ok((body, None)),
            Stop::Else(action) => Ok((body, Some(action))),
            Stop::End => Err(error("`{{end}}` is missing", at)),
        }
    }

    /// A body that only `{{end}}` ends.
    fn last(&mut self, at: usize) -> Result<Body, ParseError> {
        match self.inner(at)? {
            (body, None) => Ok(body),
            (_, Some(action)) => Err(error("a second `{{else}}`, or one that belongs to nothing", action.at)),
        }
    }

    fn branches(
        &mut self,
        mut tokens: Tokens<'s, '_>,
        word: &str,
        at: usize,
    ) -> Result<Branches, ParseError> {
        let mark = self.variables.len();
        let mut arms = Vec::new();
        let condition = self.pipeline(&mut tokens, 1)?;
        let (body, mut next) = self.inner(at)?;
        arms.push((condition, body));
        let mut otherwise = Vec::new();
        while let Some(action) = next {
            let mut tokens = Tokens::new(self.source, &action);
            tokens.skip();
            if tokens.is_done() {
                otherwise = self.last(at)?;
                break;
            }
            // `{{else if}}` goes on in the same way, however many there are.
            tokens.word(word)?;
            self.count(action.at)?;
            let condition = self.pipeline(&mut tokens, 1)?;
            let (body, after) = self.inner(at)?;
            arms.push((condition, body));
            next = after;
        }
        self.variables.truncate(mark);
        Ok(Branches { arms, otherwise })
    }

    fn range(&mut self, mut tokens: Tokens<'s, '_>, at: usize) -> Result<Node, ParseError> {
        let mark = self.variables.len();
        let over = self.pipeline(&mut tokens, 2)?;
        self.ranges += 1;
        let (body, next) = self.inner(at)?;
        self.ranges -= 1;
        let otherwise = match next {
            None => Vec::new(),
            Some(action) => {
                let mut tokens = Tokens::new(self.source, &action);
                tokens.skip();
                tokens.done()?;
                self.last(at)?
            }
        };
        self.variables.truncate(mark);
        Ok(Node::Range(Box::new(Range { over, body, otherwise })))
    }

    fn define(&mut self, mut tokens: Tokens<'s, '_>, at: usize) -> Result<(), ParseError> {
        if self.depth > 0 {
            return Err(error("`define` stands inside of another action", at));
        }
        let name = tokens.name()?;
        tokens.done()?;
        self.define_as(name, at)
    }

    /// The body of a template, which sees no variables from outside.
    fn define_as(&mut self, name: String, at: usize) -> Result<(), ParseError> {
        let variables = std::mem::replace(&mut self.variables, vec!["$"]);
        let ranges = std::mem::take(&mut self.ranges);
        let body = self.last(at)?;
        self.variables = variables;
        self.ranges = ranges;
        let number = self.named(name, at);
        let named = &mut self.named[number];
        if named.body.is_some() {
            return Err(error(format!("the template {:?} is defined twice", shown(&named.name)), at));
        }
        named.body = Some(body);
        Ok(())
    }

    /// The number of a template.
    fn named(&mut self, name: String, at: usize) -> Variable {
        if let Some(number) = self.named.iter().position(|named| named.name == name) {
            return number;
        }
        self.named.push(Named { name, body: None, at });
        self.named.len() - 1
    }
}
