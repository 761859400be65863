//! Parser of one action: pipelines of commands.

use super::{
    ast::{CommandNode, OperandNode, OperandTerm, PipelineNode, SourceSpan, VariableSlot},
    token::{ActionTokens, LexToken, TokenKind},
};
use crate::template::{error::ParseError, excerpt::excerpt, function::BuiltinFunction};

/// Cursor over the tokens of one action.
pub(crate) struct TokenCursor<'s, 't> {
    source: &'s str,
    rest: std::slice::Iter<'t, LexToken>,
    /// Offset of the action's end.
    end: usize,
}

impl<'s, 't> TokenCursor<'s, 't> {
    pub(super) fn new(source: &'s str, action: &'t ActionTokens) -> Self {
        Self { source, rest: action.tokens.iter(), end: action.end }
    }

    pub(super) fn is_done(&self) -> bool {
        self.rest.as_slice().is_empty()
    }

    /// Skips a token.
    pub(super) fn skip(&mut self) {
        self.rest.next();
    }

    /// Expects the end of the action.
    pub(super) fn expect_end(&self) -> Result<(), ParseError> {
        match self.rest.as_slice().first() {
            None => Ok(()),
            Some(token) => Err(self.unexpected(token)),
        }
    }

    /// Expects this word.
    pub(super) fn expect_word(&mut self, word: &str) -> Result<(), ParseError> {
        match self.rest.next() {
            Some(token) if token.kind == TokenKind::Word && self.text(token) == word => Ok(()),
            Some(token) => Err(self.unexpected(token)),
            None => Err(ParseError::new(format!("`{word}` is missing"), self.end)),
        }
    }

    /// Expects the quoted name of a template.
    pub(super) fn template_name(&mut self) -> Result<String, ParseError> {
        match self.rest.next() {
            Some(LexToken { kind: TokenKind::Text(name), .. }) => Ok(name.clone()),
            _ => Err(ParseError::new("the quoted name of a template is missing", self.end)),
        }
    }

    /// Parses a whole pipeline that may declare up to `declares` variables.
    pub(super) fn pipeline(
        &mut self,
        variables: &mut Vec<&'s str>,
        declares: usize,
    ) -> Result<PipelineNode, ParseError> {
        let pipeline = self.commands(variables, declares)?;
        self.expect_end()?;
        Ok(pipeline)
    }

