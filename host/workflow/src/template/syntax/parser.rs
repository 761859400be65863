//! Parser of templates: assigns bodies to control actions.

use super::{
    ast::{
        BranchNode, NodeList, PipelineNode, RangeNode, SourceSpan, SyntaxTree, TemplateNode, VariableSlot,
    },
    lexer,
    pipeline::TokenCursor,
    token::{ActionTokens, SourcePart, TokenKind},
};
use crate::template::{error::ParseError, excerpt::excerpt, limits};

/// Parses a template.
pub(crate) fn parse(source: &str) -> Result<SyntaxTree, ParseError> {
    if source.len() > limits::SOURCE {
        let message =
            format!("a template has at most {} bytes; this one has {}", limits::SOURCE, source.len());
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
        Stop::Closed(at) => return Err(ParseError::new("`{{end}}` without an open action", at)),
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
    /// Names of the variables in scope, in the order in which the evaluator holds their values.
    variables: Vec<&'s str>,
    controls: usize,
    /// Number of enclosing ranges.
    ranges: usize,
    /// Number of enclosing control actions.
    depth: usize,
    named: Vec<Named>,
}

/// Template that is defined or called.
struct Named {
    name: String,
    body: Option<NodeList>,
    at: usize,
}

/// Reasons for which a body ends.
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
                self.count_control(action.at)?;
            }
            match word {
                "if" => body.push(TemplateNode::If(self.branches(tokens, "if", action.at)?)),
                "with" => body.push(TemplateNode::With(self.branches(tokens, "with", action.at)?)),
                "range" => body.push(self.range(tokens, action.at)?),
                "define" => self.define(tokens, action.at)?,
                "template" => {
                    let name = tokens.template_name()?;
                    let argument = if tokens.is_done() { None } else { Some(self.pipeline(&mut tokens, 0)?) };
                    body.push(TemplateNode::Template(self.template_slot(name, action.at), argument));
                }
                "block" => {
                    let name = tokens.template_name()?;
                    let argument = self.pipeline(&mut tokens, 0)?;
                    self.define_body(name.clone(), action.at)?;
                    body.push(TemplateNode::Template(self.template_slot(name, action.at), Some(argument)));
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

    fn count_control(&mut self, at: usize) -> Result<(), ParseError> {
        self.controls += 1;
        if self.controls > limits::CONTROLS {
            let message =
                format!("a template has at most {} control actions (`if`, `range` …)", limits::CONTROLS);
            return Err(ParseError::new(message, at));
        }
        Ok(())
    }

    /// Parses a whole pipeline that may declare up to `declares` variables.
    fn pipeline(
        &mut self,
        tokens: &mut TokenCursor<'s, '_>,
        declares: usize,
    ) -> Result<PipelineNode, ParseError> {
        tokens.pipeline(&mut self.variables, declares)
    }

    /// Parses a nested body with its own variables.
    fn nested_body(&mut self, at: usize) -> Result<(NodeList, Option<ActionTokens>), ParseError> {
        let mark = self.variables.len();
        self.depth += 1;
        if self.depth > limits::NESTING {
            return Err(ParseError::new(
                format!("control actions are nested more than {} deep", limits::NESTING),
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

    /// Parses a body that only `{{end}}` may end.
    fn body_without_else(&mut self, at: usize) -> Result<NodeList, ParseError> {
        match self.nested_body(at)? {
            (body, None) => Ok(body),
            (_, Some(action)) => Err(ParseError::new("a second or misplaced `{{else}}`", action.at)),
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
        let (body, mut next) = self.nested_body(at)?;
        arms.push((condition, body));
        let mut otherwise = Vec::new();
        while let Some(action) = next {
            let mut tokens = TokenCursor::new(self.source, &action);
            tokens.skip();
            if tokens.is_done() {
                otherwise = self.body_without_else(at)?;
                break;
            }
            // A loop instead of recursion bounds the stack for any number of `{{else if}}`.
            tokens.expect_word(word)?;
            self.count_control(action.at)?;
            let condition = self.pipeline(&mut tokens, 1)?;
            let (body, after) = self.nested_body(at)?;
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
        let (body, next) = self.nested_body(at)?;
        self.ranges -= 1;
        let otherwise = match next {
            None => Vec::new(),
            Some(action) => {
                let mut tokens = TokenCursor::new(self.source, &action);
                tokens.skip();
                tokens.expect_end()?;
                self.body_without_else(at)?
            }
        };
        self.variables.truncate(mark);
        Ok(TemplateNode::Range(Box::new(RangeNode { over, body, otherwise })))
    }

    fn define(&mut self, mut tokens: TokenCursor<'s, '_>, at: usize) -> Result<(), ParseError> {
        if self.depth > 0 {
            return Err(ParseError::new("`define` is not allowed inside another action", at));
        }
        let name = tokens.template_name()?;
        tokens.expect_end()?;
        self.define_body(name, at)
    }

    /// Parses a template's body, which does not see outer variables.
    fn define_body(&mut self, name: String, at: usize) -> Result<(), ParseError> {
        let variables = std::mem::replace(&mut self.variables, vec!["$"]);
        let ranges = std::mem::take(&mut self.ranges);
        let body = self.body_without_else(at)?;
        self.variables = variables;
        self.ranges = ranges;
        let number = self.template_slot(name, at);
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

    /// Returns the index of a template, and creates an entry if needed.
    fn template_slot(&mut self, name: String, at: usize) -> VariableSlot {
        if let Some(number) = self.named.iter().position(|named| named.name == name) {
            return number;
        }
        self.named.push(Named { name, body: None, at });
        self.named.len() - 1
    }
}
