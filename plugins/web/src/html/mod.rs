//! HTML pages: parsed to a tree, of which the main content becomes Markdown.
//!
//! html5gum splits a page into tags and texts by the standard; the tree is ours, because the standard's own rules for
//! trees take quadratic time and memory on hostile pages, and a browser's tree is not needed for text.

mod build;
mod element;
mod hidden;
mod main_content;
mod markdown;
mod meta;
mod pick;
mod tree;

use url::Url;

use markdown::Writer;
pub use meta::PageMeta;
use tree::Tree;

/// A parsed page.
pub struct Page {
    tree: Tree,
    /// URL to which links are relative.
    base: Url,
}

/// Text of a page.
#[derive(Debug)]
pub struct PageText {
    pub markdown: String,
    /// Whether the page is too large to be shown whole.
    pub is_truncated: bool,
}

/// A link of a page.
#[derive(Debug, PartialEq, Eq)]
pub struct Link {
    pub url: Url,
    pub text: String,
}

impl Page {
    /// Parses a page from this URL.
    pub fn parse(html: &str, url: &Url) -> Self {
        let tree = build::build(html);
        let base = meta::base(&tree, url);
        Self { tree, base }
    }

    /// Title, author and the like.
    pub fn meta(&self) -> PageMeta {
        meta::read(&self.tree)
    }

    /// Whether the page asks for a password.
    pub fn asks_for_password(&self) -> bool {
        self.tree.elements().any(|(id, name)| {
            name == "input"
                && self.tree.attribute(id, "type").is_some_and(|kind| kind.eq_ignore_ascii_case("password"))
        })
    }

    /// The main content as Markdown, or all of the page.
    pub fn markdown(&self, whole: bool) -> PageText {
        let hidden = hidden::hidden(&self.tree);
        let root = if whole { None } else { main_content::find(&self.tree, &hidden) };
        let skipped = if whole { hidden } else { main_content::skip(&self.tree, &hidden, root) };
        let mut writer = Writer::new(&self.tree, &self.base, &skipped);
        writer.write(root.unwrap_or(tree::ROOT));
        let (markdown, is_full) = writer.finish();
        PageText { markdown, is_truncated: is_full || self.tree.is_truncated() }
    }

    /// The visible links, in order.
    pub fn links(&self) -> Vec<Link> {
        pick::links(&self.tree, &self.base)
    }
}
