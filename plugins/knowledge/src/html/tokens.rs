//! HTML as a row of tags and texts.
//!
//! No crate that parses HTML fits into the guest: `html5gum` adds 256 KB, `htmd` and `html2text` over 630 KB each, and
//! `astral-tl`, at 26 KB, finds tags inside scripts. Only tags and texts are needed here, no tree; they are delimited
//! by the rules of the HTML standard's tokenizer.

/// A piece of HTML.
#[derive(Debug, PartialEq, Eq)]
pub enum Token<'a> {
    /// Text with undecoded entities.
    Text(&'a str),
    /// The name, in lower case.
    Open(String),
    Close(String),
}

/// Elements whose content is omitted. Unclosed ones are dropped to the end only for the first two, as in a browser.
const DROPPED: [&str; 10] =
    ["script", "style", "template", "noscript", "iframe", "svg", "math", "canvas", "object", "nav"];

/// The tags and texts of an HTML document, in order.
pub struct Tokens<'a> {
    rest: &'a str,
    /// Elements of [`DROPPED`] that are known to be unclosed in the rest.
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

    /// Skips up to and including `end`, or to the end of the document.
    fn skip_past(&mut self, end: &str) {
        let found = self.rest.as_bytes().windows(end.len()).position(|bytes| bytes == end.as_bytes());
        self.take(found.map_or(self.rest.len(), |at| at + end.len()));
    }

    /// Skips an element's omitted content.
    fn drop_content(&mut self, name: &str) {
        let Some(which) = DROPPED.iter().position(|dropped| *dropped == name) else { return };
        if self.unclosed[which] {
            return;
        }
        let bytes = self.rest.as_bytes();
        let closes = |tag: &[u8]| tag.starts_with(b"</") && tag[2..].eq_ignore_ascii_case(name.as_bytes());
        let ends = |at: usize| bytes.get(at).is_none_or(|byte| !byte.is_ascii_alphanumeric());
        let length = name.len() + 2;
        let mut tags = bytes.windows(length).enumerate();
        match tags.find(|(at, tag)| closes(tag) && ends(at + length)) {
            Some((at, _)) => drop(self.take(at)),
            None if which < 2 => self.rest = "",
            None => self.unclosed[which] = true,
        }
    }

    /// Parses a tag after `</` or `<`: returns its name and skips up to `>`. `None` if the document ends inside.
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
            // A quote is special only at the start of a value.
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
                // A `<` that starts no tag is text.
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
