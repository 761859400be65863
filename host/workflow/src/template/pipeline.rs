//! Reads what stands in an action: pipelines of commands.

use super::{
    ParseError,
    ast::{Command, Operand, Pipeline, Span, Term, Variable},
    function::Function,
    lex::{Action, Kind, Token, shown},
    parse::error,
};

/// The tokens of one action, as they are read.
pub(super) struct Tokens<'s, 't> {
    source: &'s str,
    rest: std::slice::Iter<'t, Token>,
    /// Where the action ends.
    end: usize,
}

impl<'s, 't> Tokens<'s, 't> {
    pub fn new(source: &'s str, action: &'t Action) -> Self {
        Self { source, rest: action.tokens.iter(), end: action.end }
    }

    pub fn is_done(&self) -> bool {
        self.rest.as_slice().is_empty()
    }

    /// Leaves a token out that has been seen already.
    pub fn skip(&mut self) {
        self.rest.next();
    }

    /// There must be nothing more.
    pub fn done(&self) -> Result<(), ParseError> {
        match self.rest.as_slice().first() {
            None => Ok(()),
            Some(token) => Err(self.unexpected(token)),
        }
    }

    /// A certain word must follow.
    pub fn word(&mut self, word: &str) -> Result<(), ParseError> {
        match self.rest.next() {
            Some(token) if token.kind == Kind::Word && self.text(token) == word => Ok(()),
            Some(token) => Err(self.unexpected(token)),
            None => Err(error(format!("`{word}` is missing"), self.end)),
        }
    }

    /// The name of a template.
    pub fn name(&mut self) -> Result<String, ParseError> {
        match self.rest.next() {
            Some(Token { kind: Kind::Text(name), .. }) => Ok(name.clone()),
            _ => Err(error("a template's name in quotes is missing", self.end)),
        }
    }

    /// A whole pipeline, which may declare so many variables.
    pub fn pipeline(
        &mut self,
        variables: &mut Vec<&'s str>,
        declares: usize,
    ) -> Result<Pipeline, ParseError> {
        let pipeline = self.commands(variables, declares)?;
        self.done()?;
        Ok(pipeline)
    }

