//! Lists.

use super::{NodeId, Writer, inline::Wrap};

impl Writer<'_> {
    pub(super) fn list(&mut self, id: NodeId, is_numbered: bool) {
        self.end_paragraph();
        if self.lines.has_mark() {
            // The first thing in an item is a list.
            self.lines.join();
        }
        let start = self.tree.attribute(id, "start").and_then(|start| start.trim().parse::<u32>().ok());
        let mut number = start.unwrap_or(1).min(1_000_000);
        let tree = self.tree;
        let mut is_first = true;
        for child in tree.children(id).filter(|child| !self.skipped[*child as usize]) {
            if tree.name(child) != "li" {
                // Lists that stand beside items, not in them.
                self.node(child);
                continue;
            }
            let mark = if is_numbered { format!("{number}. ") } else { "- ".to_owned() };
            number += 1;
            self.end_paragraph();
            if !is_first {
                self.lines.join();
            }
            is_first = false;
            self.item(child, mark);
        }
        self.end_paragraph();
    }

    pub(super) fn item(&mut self, id: NodeId, mark: String) {
        self.end_paragraph();
        let indent = " ".repeat(mark.len());
        self.lines.indented(&indent, Some(mark));
        let tree = self.tree;
        for child in tree.children(id) {
            if matches!(tree.name(child), "ul" | "ol" | "menu" | "dir") {
                self.end_paragraph();
                // A list in an item belongs to its line.
                self.lines.join();
            }
            self.node(child);
        }
        self.end_paragraph();
        self.lines.outdented();
    }

    /// Terms in bold; definitions below them.
    pub(super) fn definitions(&mut self, id: NodeId) {
        self.end_paragraph();
        let tree = self.tree;
        for child in tree.children(id) {
            match tree.name(child) {
                "dt" => {
                    self.end_paragraph();
                    let start = self.line.mark();
                    self.children(child);
                    if self.line.since(start).is_some_and(|text| !text.contains("**")) {
                        self.line.wrap(start, &Wrap { open: "**", close: "**" });
                    }
                    self.end_paragraph();
                }
                "dd" => {
                    self.end_paragraph();
                    self.lines.join();
                    self.item(child, ": ".to_owned());
                }
                // Terms may be grouped by `<div>`.
                "div" => self.definitions(child),
                _ => self.node(child),
            }
        }
        self.end_paragraph();
    }
}
