//! Text within a paragraph.

use super::{NodeId, Writer};
use crate::address;

/// Bytes of a paragraph.
const MOST: usize = 4 << 20;

/// Marks around a text.
pub struct Wrap<'a> {
    pub open: &'a str,
    pub close: &'a str,
}

/// A paragraph being written, with collapsed white space.
#[derive(Debug, Default)]
pub struct InlineLine {
    text: String,
    /// Number of paragraphs that were taken.
    taken: usize,
}

/// A position in a paragraph.
#[derive(Debug, Clone, Copy)]
pub struct LineMark {
    at: usize,
    taken: usize,
}

impl InlineLine {
    /// Adds a text, without control and invisible characters.
    pub fn push(&mut self, text: &str) {
        for char in text.chars() {
            if char.is_whitespace() {
                if !self.text.is_empty() && !self.text.ends_with([' ', '\n']) {
                    self.text.push(' ');
                }
            } else if !char.is_control() && !untrusted::is_hidden(char) && self.text.len() < MOST {
                self.text.push(char);
            }
        }
    }

    /// Adds Markdown as it is.
    pub fn push_raw(&mut self, markdown: &str) {
        self.text.push_str(markdown);
    }

    pub fn break_line(&mut self) {
        self.text.truncate(self.text.trim_end().len());
        if !self.text.is_empty() {
            self.text.push('\n');
        }
    }

    /// Ends the paragraph.
    pub fn take(&mut self) -> String {
        self.taken += 1;
        let mut text = std::mem::take(&mut self.text);
        text.truncate(text.trim_end().len());
        text
    }

    pub fn mark(&self) -> LineMark {
        LineMark { at: self.text.len(), taken: self.taken }
    }

    /// The text since the mark; `None` if its paragraph ended.
    pub fn since(&self, mark: LineMark) -> Option<&str> {
        if mark.taken == self.taken { self.text.get(mark.at..) } else { None }
    }

    /// Puts marks around the text since the mark; white space stays outside, as Markdown demands. Not if there is no text,
    /// or its paragraph ended.
    pub fn wrap(&mut self, mark: LineMark, wrap: &Wrap<'_>) {
        let Some(text) = self.since(mark) else { return };
        let words = text.trim();
        if words.is_empty() {
            return;
        }
        let start = mark.at + (text.len() - text.trim_start().len());
        let end = start + words.len();
        self.text.insert_str(end, wrap.close);
        self.text.insert_str(start, wrap.open);
    }

    /// Removes the text since the mark, and returns it.
    pub fn cut(&mut self, mark: LineMark) -> Option<String> {
        (mark.taken == self.taken && mark.at <= self.text.len()).then(|| self.text.split_off(mark.at))
    }
}

impl Writer<'_> {
    /// `[text](url)`; only the text, if it is no link to another page.
    pub(super) fn link(&mut self, id: NodeId) {
        let href = self.tree.attribute(id, "href").unwrap_or_default();
        let is_anchor = href.trim_start().starts_with('#');
        let url = if is_anchor || self.links > 0 { None } else { address::resolve(self.base, href) };
        let start = self.line.mark();
        self.links += usize::from(url.is_some());
        self.children(id);
        self.links -= usize::from(url.is_some());
        if is_anchor {
            // The sign beside a heading that links to itself.
            let is_sign = self
                .line
                .since(start)
                .is_some_and(|text| matches!(text.trim(), "#" | "¶" | "§" | "🔗" | "link" | "Link"));
            if is_sign {
                self.line.cut(start);
            }
        }
        if let Some(url) = url {
            let close = format!("]({})", escaped(url.as_str()));
            self.line.wrap(start, &Wrap { open: "[", close: &close });
        }
    }

    /// `![alt](url)`; nothing, if the picture has no description.
    pub(super) fn image(&mut self, id: NodeId) {
        let alt = untrusted::short(self.tree.attribute(id, "alt").unwrap_or_default(), 300);
        if alt.is_empty() {
            return;
        }
        // Pages that load pictures late name them elsewhere.
        let sources = ["data-src", "src"].into_iter().filter_map(|name| self.tree.attribute(id, name));
        let url = sources.filter_map(|source| address::resolve(self.base, source)).next();
        // Within a link, its URL is enough.
        match url.filter(|_| self.links == 0) {
            Some(url) => self.line.push_raw(&format!("![{alt}]({})", escaped(url.as_str()))),
            None => self.line.push_raw(&format!("![{alt}]")),
        }
    }

    /// `m^2`, `H_2O`; other texts as they are.
    pub(super) fn raised(&mut self, id: NodeId, name: &str) {
        let start = self.line.mark();
        self.children(id);
        let is_short = self.line.since(start).is_some_and(|text| {
            (1..=4).contains(&text.chars().count())
                && text.chars().all(|char| char.is_alphanumeric() || "+-−".contains(char))
        });
        if is_short {
            self.line.wrap(start, &Wrap { open: if name == "sup" { "^" } else { "_" }, close: "" });
        }
    }
}

/// Escapes what would end the URL of a link.
fn escaped(url: &str) -> String {
    url.replace('(', "%28").replace(')', "%29")
}
