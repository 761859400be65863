//! Parts of a template, put together: which bodies belong to which control actions.

use super::{
    ast::{
        BranchNode, NodeList, PipelineNode, RangeNode, SourceSpan, SyntaxTree, TemplateNode, VariableSlot,
    },
    lexer,
    pipeline::TokenCursor,
    token::{ActionTokens, SourcePart, TokenKind},
};
use crate::template::{error::ParseError, excerpt::excerpt, limits};

/// Reads a template.
pub(crate) fn parse(source: &str) -> Result<SyntaxTree, ParseError> {
    if source.len() > limits::SOURCE {
        let message =
            format!("a template is at most {} bytes long, and this one {}", limits::SOURCE, source.len());
        return Err(ParseError { message, at: None });
    }
    let mut parser = Parser {
        source,
        parts: lexer::split(source)?.into_iter(),
        variables: vec!["$"],
        controls: 0,
        ranges: 0,
        depth: 0,
        named: Vec::new(),
    };
    let (main, stop) = parser.body()?;
    match stop {
        Stop::End => {}
        Stop::Closed(at) => return Err(ParseError::new("`{{end}}` without anything to end", at)),
        Stop::Else(action) => {
            return Err(ParseError::new("`{{else}}` without `if`, `with` or `range`", action.at));
        }
    }
    let mut defined = Vec::with_capacity(parser.named.len());
    for Named { name, body, at } in parser.named {
        match body {
            Some(body) => defined.push(body),
            None => return Err(ParseError::new(format!("there is no template {:?}", excerpt(&name)), at)),
        }
    }
    Ok(SyntaxTree { main, defined })
}

struct Parser<'s> {
    source: &'s str,
    parts: std::vec::IntoIter<SourcePart>,
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
    body: Option<NodeList>,
    at: usize,
}

/// Why a body ends.
enum Stop {
    End,
    Closed(usize),
    Else(ActionTokens),
}

impl<'s> Parser<'s> {
    fn body(&mut self) -> Result<(NodeList, Stop), ParseError> {
        let mut body = Vec::new();
        while let Some(part) = self.parts.next() {
            let action = match part {
                SourcePart::Text(range) => {
                    body.push(TemplateNode::Text(SourceSpan { start: range.start, end: range.end }));
                    continue;
                }
                SourcePart::Action(action) => action,
            };
            let word = match action.tokens.first() {
                Some(token) if token.kind == TokenKind::Word => &self.source[token.at..token.end],
                _ => "",
            };
            let mut tokens = TokenCursor::new(self.source, &action);
            if matches!(word, "if" | "with" | "range" | "define" | "template" | "block") {
                tokens.skip();
                self.count(action.at)?;
            }
            match word {
                "if" => body.push(TemplateNode::If(self.branches(tokens, "if", action.at)?)),
                "with" => body.push(TemplateNode::With(self.branches(tokens, "with", action.at)?)),
                "range" => body.push(self.range(tokens, action.at)?),
                "define" => self.define(tokens, action.at)?,
                "template" => {
                    let name = tokens.name()?;
                    let argument = if tokens.is_done() { None } else { Some(self.pipeline(&mut tokens, 0)?) };
                    body.push(TemplateNode::Template(self.named(name, action.at), argument));
                }
                "block" => {
                    let name = tokens.name()?;
                    let argument = self.pipeline(&mut tokens, 0)?;
                    self.define_as(name.clone(), action.at)?;
                    body.push(TemplateNode::Template(self.named(name, action.at), Some(argument)));
                }
                "end" if action.tokens.len() == 1 => return Ok((body, Stop::Closed(action.at))),
                "else" => return Ok((body, Stop::Else(action))),
                "break" | "continue" if action.tokens.len() == 1 => {
                    if self.ranges == 0 {
                        return Err(ParseError::new(
                            format!("`{{{{{word}}}}}` outside of `range`"),
                            action.at,
                        ));
                    }
                    body.push(if word == "break" { TemplateNode::Break } else { TemplateNode::Continue });
                }
                _ => body.push(TemplateNode::Action(self.pipeline(&mut tokens, 1)?)),
            }
        }
        Ok((body, Stop::End))
    }

