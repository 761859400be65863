//! A program's text: parsed, and with the positions that messages show.

use std::{ops::ControlFlow, path::Path};

use boa_engine::{
    Source,
    ast::{
        Expression, Script, Spanned, Statement, StatementListItem, expression::ImportCall,
        function::FunctionBody, scope::Scope, visitor::Visitor,
    },
    interner::Interner,
    parser::{Error as ParseError, Parser, lexer::error::Error as LexError, source::UTF8Input},
};
use loggia_sdk::prelude::*;

use crate::{
    names::Names,
    place::{Place, place},
};

/// Depth of brackets that the engine's parser reads before its stack ends.
const NESTING: usize = 100;
/// Name of the source in the engine's stack traces.
pub const PATH: &str = "program";

/// A program without syntax errors.
pub struct Program<'a> {
    pub code: &'a str,
    pub body: FunctionBody,
    wrapped: String,
    pub names: Names,
}

impl<'a> Program<'a> {
    /// Parses the body of an asynchronous function.
    pub fn parse(code: &'a str, interner: &mut Interner) -> Result<Self, ProgramError> {
        check_nesting(code)?;
        let wrapped = wrap(code);
        let script = Parser::new(source(&wrapped)).parse_script(&Scope::new_global(), interner);
        let script = script.map_err(|error| syntax(code, &error))?;
        let body = only_body(&script).ok_or_else(|| {
            ProgramError::new("syntax error: a `}` closes more than the program opened", None, None)
        })?;
        let program = Self { code, names: Names::of(&body, interner), wrapped, body };
        if let ControlFlow::Break(at) = FindImport.visit_function_body(&program.body) {
            let hint = "There are no modules: programs have the language and the facades.";
            return Err(ProgramError::new("`import` is not supported", at, Some(hint)));
        }
        Ok(program)
    }

    /// Returns the text that the engine runs.
    pub fn source(&self) -> Source<'_, UTF8Input<&[u8]>> {
        source(&self.wrapped)
    }
}

/// Makes the program the body of an asynchronous function that is called. The first line is not the program's.
fn wrap(code: &str) -> String {
    format!("(async () => {{ \"use strict\";\n{code}\n}})()")
}

fn source(wrapped: &str) -> Source<'_, UTF8Input<&[u8]>> {
    Source::from_bytes(wrapped.as_bytes()).with_path(Path::new(PATH))
}

/// Returns the body of the function, unless the program ended the function and went on.
fn only_body(script: &Script) -> Option<FunctionBody> {
    let [StatementListItem::Statement(statement)] = script.statements().statements() else { return None };
    let Statement::Expression(Expression::Call(call)) = &**statement else { return None };
    match call.function() {
        Expression::Parenthesized(inner) if call.args().is_empty() => match inner.expression() {
            Expression::AsyncArrowFunction(function) => Some(function.body().clone()),
            _ => None,
        },
        Expression::AsyncArrowFunction(function) if call.args().is_empty() => Some(function.body().clone()),
        _ => None,
    }
}

/// A program that cannot be run.
pub struct ProgramError {
    pub message: String,
    pub place: Option<Place>,
    pub hint: Option<&'static str>,
}

impl ProgramError {
    fn new(message: impl Into<String>, place: Option<Place>, hint: Option<&'static str>) -> Self {
        Self { message: message.into(), place, hint }
    }

    /// Converts it to the failure of a call with this code.
    pub fn into_failure(self, code: &str) -> Failure {
        let failure = Failure::invalid_params(format!("{}{}", self.message, place(code, self.place)));
        let failure = match self.hint {
            Some(hint) => failure.hint(hint),
            None => failure,
        };
        match self.place {
            Some(place) => failure.details(place),
            None => failure,
        }
    }
}

/// Converts a syntax error.
fn syntax(code: &str, error: &ParseError) -> ProgramError {
    let (message, at) = match error {
        ParseError::Unexpected { message, found, span } => {
            (format!("unexpected `{found}`: {message}"), Some(span.start()))
        }
        ParseError::Expected { found, span, expected, .. } => {
            let expected: Vec<String> = expected.iter().take(4).map(|token| format!("`{token}`")).collect();
            (format!("unexpected `{found}`; expected {}", expected.join(" or ")), Some(span.start()))
        }
        ParseError::General { message, position } => (message.to_string(), Some(*position)),
        ParseError::Lex { err: LexError::Syntax(message, position) } => {
            (message.to_string(), Some(*position))
        }
        ParseError::Lex { err: LexError::IO(error) } => (error.to_string(), None),
        ParseError::AbruptEnd => (String::new(), None),
        other => (other.to_string(), None),
    };
    let place = at.and_then(Place::of);
    let lines = code.lines().count();
    let is_after_end = place.is_some_and(|place| usize::try_from(place.line).is_ok_and(|line| line > lines));
    if is_after_end || message.is_empty() {
        let message =
            "syntax error: the program ends too early: a bracket, a text or a comment is not closed";
        return ProgramError::new(message, None, None);
    }
    ProgramError::new(format!("syntax error: {message}"), place, None)
}

/// Refuses code whose brackets would end the stack of the parser.
fn check_nesting(code: &str) -> Result<(), ProgramError> {
    let mut depth = 0_usize;
    for c in code.chars() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > NESTING {
            let message = format!("brackets are nested more than {NESTING} deep");
            let hint = "Build deep values in a loop, or pass them as `input`.";
            return Err(ProgramError::new(message, None, Some(hint)));
        }
    }
    Ok(())
}

/// Finds a dynamic import. Static ones are syntax errors in a function.
struct FindImport;

impl<'ast> Visitor<'ast> for FindImport {
    type BreakTy = Option<Place>;

    fn visit_import_call(&mut self, node: &'ast ImportCall) -> ControlFlow<Option<Place>> {
        ControlFlow::Break(Place::of(node.span().start()))
    }
}