    fn text(&self, token: &LexToken) -> &'s str {
        &self.source[token.at..token.end]
    }

    fn unexpected(&self, token: &LexToken) -> ParseError {
        ParseError::new(format!("`{}` is not expected here", excerpt(self.text(token))), token.at)
    }

    fn commands(
        &mut self,
        variables: &mut Vec<&'s str>,
        declares: usize,
    ) -> Result<PipelineNode, ParseError> {
        let start = self.next_offset();
        let (names, assigns) = self.declared_variables(declares)?;
        let mut commands = Vec::new();
        loop {
            let command = self.command(variables)?;
            let value = command.head.fields.is_empty()
                && !matches!(command.head.term, OperandTerm::Function(_) | OperandTerm::Variable(_));
            if !commands.is_empty() && value {
                return Err(ParseError::new("a value after `|` must be a function", command.span.start));
            }
            commands.push(command);
            match self.rest.as_slice().first() {
                Some(token) if token.kind == TokenKind::Pipe => self.skip(),
                _ => break,
            }
        }
        let end = commands.last().map_or(start, |command| command.span.end);
        let mut slots: Vec<VariableSlot> = Vec::with_capacity(names.len());
        for token in names {
            let name = self.text(token);
            if assigns {
                slots.push(self.variable(token, variables)?);
            } else {
                variables.push(name);
                slots.push(variables.len() - 1);
            }
        }
        Ok(PipelineNode { span: SourceSpan { start, end }, variables: slots, assigns, commands })
    }

    /// Parses `$v :=`, `$v =` or `$i, $v :=`; returns the names, and whether they are assigned.
    fn declared_variables(&mut self, most: usize) -> Result<(Vec<&'t LexToken>, bool), ParseError> {
        let tokens = self.rest.as_slice();
        let kind = |index: usize| tokens.get(index).map(|token| &token.kind);
        let count = match (kind(0), kind(1), kind(2), kind(3)) {
            (Some(TokenKind::Variable), Some(TokenKind::Declare | TokenKind::Assign), ..) => 1,
            (
                Some(TokenKind::Variable),
                Some(TokenKind::Comma),
                Some(TokenKind::Variable),
                Some(TokenKind::Declare | TokenKind::Assign),
            ) => 2,
            _ => return Ok((Vec::new(), false)),
        };
        let sign = 2 * count - 1;
        if count > most {
            return Err(ParseError::new("a variable cannot be declared here", tokens[0].at));
        }
        let names = tokens[..sign].iter().step_by(2).collect();
        self.rest = tokens[sign + 1..].iter();
        Ok((names, tokens[sign].kind == TokenKind::Assign))
    }

    fn command(&mut self, variables: &mut Vec<&'s str>) -> Result<CommandNode, ParseError> {
        let start = self.next_offset();
        let Some(head) = self.operand(variables)? else {
            return Err(match self.rest.as_slice().first() {
                Some(token) if token.kind != TokenKind::Pipe && token.kind != TokenKind::Close => {
                    self.unexpected(token)
                }
                _ => ParseError::new("a value is missing", start),
            });
        };
        if matches!(head.term, OperandTerm::Nil) {
            return Err(ParseError::new("`nil` is not a command", start));
        }
        let mut end = self.previous_end();
        let mut arguments = Vec::new();
        while self.rest.as_slice().first().is_some_and(|token| token.spaced) {
            let Some(argument) = self.operand(variables)? else { break };
            arguments.push(argument);
            end = self.previous_end();
        }
        match self.rest.as_slice().first() {
            Some(token) if !matches!(token.kind, TokenKind::Pipe | TokenKind::Close) => {
                Err(self.unexpected(token))
            }
            _ => Ok(CommandNode { span: SourceSpan { start, end: end.max(start) }, head, arguments }),
        }
    }

    fn operand(&mut self, variables: &mut Vec<&'s str>) -> Result<Option<OperandNode>, ParseError> {
        let Some(token) = self.rest.as_slice().first() else { return Ok(None) };
        let mut fields = Vec::new();
        let mut span = SourceSpan { start: token.at, end: token.end };
        let term = match &token.kind {
            TokenKind::Dot => OperandTerm::Dot,
            TokenKind::Field => {
                fields.push(self.text(token)[1..].to_owned());
                span.end = span.start;
                OperandTerm::Dot
            }
            TokenKind::Variable => OperandTerm::Variable(self.variable(token, variables)?),
            TokenKind::Number(num) => OperandTerm::Number(*num),
            TokenKind::Text(text) => OperandTerm::Text(text.clone()),
            TokenKind::Word => match self.text(token) {
                "true" => OperandTerm::Bool(true),
                "false" => OperandTerm::Bool(false),
                "nil" => OperandTerm::Nil,
                name => match BuiltinFunction::named(name) {
                    Some(function) => OperandTerm::Function(function),
                    None => return Err(self.unknown_function(name, token.at)),
                },
            },
            TokenKind::Open => {
                self.skip();
                // The lexer bounds the nesting of parentheses.
                let inner = self.commands(variables, 0)?;
                match self.rest.as_slice().first() {
                    Some(close) if close.kind == TokenKind::Close => span.end = close.end,
                    Some(other) => return Err(self.unexpected(other)),
                    None => return Err(ParseError::new("unclosed parenthesis", span.start)),
                }
                OperandTerm::Pipeline(Box::new(inner))
            }
            TokenKind::Declare
            | TokenKind::Assign
            | TokenKind::Comma
            | TokenKind::Pipe
            | TokenKind::Close => return Ok(None),
        };
        self.skip();
        let leads =
            matches!(term, OperandTerm::Variable(_) | OperandTerm::Function(_) | OperandTerm::Pipeline(_))
                || !fields.is_empty();
        while let Some(token) = self.rest.as_slice().first()
            && token.kind == TokenKind::Field
            && !token.spaced
        {
            if !leads {
                return Err(self.unexpected(token));
            }
            fields.push(self.text(token)[1..].to_owned());
            self.skip();
        }
        Ok(Some(OperandNode { span, term, fields }))
    }

    fn variable(&self, token: &LexToken, variables: &[&str]) -> Result<VariableSlot, ParseError> {
        let name = self.text(token);
        let found = variables.iter().rposition(|variable| *variable == name);
        found.ok_or_else(|| {
            ParseError::new(format!("the variable `{}` is not declared", excerpt(name)), token.at)
        })
    }

    fn unknown_function(&self, name: &str, at: usize) -> ParseError {
        let near = loggia_schema::nearest(name, BuiltinFunction::names());
        let advice = near.map(|near| format!(": did you mean `{near}`?")).unwrap_or_default();
        ParseError::new(format!("there is no function `{}`{advice}", excerpt(name)), at)
    }

    /// Returns the offset of the next token.
    fn next_offset(&self) -> usize {
        self.rest.as_slice().first().map_or(self.end, |token| token.at)
    }

    /// Returns the end of the previous token.
    fn previous_end(&self) -> usize {
        match self.rest.as_slice().first() {
            Some(token) => self.source[..token.at].trim_end().len(),
            None => self.source[..self.end].trim_end().len(),
        }
    }
}