    fn count(&mut self, at: usize) -> Result<(), ParseError> {
        self.controls += 1;
        if self.controls > limits::CONTROLS {
            let message =
                format!("a template has at most {} control actions (`if`, `range` …)", limits::CONTROLS);
            return Err(ParseError::new(message, at));
        }
        Ok(())
    }

    /// A whole pipeline, which may declare so many variables.
    fn pipeline(
        &mut self,
        tokens: &mut TokenCursor<'s, '_>,
        declares: usize,
    ) -> Result<PipelineNode, ParseError> {
        tokens.pipeline(&mut self.variables, declares)
    }

    /// A body that must end; with its own variables.
    fn inner(&mut self, at: usize) -> Result<(NodeList, Option<ActionTokens>), ParseError> {
        let mark = self.variables.len();
        self.depth += 1;
        if self.depth > limits::NESTING {
            return Err(ParseError::new(
                format!("control actions are more than {} deep", limits::NESTING),
                at,
            ));
        }
        let (body, stop) = self.body()?;
        self.depth -= 1;
        self.variables.truncate(mark);
        match stop {
            Stop::Closed(_) => Ok((body, None)),
            Stop::Else(action) => Ok((body, Some(action))),
            Stop::End => Err(ParseError::new("`{{end}}` is missing", at)),
        }
    }

    /// A body that only `{{end}}` ends.
    fn last(&mut self, at: usize) -> Result<NodeList, ParseError> {
        match self.inner(at)? {
            (body, None) => Ok(body),
            (_, Some(action)) => {
                Err(ParseError::new("a second `{{else}}`, or one that belongs to nothing", action.at))
            }
        }
    }

    fn branches(
        &mut self,
        mut tokens: TokenCursor<'s, '_>,
        word: &str,
        at: usize,
    ) -> Result<BranchNode, ParseError> {
        let mark = self.variables.len();
        let mut arms = Vec::new();
        let condition = self.pipeline(&mut tokens, 1)?;
        let (body, mut next) = self.inner(at)?;
        arms.push((condition, body));
        let mut otherwise = Vec::new();
        while let Some(action) = next {
            let mut tokens = TokenCursor::new(self.source, &action);
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
        Ok(BranchNode { arms, otherwise })
    }

    fn range(&mut self, mut tokens: TokenCursor<'s, '_>, at: usize) -> Result<TemplateNode, ParseError> {
        let mark = self.variables.len();
        let over = self.pipeline(&mut tokens, 2)?;
        self.ranges += 1;
        let (body, next) = self.inner(at)?;
        self.ranges -= 1;
        let otherwise = match next {
            None => Vec::new(),
            Some(action) => {
                let mut tokens = TokenCursor::new(self.source, &action);
                tokens.skip();
                tokens.done()?;
                self.last(at)?
            }
        };
        self.variables.truncate(mark);
        Ok(TemplateNode::Range(Box::new(RangeNode { over, body, otherwise })))
    }

    fn define(&mut self, mut tokens: TokenCursor<'s, '_>, at: usize) -> Result<(), ParseError> {
        if self.depth > 0 {
            return Err(ParseError::new("`define` stands inside of another action", at));
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
            return Err(ParseError::new(
                format!("the template {:?} is defined twice", excerpt(&named.name)),
                at,
            ));
        }
        named.body = Some(body);
        Ok(())
    }

    /// The number of a template.
    fn named(&mut self, name: String, at: usize) -> VariableSlot {
        if let Some(number) = self.named.iter().position(|named| named.name == name) {
            return number;
        }
        self.named.push(Named { name, body: None, at });
        self.named.len() - 1
    }
}
