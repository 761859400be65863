//! The links of a page.

use std::collections::HashMap;

use url::Url;

use super::{
    Link, hidden,
    tree::{NodeId, ROOT, Tree},
};
use crate::address;

/// Characters of a link's text.
const TEXT: usize = 120;

/// Visible links in the order of the page, each URL once, without fragments; of its texts, the first one counts.
pub fn links(tree: &Tree, base: &Url) -> Vec<Link> {
    let hidden = hidden::hidden(tree);
    let mut links: Vec<Link> = Vec::new();
    let mut known: HashMap<Url, usize> = HashMap::new();
    for id in tree.walk(ROOT, |id| !hidden[id as usize]) {
        if !matches!(tree.name(id), "a" | "area") {
            continue;
        }
        let Some(href) = tree.attribute(id, "href").filter(|href| !href.trim_start().starts_with('#')) else {
            continue;
        };
        let Some(url) = address::resolve(base, href).map(address::without_fragment) else { continue };
        let text = text(tree, id);
        match known.get(&url) {
            Some(at) if links[*at].text.is_empty() => links[*at].text = text,
            Some(_) => {}
            None => {
                known.insert(url.clone(), links.len());
                links.push(Link { url, text });
            }
        }
    }
    links
}

/// The link's words or, of a picture, its description.
fn text(tree: &Tree, id: NodeId) -> String {
    let line = tree.line(id, TEXT);
    if !line.is_empty() {
        return line;
    }
    let pictures = tree.walk(id, |_| true);
    let described = pictures.iter().find_map(|id| {
        let text = tree.attribute(*id, "alt").or(tree.attribute(*id, "title"))?;
        (!text.trim().is_empty()).then_some(text)
    });
    untrusted::short(described.unwrap_or_default(), TEXT)
}
