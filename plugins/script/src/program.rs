//! A program's text: parsed, and with the positions that messages show.

use std::{collections::BTreeMap, ops::ControlFlow, path::Path};

use boa_engine::{
    Source,
    ast::{
        Position, Spanned,
        expression::{Identifier, ImportCall, access::PropertyAccessField},
        function::FunctionBody,
        property::PropertyName,
        visitor::{VisitWith, Visitor},
    },
    interner::{Interner, Sym},
    parser::{Error as ParseError, Parser, lexer::Error as LexError},
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
    /// Names of the variables that it uses, its own ones among them, and where each is used first.
    pub names: BTreeMap<String, Place>,
}

impl<'a> Program<'a> {
    /// Parses the body of an asynchronous function.
    pub fn parse(code: &'a str, interner: &mut Interner) -> Result<Self> {
        check_nesting(code)?;
        let mut parser = Parser::new(Source::from_bytes(code));
        parser.set_strict();
        let body = parser.parse_function_body(interner, false, true).map_err(|error| syntax(code, &error))?;
        let mut names = UsedNames(BTreeMap::new());
        let _ = names.visit_function_body(&body);
        let names = names.0.into_iter().map(|(name, at)| (interner.resolve_expect(name).to_string(), at));
        let program = Self { code, names: names.collect(), body };
        if let ControlFlow::Break(at) = FindImport.visit_function_body(&program.body) {
            let failure =
                Failure::invalid_params(format!("`import` is not supported{}", place(code, Some(at))));
            return Err(failure.hint("There are no modules: programs have the language and the facades."));
        }
        Ok(program)
    }

    /// Finds the first use of a name.
    pub fn place_of_name(&self, name: &str) -> Option<Place> {
        self.names.get(name).copied()
    }

    /// Returns the text that the engine runs. Its first line is not the program's.
    pub fn wrapped(&self) -> String {
        format!("(async () => {{ \"use strict\";\n{}\n}})()", self.code)
    }

    /// Reads the wrapped text.
    pub fn source(wrapped: &str) -> Source<'_, boa_engine::parser::source::UTF8Input<&[u8]>> {
        Source::from_bytes(wrapped.as_bytes()).with_path(Path::new(PATH))
    }
}

/// A position in a program, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Place {
    pub line: u32,
    pub column: u32,
}

impl From<Position> for Place {
    fn from(at: Position) -> Self {
        Self { line: at.line_number(), column: at.column_number() }
    }
}

impl Place {
    /// Converts a position of the wrapped text.
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
fn syntax(code: &str, error: &ParseError) -> Failure {
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
        ParseError::AbruptEnd => {
            ("the program ends too early: a bracket or a text is not closed".to_owned(), None)
        }
        other => (other.to_string(), None),
    };
    let at = at.map(Place::from);
    let failure = Failure::invalid_params(format!("syntax error: {message}{}", place(code, at)));
    match at {
        Some(at) => failure.details(at),
        None => failure,
    }
}

/// Refuses code whose brackets would end the stack of the parser.
fn check_nesting(code: &str) -> Result<()> {
    let mut depth = 0_usize;
    for c in code.chars() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > NESTING {
            let failure = Failure::invalid_params(format!("brackets are nested more than {NESTING} deep"));
            return Err(failure.hint("Build deep values in a loop, or pass them as `input`."));
        }
    }
    Ok(())
}

/// Collects the names of variables, each with its first place.
struct UsedNames(BTreeMap<Sym, Place>);

impl<'ast> Visitor<'ast> for UsedNames {
    type BreakTy = ();

    fn visit_identifier(&mut self, node: &'ast Identifier) -> ControlFlow<()> {
        self.0.entry(node.sym()).or_insert_with(|| node.span().start().into());
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
    type BreakTy = Place;

    fn visit_import_call(&mut self, node: &'ast ImportCall) -> ControlFlow<Place> {
        ControlFlow::Break(node.span().start().into())
    }
}
