//! A program's text: parsed, and with the positions that messages show.

use std::{collections::BTreeMap, ops::ControlFlow, path::Path};

use boa_engine::{
    Source,
    ast::{
        Expression, Position, Script, Spanned, Statement, StatementListItem,
        expression::{Identifier, ImportCall, access::PropertyAccessField},
        function::FunctionBody,
        property::PropertyName,
        scope::Scope,
        visitor::{VisitWith, Visitor},
    },
    interner::{Interner, Sym},
    parser::{Error as ParseError, Parser, lexer::error::Error as LexError, source::UTF8Input},
};
use loggia_sdk::prelude::*;

/// Depth of brackets that the engine's parser reads before its stack ends.
const NESTING: usize = 100;
/// Characters of a source line that a message shows.
const LINE: usize = 120;
/// Name of the source in the engine's stack traces.
pub const PATH: &str = "program";

/// A program without syntax errors.
pub struct Program<'a> {
    pub code: &'a str,
    pub body: FunctionBody,
    wrapped: String,
    /// Names of the variables that it uses, its own ones among them, and where each is used first.
    pub names: BTreeMap<String, Place>,
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
        let mut names = UsedNames(BTreeMap::new());
        let _ = names.visit_function_body(&body);
        let names = names.0.into_iter().map(|(name, at)| (interner.resolve_expect(name).to_string(), at));
        let program = Self { code, wrapped, names: names.collect(), body };
        if let ControlFlow::Break(at) = FindImport.visit_function_body(&program.body) {
            let hint = "There are no modules: programs have the language and the facades.";
            return Err(ProgramError::new("`import` is not supported", at, Some(hint)));
        }
        Ok(program)
    }

    /// Finds the first use of a name.
    pub fn place_of_name(&self, name: &str) -> Option<Place> {
        self.names.get(name).copied()
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

/// A position in a program, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Place {
    pub line: u32,
    pub column: u32,
}

impl Place {
    /// Converts a position of the text that the engine runs. Its first line has no place in the program.
    pub fn of(position: Position) -> Option<Self> {
        Self::unwrapped(position.line_number(), position.column_number())
    }

    /// Converts a line and column of that text.
    pub fn unwrapped(line: u32, column: u32) -> Option<Self> {
        Some(Self { line: line.checked_sub(1).filter(|line| *line > 0)?, column })
    }
}

/// Renders a position and its line: ` (line 2, column 7: const x = ;)`.
pub fn place(code: &str, at: Option<Place>) -> String {
    let Some(Place { line, column }) = at else { return String::new() };
    let index = usize::try_from(line).map_or(0, |line| line.saturating_sub(1));
    let text = code.lines().nth(index).unwrap_or_default().trim();
    let shown: String = text.chars().take(LINE).collect();
    let more = if shown.len() < text.len() { "…" } else { "" };
    let separator = if shown.is_empty() { "" } else { ": " };
    format!(" (line {line}, column {column}{separator}{shown}{more})")
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

/// Collects the names of variables, each with its first place.
struct UsedNames(BTreeMap<Sym, Place>);

impl<'ast> Visitor<'ast> for UsedNames {
    type BreakTy = ();

    fn visit_identifier(&mut self, node: &'ast Identifier) -> ControlFlow<()> {
        if let Some(place) = Place::of(node.span().start()) {
            self.0.entry(node.sym()).or_insert(place);
        }
        ControlFlow::Continue(())
    }

    fn visit_property_access_field(&mut self, node: &'ast PropertyAccessField) -> ControlFlow<()> {
        match node {
            PropertyAccessField::Const(_) => ControlFlow::Continue(()),
            PropertyAccessField::Expr(_) => node.visit_with(self),
        }
    }

    fn visit_property_name(&mut self, node: &'ast PropertyName) -> ControlFlow<()> {
        match node {
            PropertyName::Literal(_) => ControlFlow::Continue(()),
            PropertyName::Computed(_) => node.visit_with(self),
        }
    }
}

/// Finds a dynamic import. Static ones are syntax errors in a function.
struct FindImport;

impl<'ast> Visitor<'ast> for FindImport {
    type BreakTy = Option<Place>;

    fn visit_import_call(&mut self, node: &'ast ImportCall) -> ControlFlow<Option<Place>> {
        ControlFlow::Break(Place::of(node.span().start()))
    }
}
