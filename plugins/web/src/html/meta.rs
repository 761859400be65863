//! What a page says of itself.

use url::Url;

use super::tree::{NodeData, NodeId, Tree};
use crate::address;

/// Characters of a title.
const TITLE: usize = 200;

/// Texts about a page; absent ones are empty.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct PageMeta {
    pub title: String,
    pub author: String,
    pub published: String,
}

/// URL to which links are relative: that of `<base>`, or the page's own.
pub fn base(tree: &Tree, url: &Url) -> Url {
    let mut bases = tree.elements().filter(|(_, name)| *name == "base");
    bases
        .find_map(|(id, _)| address::resolve(url, tree.attribute(id, "href")?))
        .unwrap_or_else(|| url.clone())
}

/// Reads the head, and if the title is missing there, the first heading.
pub fn read(tree: &Tree) -> PageMeta {
    let mut meta = PageMeta::default();
    let set = |field: &mut String, text: &str, most| {
        if field.is_empty() {
            *field = untrusted::short(text, most);
        }
    };
    let mut heading = String::new();
    let mut shared_title = String::new();
    for (id, name) in tree.elements() {
        match name {
            "title" => set(&mut meta.title, &text(tree, id), TITLE),
            "h1" => set(&mut heading, &tree.line(id, TITLE), TITLE),
            "time" => set(&mut meta.published, tree.attribute(id, "datetime").unwrap_or_default(), 40),
            "meta" => {
                let content = tree.attribute(id, "content").unwrap_or_default();
                let key = tree.attribute(id, "property").or(tree.attribute(id, "name")).unwrap_or_default();
                match key.to_ascii_lowercase().as_str() {
                    "og:title" => set(&mut shared_title, content, TITLE),
                    "author" | "article:author" => set(&mut meta.author, content, TITLE),
                    "article:published_time" | "date" | "dc.date" => {
                        // Better than the first `<time>`.
                        meta.published = untrusted::short(content, 40);
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }
    set(&mut meta.title, &shared_title, TITLE);
    set(&mut meta.title, &heading, TITLE);
    meta
}

/// The texts directly in an element.
fn text(tree: &Tree, id: NodeId) -> String {
    let texts = tree.children(id).filter_map(|child| match tree.data(child) {
        NodeData::Text(text) => Some(text),
        NodeData::Element(_) => None,
    });
    texts.collect()
}
