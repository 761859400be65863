//! Lexer: source to text and actions, actions to tokens.

use super::{
    literal,
    token::{ActionTokens, LexToken, SourcePart, TokenKind},
};
use crate::template::{error::ParseError, excerpt::excerpt, limits};

const SPACE: [char; 4] = [' ', '\t', '\r', '\n'];

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// Splits a template into text and actions. Removes comments and trimmed white space.
pub(crate) fn split(source: &str) -> Result<Vec<SourcePart>, ParseError> {
    let mut parts = Vec::new();
    let mut at = 0;
    let mut trimmed = false;
    loop {
        let open = source[at..].find("{{").map(|found| at + found);
        let mut text = at..open.unwrap_or(source.len());
        if trimmed {
            text.start = text.end - source[text.clone()].trim_start_matches(SPACE).len();
        }
        let bytes = source.as_bytes();
        let trims = open.is_some_and(|open| {
            bytes.get(open + 2) == Some(&b'-') && bytes.get(open + 3).copied().is_some_and(is_space)
        });
        if trims {
            text.end = text.start + source[text.clone()].trim_end_matches(SPACE).len();
        }
        if !text.is_empty() {
            parts.push(SourcePart::Text(text));
        }
        let Some(open) = open else { return Ok(parts) };
        let mut lexer = Lexer { source, at: open + if trims { 4 } else { 2 }, open };
        let ended = if source[lexer.at..].starts_with("/*") {
            lexer.comment()?
        } else {
            let (tokens, ended) = lexer.tokens()?;
            parts.push(SourcePart::Action(ActionTokens { tokens, at: open, end: lexer.at }));
            ended
        };
        at = ended.next;
        trimmed = ended.trims;
    }
}

/// End of an action.
struct Ended {
    next: usize,
    /// Ends with ` -}}`.
    trims: bool,
}