    fn text(&self, token: &Token) -> &'s str {
        &self.source[token.at..token.end]
    }

    fn unexpected(&self, token: &Token) -> ParseError {
        error(format!("`{}` is not expected here", shown(self.text(token))), token.at)
    }

    fn commands(&mut self, variables: &mut Vec<&'s str>, declares: usize) -> Result<Pipeline, ParseError> {
        let start = self.here();
        let (names, assigns) = self.declared(declares)?;
        let mut commands = Vec::new();
        loop {
            let command = self.command(variables)?;
            let value = command.head.fields.is_empty()
                && !matches!(command.head.term, Term::Function(_) | Term::Variable(_));
            if !commands.is_empty() && value {
                return Err(error("what stands after `|` must be a function", command.span.start));
            }
            commands.push(command);
            match self.rest.as_slice().first() {
                Some(token) if token.kind == Kind::Pipe => self.skip(),
                _ => break,
            }
        }
        let end = commands.last().map_or(start, |command| command.span.end);
        let mut slots: Vec<Variable> = Vec::with_capacity(names.len());
        for token in names {
            let name = self.text(token);
            if assigns {
                slots.push(self.variable(token, variables)?);
            } else {
                variables.push(name);
                slots.push(variables.len() - 1);
            }
        }
        Ok(Pipeline { span: Span { start, end }, variables: slots, assigns, commands })
    }

    /// `$v :=`, `$v =`, `$i, $v :=`: the names, and whether they are set, not declared.
    fn declared(&mut self, most: usize) -> Result<(Vec<&'t Token>, bool), ParseError> {
        let tokens = self.rest.as_slice();
        let kind = |index: usize| tokens.get(index).map(|token| &token.kind);
        let count = match (kind(0), kind(1), kind(2), kind(3)) {
            (Some(Kind::Variable), Some(Kind::Declare | Kind::Assign), ..) => 1,
            (
                Some(Kind::Variable),
                Some(Kind::Comma),
                Some(Kind::Variable),
                Some(Kind::Declare | Kind::Assign),
            ) => 2,
            _ => return Ok((Vec::new(), false)),
        };
        let sign = 2 * count - 1;
        if count > most {
            return Err(error("a variable is not declared here", tokens[0].at));
        }
        let names = tokens[..sign].iter().step_by(2).collect();
        self.rest = tokens[sign + 1..].iter();
        Ok((names, tokens[sign].kind == Kind::Assign))
    }

    fn command(&mut self, variables: &mut Vec<&'s str>) -> Result<Command, ParseError> {
        let start = self.here();
        let Some(head) = self.operand(variables)? else {
            return Err(match self.rest.as_slice().first() {
                Some(token) if token.kind != Kind::Pipe && token.kind != Kind::Close => {
                    self.unexpected(token)
                }
                _ => error("a value is missing", start),
            });
        };
        if matches!(head.term, Term::Nil) {
            return Err(error("`nil` is no command", start));
        }
        let mut end = self.before();
        let mut arguments = Vec::new();
        while self.rest.as_slice().first().is_some_and(|token| token.spaced) {
            let Some(argument) = self.operand(variables)? else { break };
            arguments.push(argument);
            end = self.before();
        }
        match self.rest.as_slice().first() {
            Some(token) if !matches!(token.kind, Kind::Pipe | Kind::Close) => Err(self.unexpected(token)),
            _ => Ok(Command { span: Span { start, end: end.max(start) }, head, arguments }),
        }
    }

    fn operand(&mut self, variables: &mut Vec<&'s str>) -> Result<Option<Operand>, ParseError> {
        let Some(token) = self.rest.as_slice().first() else { return Ok(None) };
        let mut fields = Vec::new();
        let mut span = Span { start: token.at, end: token.end };
        let term = match &token.kind {
            Kind::Dot => Term::Dot,
            Kind::Field => {
                fields.push(self.text(token)[1..].to_owned());
                span.end = span.start;
                Term::Dot
            }
            Kind::Variable => Term::Variable(self.variable(token, variables)?),
            Kind::Number(num) => Term::Number(*num),
            Kind::Text(text) => Term::Text(text.clone()),
            Kind::Word => match self.text(token) {
                "true" => Term::Bool(true),
                "false" => Term::Bool(false),
                "nil" => Term::Nil,
                name => match Function::named(name) {
                    Some(function) => Term::Function(function),
                    None => return Err(self.unknown(name, token.at)),
                },
            },
            Kind::Open => {
                self.skip();
                // Parentheses are nested only so deep: the lexer counts them.
                let inner = self.commands(variables, 0)?;
                match self.rest.as_slice().first() {
                    Some(close) if close.kind == Kind::Close => span.end = close.end,
                    Some(other) => return Err(self.unexpected(other)),
                    None => return Err(error("a parenthesis is not closed", span.start)),
                }
                Term::Pipeline(Box::new(inner))
            }
            Kind::Declare | Kind::Assign | Kind::Comma | Kind::Pipe | Kind::Close => return Ok(None),
        };
        self.skip();
        let leads =
            matches!(term, Term::Variable(_) | Term::Function(_) | Term::Pipeline(_)) || !fields.is_empty();
        while let Some(token) = self.rest.as_slice().first()
            && token.kind == Kind::Field
            && !token.spaced
        {
            if !leads {
                return Err(self.unexpected(token));
            }
            fields.push(self.text(token)[1..].to_owned());
            self.skip();
        }
        Ok(Some(Operand { span, term, fields }))
    }

    fn variable(&self, token: &Token, variables: &[&str]) -> Result<Variable, ParseError> {
        let name = self.text(token);
        let found = variables.iter().rposition(|variable| *variable == name);
        found.ok_or_else(|| error(format!("the variable `{}` is not declared", shown(name)), token.at))
    }

    fn unknown(&self, name: &str, at: usize) -> ParseError {
        let near = loggia_schema::nearest(name, Function::names());
        let advice = near.map(|near| format!(": did you mean `{near}`?")).unwrap_or_default();
        error(format!("there is no function `{}`{advice}", shown(name)), at)
    }

    /// Where the next token is.
    fn here(&self) -> usize {
        self.rest.as_slice().first().map_or(self.end, |token| token.at)
    }

    /// Where the last token that was read ended.
    fn before(&self) -> usize {
        match self.rest.as_slice().first() {
            Some(token) => self.source[..token.at].trim_end().len(),
            None => self.source[..self.end].trim_end().len(),
        }
    }
}
