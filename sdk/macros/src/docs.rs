//! Doc comments as text.

use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// A doc comment, with its lines of one paragraph joined.
#[derive(Default)]
pub struct Docs {
    /// The first paragraph.
    pub summary: String,
    /// Further paragraphs, separated by empty lines.
    pub rest: String,
}

impl Docs {
    /// Reads the doc comment among these attributes.
    pub fn read(attributes: &[Attribute]) -> Self {
        let lines = attributes.iter().filter_map(line).collect::<Vec<_>>().join("\n");
        let mut paragraphs = Vec::new();
        let mut open = String::new();
        for line in lines.lines() {
            let text = line.strip_prefix(' ').unwrap_or(line).trim_end();
            if text.trim().is_empty() {
                if !open.is_empty() {
                    paragraphs.push(std::mem::take(&mut open));
                }
                continue;
            }
            if !open.is_empty() {
                // Lists and tables keep their line breaks.
                let marked = text.trim_start().starts_with(['-', '*', '|', '#', '>']);
                open.push(if marked { '\n' } else { ' ' });
            }
            open.push_str(if open.is_empty() { text.trim_start() } else { text });
        }
        if !open.is_empty() {
            paragraphs.push(open);
        }
        let rest = paragraphs.split_off(paragraphs.len().min(1)).join("\n\n");
        Self { summary: paragraphs.pop().unwrap_or_default(), rest }
    }

    /// The whole comment.
    pub fn text(self) -> String {
        if self.rest.is_empty() { self.summary } else { format!("{}\n\n{}", self.summary, self.rest) }
    }
}

/// The text of one `#[doc = "…"]`.
fn line(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(meta) = &attribute.meta else { return None };
    let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = &meta.value else { return None };
    attribute.path().is_ident("doc").then(|| text.value())
}
