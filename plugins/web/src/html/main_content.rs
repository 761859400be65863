//! Which part of a page is its content.

use super::{
    element,
    tree::{NodeData, NodeId, ROOT, Tree},
};

/// Characters from which on `<main>` or `<article>` are believed.
const ENOUGH: usize = 140;

/// Characters from which on a paragraph counts as content.
const PARAGRAPH: usize = 40;

/// Part of the whole text, in percent, that a scored element must have.
const SHARE: usize = 40;

/// Words in the class or id of elements that are around the content.
const AROUND: [&str; 10] = [
    "advert",
    "breadcrumb",
    "cookie",
    "newsletter",
    "pagination",
    "related",
    "share",
    "sidebar",
    "skip-link",
    "social",
];

/// Number of characters below each node: of text, and of links.
struct Lengths {
    text: Vec<u32>,
    links: Vec<u32>,
}

/// Finds the element of the main content: `<main>`, the largest `<article>`, or the element with the most paragraphs. `None`
/// is the whole page.
pub fn find(tree: &Tree, hidden: &[bool]) -> Option<NodeId> {
    let lengths = measure(tree, hidden);
    let length = |id: NodeId| lengths.text[id as usize] as usize;
    let is_main = |id: NodeId, name: &str| name == "main" || has_role(tree, id, &["main"]);
    let visible = || tree.elements().filter(|(id, _)| !hidden[*id as usize]);
    let main = visible().find(|(id, name)| is_main(*id, name) && length(*id) >= ENOUGH);
    if let Some((main, _)) = main {
        return Some(main);
    }
    let articles = visible().filter(|(id, name)| *name == "article" && length(*id) >= ENOUGH);
    let articles: Vec<NodeId> = articles.map(|(id, _)| id).collect();
    if let Some(largest) = articles.iter().copied().max_by_key(|id| length(*id)) {
        // A list of many short articles is the content as a whole.
        let all: usize = articles.iter().map(|id| length(*id)).sum();
        if length(largest) * 100 >= all * 60 {
            return Some(largest);
        }
    }
    scored(tree, hidden, &lengths)
}

fn scored(tree: &Tree, hidden: &[bool], lengths: &Lengths) -> Option<NodeId> {
    let mut scores = vec![0u32; tree.len()];
    for (id, name) in tree.elements() {
        if hidden[id as usize] || !matches!(name, "p" | "pre" | "blockquote" | "td") || is_around(tree, id) {
            continue;
        }
        let length = lengths.text[id as usize].saturating_sub(lengths.links[id as usize]);
        if (length as usize) < PARAGRAPH {
            continue;
        }
        let parent = tree.parent(id).unwrap_or(ROOT);
        scores[parent as usize] += length;
        if let Some(above) = tree.parent(parent) {
            scores[above as usize] += length / 2;
        }
    }
    let all = lengths.text[ROOT as usize] as usize;
    let best = (1..tree.len() as NodeId).filter(|id| scores[*id as usize] > 0).max_by_key(|id| {
        let (text, links) = (lengths.text[*id as usize], lengths.links[*id as usize]);
        u64::from(scores[*id as usize]) * u64::from(text - links.min(text)) / u64::from(text.max(1))
    })?;
    let is_enough = lengths.text[best as usize] as usize * 100 >= all * SHARE;
    (is_enough && !matches!(tree.name(best), "body" | "html")).then_some(best)
}

/// Elements to leave out below the content's root: hidden ones, and what stands around the content.
pub fn skip(tree: &Tree, hidden: &[bool], root: Option<NodeId>) -> Vec<bool> {
    let lengths = measure(tree, hidden);
    let root = root.unwrap_or(ROOT);
    let half = lengths.text[root as usize] / 2;
    let mut skipped = hidden.to_vec();
    for id in 1..tree.len() as NodeId {
        let parent = tree.parent(id).unwrap_or(ROOT);
        skipped[id as usize] |= id != root && skipped[parent as usize];
        if skipped[id as usize] || id <= root {
            continue;
        }
        skipped[id as usize] = match tree.name(id) {
            "nav" | "button" => true,
            "footer" | "aside" | "header" | "form" | "search" => {
                // A header or footer of an article may be its title or its notes; one of the page is around the content.
                let is_of_page = !is_in_article(tree, id, root);
                let is_title = tree.children(id).any(|child| element::is_heading(tree.name(child)));
                match tree.name(id) {
                    "header" => is_of_page && !is_title,
                    "form" => lengths.text[id as usize] < half,
                    "footer" => is_of_page,
                    _ => lengths.text[id as usize] <= half,
                }
            }
            "" => has_role(tree, id, &["navigation"]),
            _ => is_around(tree, id) && lengths.text[id as usize] <= half,
        };
    }
    skipped
}

fn is_in_article(tree: &Tree, id: NodeId, root: NodeId) -> bool {
    let above = std::iter::successors(tree.parent(id), |id| tree.parent(*id).filter(|_| *id != root));
    above.into_iter().any(|id| {
        matches!(tree.name(id), "article" | "main" | "section" | "blockquote")
            || has_role(tree, id, &["main"])
    })
}

/// Tests whether an element's role, class or id says that it is around the content.
fn is_around(tree: &Tree, id: NodeId) -> bool {
    if has_role(
        tree,
        id,
        &["navigation", "banner", "contentinfo", "complementary", "search", "menu", "dialog"],
    ) {
        return true;
    }
    if !matches!(tree.name(id), "div" | "section" | "ul" | "aside" | "table" | "p" | "a" | "ol") {
        return false;
    }
    let names = ["class", "id"].map(|name| tree.attribute(id, name).unwrap_or_default().to_ascii_lowercase());
    let words = |names: &str| {
        names.split_ascii_whitespace().any(|name| {
            AROUND.iter().any(|around| name == *around || name.split(['-', '_']).any(|part| part == *around))
        })
    };
    names.iter().any(|names| words(names))
}

fn has_role(tree: &Tree, id: NodeId, roles: &[&str]) -> bool {
    tree.attribute(id, "role").is_some_and(|role| roles.contains(&role.trim().to_ascii_lowercase().as_str()))
}

fn measure(tree: &Tree, hidden: &[bool]) -> Lengths {
    let mut lengths = Lengths { text: vec![0; tree.len()], links: vec![0; tree.len()] };
    // Children come after their parents, so their sums are complete.
    for id in (1..tree.len()).rev() {
        if hidden[id] {
            continue;
        }
        if let NodeData::Text(text) = tree.data(id as NodeId) {
            lengths.text[id] = text.split_whitespace().map(|word| word.chars().count() as u32 + 1).sum();
        }
        if tree.name(id as NodeId) == "a" {
            lengths.links[id] = lengths.text[id];
        }
        let parent = tree.parent(id as NodeId).unwrap_or(ROOT) as usize;
        lengths.text[parent] += lengths.text[id];
        lengths.links[parent] += lengths.links[id];
    }
    lengths
}
