//! A tree as Markdown.
//!
//! The functions call each other along the tree, whose depth is bounded.

mod code;
mod inline;
mod lines;
mod list;
mod table;

use url::Url;

use super::{
    element,
    tree::{NodeData, NodeId, Tree},
};
use inline::{InlineLine, Wrap};
use lines::Lines;

/// Writes the nodes of a tree.
pub struct Writer<'a> {
    tree: &'a Tree,
    base: &'a Url,
    /// Nodes to leave out.
    skipped: &'a [bool],
    lines: Lines,
    /// The paragraph being written.
    line: InlineLine,
    /// Whether blocks are written as one line: in cells and headings.
    is_flat: bool,
    /// Open links; a link contains no other.
    links: usize,
    /// Open elements of code; the outermost gets the marks.
    codes: usize,
    /// Whether a table was too large.
    is_cut: bool,
}

impl<'a> Writer<'a> {
    pub fn new(tree: &'a Tree, base: &'a Url, skipped: &'a [bool]) -> Self {
        let (lines, line) = (Lines::default(), InlineLine::default());
        Self { tree, base, skipped, lines, line, is_flat: false, links: 0, codes: 0, is_cut: false }
    }

    /// Writes a node and what it contains.
    pub fn write(&mut self, id: NodeId) {
        self.node(id);
        self.end_paragraph();
    }

    /// The text, and whether it was too long.
    pub fn finish(self) -> (String, bool) {
        let (text, is_full) = self.lines.finish();
        (text, is_full || self.is_cut)
    }

    fn children(&mut self, id: NodeId) {
        let tree = self.tree;
        for child in tree.children(id) {
            self.node(child);
        }
    }

    fn node(&mut self, id: NodeId) {
        if self.skipped[id as usize] || self.lines.is_full() {
            return;
        }
        let name = match self.tree.data(id) {
            NodeData::Text(text) => return self.line.push(text),
            NodeData::Element(name) => name,
        };
        match name {
            "br" if self.is_flat => self.line.push(" "),
            "br" => self.line.break_line(),
            "wbr" => {}
            "img" => self.image(id),
            "input" | "link" | "meta" | "base" | "col" => {}
            "a" => self.link(id),
            "b" | "strong" => self.wrapped(id, "**", "**"),
            "i" | "em" | "cite" | "dfn" | "var" => self.wrapped(id, "*", "*"),
            "s" | "del" | "strike" => self.wrapped(id, "~~", "~~"),
            "q" => self.wrapped(id, "“", "”"),
            "rt" => self.wrapped(id, "(", ")"),
            "sup" | "sub" => self.raised(id, name),
            "code" | "kbd" | "samp" | "tt" => self.code(id),
            _ if self.is_flat && (element::is_block(name) || name == "hr") => {
                self.line.push(" ");
                self.children(id);
                self.line.push(" ");
            }
            "pre" | "listing" | "xmp" | "plaintext" => self.preformatted(id),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => self.heading(id, name),
            "ul" | "ol" | "menu" | "dir" => self.list(id, name == "ol"),
            "li" => self.item(id, "- ".to_owned()),
            "dl" => self.definitions(id),
            "table" => self.table(id),
            "blockquote" => {
                self.end_paragraph();
                self.lines.indented("> ", None);
                self.children(id);
                self.end_paragraph();
                self.lines.outdented();
            }
            "summary" => {
                self.end_paragraph();
                self.wrapped(id, "**", "**");
                self.end_paragraph();
            }
            "hr" => {
                self.end_paragraph();
                self.lines.block("---");
            }
            _ if element::is_block(name) => {
                self.end_paragraph();
                self.children(id);
                self.end_paragraph();
            }
            _ => self.children(id),
        }
    }

    fn end_paragraph(&mut self) {
        let text = self.line.take();
        if !text.is_empty() {
            self.lines.paragraph(&text);
        }
    }

    fn heading(&mut self, id: NodeId, name: &str) {
        self.end_paragraph();
        let text = self.flat(id);
        if !text.is_empty() {
            let level = usize::from(name.as_bytes()[1] - b'0');
            self.lines.block(&format!("{} {text}", "#".repeat(level)));
        }
    }

    /// The content of an element as one line.
    fn flat(&mut self, id: NodeId) -> String {
        let before = (std::mem::take(&mut self.line), std::mem::replace(&mut self.is_flat, true));
        self.children(id);
        let text = self.line.take();
        (self.line, self.is_flat) = before;
        text.replace('\n', " ")
    }

    /// Puts marks around an element's text, if it has any.
    fn wrapped(&mut self, id: NodeId, open: &str, close: &str) {
        let start = self.line.mark();
        self.children(id);
        self.line.wrap(start, &Wrap { open, close });
    }
}
