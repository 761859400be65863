//! Code: in a line, and in blocks.

use super::{Writer, inline::Wrap};
use crate::html::{
    element,
    tree::{NodeData, NodeId},
};

impl Writer<'_> {
    /// `` `code` ``.
    pub(super) fn code(&mut self, id: NodeId) {
        let start = self.line.mark();
        self.codes += 1;
        self.children(id);
        self.codes -= 1;
        if self.codes > 0 {
            return;
        }
        let Some(text) = self.line.since(start) else { return };
        let fence = fence(text, 1);
        let pad = if text.contains('`') { " " } else { "" };
        let (open, close) = ([&fence, pad].concat(), [pad, &fence].concat());
        self.line.wrap(start, &Wrap { open: &open, close: &close });
    }

    /// A fenced block.
    pub(super) fn preformatted(&mut self, id: NodeId) {
        self.end_paragraph();
        let mut code = String::new();
        let skipped = self.skipped;
        for node in self.tree.walk(id, |id| !skipped[id as usize]) {
            match self.tree.data(node) {
                NodeData::Text(text) => code.push_str(text),
                NodeData::Element("br") => code.push('\n'),
                // Some highlighters make each line a block.
                NodeData::Element(name)
                    if node != id && element::is_block(name) && !code.is_empty() && !code.ends_with('\n') =>
                {
                    code.push('\n');
                }
                NodeData::Element(_) => {}
            }
        }
        let code = untrusted::visible(&code);
        let code = code.trim_end().trim_start_matches('\n');
        if code.is_empty() {
            return;
        }
        let fence = fence(code, 3);
        self.lines.block(&format!("{fence}{}\n{code}\n{fence}", self.language(id)));
    }

    /// Language of a block, from a class such as `language-rust`.
    fn language(&self, id: NodeId) -> String {
        let children = self.tree.children(id);
        let above = std::iter::successors(Some(id), |id| self.tree.parent(*id)).take(3);
        let nodes = above.chain(children);
        let classes =
            nodes.filter_map(|id| self.tree.attribute(id, "class")).flat_map(str::split_ascii_whitespace);
        let mut language = classes.filter_map(|class| {
            ["language-", "lang-", "highlight-source-", "highlight-"]
                .iter()
                .find_map(|start| class.strip_prefix(start))
        });
        let is_name = |name: &&str| {
            (1..=20).contains(&name.len())
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+#-_.".contains(&byte))
        };
        language.find(is_name).unwrap_or_default().to_owned()
    }
}

/// Backticks that do not occur in the code.
fn fence(code: &str, least: usize) -> String {
    let longest = code.split(|char| char != '`').map(str::len).max().unwrap_or_default();
    "`".repeat(if longest >= least { longest + 1 } else { least })
}
