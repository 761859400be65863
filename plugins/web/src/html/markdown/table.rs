//! Tables.

use super::Writer;
use crate::html::{element, tree::NodeId};

/// Columns of a table.
const COLUMNS: usize = 64;

/// Cells of a table, with those that others span.
const CELLS: usize = 300_000;

impl Writer<'_> {
    /// A table of data as one of Markdown; one that only arranges the page as its cells, one after the other.
    pub(super) fn table(&mut self, id: NodeId) {
        self.end_paragraph();
        self.strays(id);
        let rows = self.rows(id);
        if self.arranges(id, &rows) {
            for row in rows {
                for cell in self.cells(row) {
                    self.children(cell);
                    self.end_paragraph();
                }
            }
            return;
        }
        let tree = self.tree;
        for caption in tree.children(id).filter(|child| tree.name(*child) == "caption") {
            self.node(caption);
        }
        let mut lines = Vec::new();
        // Rows that cells of rows above still cover, by column.
        let mut covered: Vec<usize> = Vec::new();
        let (mut width, mut count) = (0, 0);
        for row in rows {
            let cells = self.row(row, &mut covered);
            count += cells.len();
            if count > CELLS {
                self.is_cut = true;
                break;
            }
            if cells.iter().any(|cell| !cell.is_empty()) {
                width = width.max(cells.len());
                lines.push(cells);
            }
        }
        let mut text = String::new();
        for (at, mut cells) in lines.into_iter().enumerate() {
            cells.resize(width, String::new());
            if at > 0 {
                text.push('\n');
            }
            text.push_str(&format!("| {} |", cells.join(" | ")));
            if at == 0 {
                text.push_str(&format!("\n|{}", "---|".repeat(width)));
            }
        }
        if !text.is_empty() {
            self.lines.block(&text);
        }
    }

    /// What stands between rows and cells belongs before the table, as in a browser.
    fn strays(&mut self, id: NodeId) {
        let tree = self.tree;
        for child in tree.children(id) {
            match tree.name(child) {
                "thead" | "tbody" | "tfoot" | "tr" => self.strays(child),
                "caption" | "colgroup" | "col" | "td" | "th" => {}
                _ => self.node(child),
            }
        }
        self.end_paragraph();
    }

    fn row(&mut self, id: NodeId, covered: &mut Vec<usize>) -> Vec<String> {
        let mut cells: Vec<String> = Vec::new();
        for cell in self.cells(id) {
            cover(&mut cells, covered);
            let span =
                |name| self.tree.attribute(cell, name).and_then(|span| span.trim().parse::<usize>().ok());
            let (columns, rows) = (span("colspan").unwrap_or(1), span("rowspan").unwrap_or(1));
            let mut text = Some(self.flat(cell).replace('|', "\\|"));
            for _ in 0..columns.clamp(1, COLUMNS) {
                if cells.len() >= COLUMNS {
                    self.is_cut |= text.is_some();
                    break;
                }
                covered.resize(covered.len().max(cells.len() + 1), 0);
                covered[cells.len()] = rows.clamp(1, CELLS) - 1;
                cells.push(text.take().unwrap_or_default());
            }
        }
        cover(&mut cells, covered);
        cells
    }

    /// Rows of a table, not of tables within it.
    fn rows(&self, id: NodeId) -> Vec<NodeId> {
        let tree = self.tree;
        let skipped = self.skipped;
        let parts = tree.children(id).flat_map(|child| match tree.name(child) {
            "thead" | "tbody" | "tfoot" => tree.children(child).collect(),
            _ => vec![child],
        });
        parts.filter(|id| tree.name(*id) == "tr" && !skipped[*id as usize]).collect()
    }

    fn cells(&self, row: NodeId) -> Vec<NodeId> {
        let cells = self.tree.children(row).filter(|id| matches!(self.tree.name(*id), "td" | "th"));
        cells.filter(|id| !self.skipped[*id as usize]).collect()
    }

    /// Tests whether a table arranges the page: its cells contain blocks, or it has one column only.
    fn arranges(&self, id: NodeId, rows: &[NodeId]) -> bool {
        if self.tree.attribute(id, "role").is_some_and(|role| matches!(role, "presentation" | "none")) {
            return true;
        }
        let is_structure = |id: &NodeId| {
            let name = self.tree.name(*id);
            element::is_heading(name) || matches!(name, "table" | "pre" | "form" | "blockquote")
        };
        let enters = |node| node == id || self.tree.name(node) != "table" || self.tree.parent(node).is_none();
        let below = self.tree.walk(id, enters);
        let has_table =
            below.iter().any(|node| self.tree.children(*node).any(|child| self.tree.name(child) == "table"));
        has_table
            || below.iter().skip(1).any(is_structure)
            || rows.iter().all(|row| self.cells(*row).len() < 2)
    }
}

/// Adds empty cells where cells of rows above reach into this row.
fn cover(cells: &mut Vec<String>, covered: &mut [usize]) {
    while let Some(rows) = covered.get_mut(cells.len()).filter(|rows| **rows > 0) {
        *rows -= 1;
        cells.push(String::new());
    }
}