struct Lexer<'s> {
    source: &'s str,
    at: usize,
    /// Offset of the action's `{{`.
    open: usize,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.source[self.at..]
    }

    fn error<T>(&self, message: impl Into<String>) -> Result<T, ParseError> {
        Err(ParseError { message: message.into(), at: Some(self.at) })
    }

    fn unclosed<T>(&self) -> Result<T, ParseError> {
        let message = "unclosed action: `}}` is missing".to_owned();
        Err(ParseError { message, at: Some(self.open) })
    }

    fn comment(&mut self) -> Result<Ended, ParseError> {
        let Some(length) = self.rest().find("*/") else {
            return Err(ParseError { message: "unclosed comment".into(), at: Some(self.open) });
        };
        self.at += length + 2;
        match self.ended() {
            Some(ended) => Ok(ended),
            None => self.error("a comment must end right before `}}`"),
        }
    }

    /// Returns the end of the action if it is here.
    fn ended(&self) -> Option<Ended> {
        let rest = self.rest();
        if rest.starts_with("}}") {
            return Some(Ended { next: self.at + 2, trims: false });
        }
        let space = rest.len() - rest.trim_start_matches(SPACE).len();
        let trims = space > 0 && rest[space..].starts_with("-}}");
        trims.then_some(Ended { next: self.at + space + 3, trims: true })
    }

    fn tokens(&mut self) -> Result<(Vec<LexToken>, Ended), ParseError> {
        let mut tokens = Vec::new();
        let mut open = 0;
        loop {
            if let Some(ended) = self.ended() {
                if open > 0 {
                    return self.error("unclosed parenthesis");
                }
                return Ok((tokens, ended));
            }
            let before = self.at;
            self.at += self.rest().len() - self.rest().trim_start_matches(SPACE).len();
            let spaced = self.at > before;
            if spaced {
                // The end may follow.
                if self.rest().starts_with("}}") {
                    continue;
                }
            }
            let at = self.at;
            let kind = self.token()?;
            match kind {
                TokenKind::Open => open += 1,
                TokenKind::Close if open == 0 => {
                    self.at = at;
                    return self.error("`)` without `(`");
                }
                TokenKind::Close => open -= 1,
                _ => {}
            }
            if open > limits::PARENTHESES {
                return self.error(format!("parentheses are nested more than {} deep", limits::PARENTHESES));
            }
            tokens.push(LexToken { kind, at, end: self.at, spaced });
        }
    }

    fn token(&mut self) -> Result<TokenKind, ParseError> {
        let rest = self.rest();
        let mut chars = rest.chars();
        let Some(first) = chars.next() else { return self.unclosed() };
        let next = chars.next();
        let (kind, length) = match first {
            ':' if next == Some('=') => (TokenKind::Declare, 2),
            '=' => (TokenKind::Assign, 1),
            ',' => (TokenKind::Comma, 1),
            '|' => (TokenKind::Pipe, 1),
            '(' => (TokenKind::Open, 1),
            ')' => (TokenKind::Close, 1),
            '"' | '`' | '\'' => return self.quoted(first),
            '.' if !next.is_some_and(|c| c.is_ascii_digit()) => return self.name(TokenKind::Field),
            '$' => return self.name(TokenKind::Variable),
            '.' | '+' | '-' | '0'..='9' => return self.number(),
            c if is_name_char(c) => return self.name(TokenKind::Word),
            '}' => return self.error("an action ends with two braces: `}}`"),
            c => return self.error(format!("unexpected character {c:?}")),
        };
        self.at += length;
        Ok(kind)
    }

    fn quoted(&mut self, quote: char) -> Result<TokenKind, ParseError> {
        let start = self.at;
        let mut escaped = false;
        let body = &self.rest()[1..];
        let end = body.char_indices().find(|&(_, c)| {
            let ends = c == quote && !escaped || c == '\n' && quote != '`';
            escaped = c == '\\' && !escaped && quote != '`';
            ends
        });
        let Some((length, _)) = end.filter(|&(_, c)| c == quote) else {
            return self.error("unclosed string");
        };
        let text = &self.source[start..start + length + 2];
        let read = if quote == '\'' {
            literal::parse_character(text).map(TokenKind::Number)
        } else {
            literal::parse_string(text).map(TokenKind::Text)
        };
        match read {
            Some(kind) => {
                self.at += length + 2;
                Ok(kind)
            }
            None if quote == '\'' => {
                self.error("single quotes take exactly one character: use double quotes")
            }
            None => self.error("a string contains an invalid escape"),
        }
    }

    fn number(&mut self) -> Result<TokenKind, ParseError> {
        let rest = self.rest();
        let hex = rest.trim_start_matches(['+', '-']).starts_with("0x");
        let mut last = ' ';
        let end = rest.char_indices().find(|&(index, c)| {
            let power = if hex { matches!(last, 'p' | 'P') } else { matches!(last, 'e' | 'E' | 'p' | 'P') };
            let sign = matches!(c, '+' | '-') && (index == 0 || power);
            last = c;
            !(sign || c == '.' || is_name_char(c))
        });
        let text = &rest[..end.map_or(rest.len(), |(index, _)| index)];
        match literal::parse_number(text) {
            Some(num) => {
                self.at += text.len();
                Ok(TokenKind::Number(num))
            }
            None => self.error(format!("`{}` is not a number", excerpt(text))),
        }
    }

    /// Reads a word, or a field or variable with its marker.
    fn name(&mut self, kind: TokenKind) -> Result<TokenKind, ParseError> {
        let start = self.at;
        let marked = usize::from(kind != TokenKind::Word);
        let name = &self.source[start + marked..];
        let length = name.find(|c| !is_name_char(c)).unwrap_or(name.len());
        let after = name[length..].chars().next();
        if after == Some('-') && kind == TokenKind::Field && length > 0 {
            return self.hyphen_error(start);
        }
        self.at += marked + length;
        let kind = if kind == TokenKind::Field && length == 0 { TokenKind::Dot } else { kind };
        // As in Go, a name must be followed by a delimiter.
        match after {
            Some(c)
                if !matches!(c, ' ' | '\t' | '\r' | '\n' | '.' | ',' | '|' | ':' | '=' | '(' | ')' | '}') =>
            {
                self.error(format!("unexpected character {c:?}"))
            }
            _ if kind == TokenKind::Dot && after == Some('.') => {
                self.error("a name is missing after the dot")
            }
            _ => Ok(kind),
        }
    }

    /// Creates the error for a field such as `.my-step`: Go does not support it, but people write it often.
    fn hyphen_error<T>(&self, field: usize) -> Result<T, ParseError> {
        let name = &self.source[field + 1..];
        let name = &name[..name.find(|c| !is_name_char(c) && c != '-').unwrap_or(name.len())];
        // The preceding chain of fields.
        let before = &self.source[..field];
        let chain =
            before.len() - before.trim_end_matches(|c| is_name_char(c) || matches!(c, '.' | '$')).len();
        let base = match &before[field - chain..] {
            "" if before.ends_with(')') => "(…)",
            "" => ".",
            base => base,
        };
        let message = format!(
            "`.{name}` is not one name because it contains `-`: write `(index {base} \"{name}\")`",
            name = excerpt(name),
            base = excerpt(base)
        );
        Err(ParseError { message, at: Some(field) })
    }
}

fn is_name_char(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}
