//! HTML as a row of tags and texts.
//!
//! No crate that parses HTML fits into the guest: `html5gum` adds 256 KB, `htmd` and `html2text` over 630 KB each, and
//! `astral-tl`, at 26 KB, takes what stands in a script for tags. Only tags and texts are wanted here, no tree; the rules
//! for where they begin and end are those of the HTML standard's tokenizer.

/// A piece of HTML.
#[derive(Debug, PartialEq, Eq)]
pub enum Token<'a> {
    /// With its entities.
    Text(&'a str),
    /// The name, in lower case.
    Open(String),
    Close(String),
}

/// Elements whose content is no text to be read, and is left out with them. What is not closed is dropped to the end only
/// for the first two, as a browser does.
const DROPPED: [&str; 10] =
    ["script", "style", "template", "noscript", "iframe", "svg", "math", "canvas", "object", "nav"];

/// The tags and texts of an HTML document, in order.
pub struct Tokens<'a> {
    rest: &'a str,
    /// Those of [`DROPPED`] that are known to have no end in the rest.
    unclosed: [bool; DROPPED.len()],
}

impl<'a> Tokens<'a> {
    pub fn new(html: &'a str) -> Self {
        Self { rest: html, unclosed: Default::default() }
    }

    /// Takes bytes off the front.
    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.rest = rest;
        taken
    }

    /// Skips all before `end`, and it too; to the end of the document where there is none.
    fn skip_past(&mut self, end: &str) {
        let bytes = self.rest.find(end).map_or(self.rest.len(), |at| at + end.len());
        self.take(bytes);
    }

    /// Skips what an element holds that is not read.
    fn drop_content(&mut self, name: &str) {
        let Some(which) = DROPPED.iter().position(|dropped| *dropped == name) else { return };
        if self.unclosed[which] {
            return;
        }
        let closes = |(at, _): &(usize, &str)| {
            let tail = &self.rest.as_bytes()[at + 2..];
            let after = tail.get(name.len()).is_none_or(|byte| !byte.is_ascii_alphanumeric());
            tail.get(..name.len()).is_some_and(|tag| tag.eq_ignore_ascii_case(name.as_bytes())) && after
        };
        match self.rest.match_indices("</").find(closes) {
            Some((at, _)) => drop(self.take(at)),
            None if which < 2 => self.rest = "",
            None => self.unclosed[which] = true,
        }
    }

    /// A tag, of which `</` or `<` is taken off: its name, and all up to `>`. Nothing where the document ends within it.
    fn tag(&mut self) -> Option<String> {
        let name = self.rest.find(|char: char| char.is_whitespace() || matches!(char, '/' | '>'));
        let name = name.map(|bytes| self.take(bytes).to_ascii_lowercase());
        let mut quote = None;
        let mut value = false;
        let end = self.rest.bytes().position(|byte| {
            match (quote, byte) {
                (Some(open), _) if open == byte => quote = None,
                (Some(_), _) => {}
                (None, b'>') => return true,
                (None, b'"' | b'\'') if value => quote = Some(byte),
                _ => {}
            }
            // A quote means something only where a value begins.
            value = byte == b'=' || value && byte.is_ascii_whitespace();
            false
        });
        self.take(end.map_or(self.rest.len(), |at| at + 1));
        name.filter(|_| end.is_some())
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        while !self.rest.is_empty() {
            let bytes = self.rest.as_bytes();
            let letter = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_alphabetic);
            match bytes {
                [b'<', ..] if letter(1) => {
                    self.take(1);
                    let Some(name) = self.tag() else { continue };
                    self.drop_content(&name);
                    return Some(Token::Open(name));
                }
                [b'<', b'/', ..] if letter(2) => {
                    self.take(2);
                    let Some(name) = self.tag() else { continue };
                    return Some(Token::Close(name));
                }
                [b'<', b'!', b'-', b'-', ..] => {
                    self.take(4);
                    self.skip_past("-->");
                }
                [b'<', b'!' | b'?' | b'/', ..] => self.skip_past(">"),
                // A `<` that begins nothing is one.
                _ => {
                    let end =
                        bytes[1..].iter().position(|byte| *byte == b'<').map_or(bytes.len(), |at| at + 1);
                    return Some(Token::Text(self.take(end)));
                }
            }
        }
        None
    }
}
