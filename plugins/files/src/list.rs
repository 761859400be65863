//! `list`: a page of a directory.

use std::{
    cmp::{Ordering, Reverse},
    ops::ControlFlow,
};

use loggia_sdk::prelude::*;

use crate::{
    entry::{Entry, Kind},
    roots::{NOTHING_GRANTED, Roots, Target},
    tree::{ENTRIES, Tree, tree},
    walk::{End, Filter, Found, UNNAMED, walk},
};

/// Maximum size of a page's paths, regardless of the limit: the host accepts 1 MiB.
const BYTES: usize = 512 * 1024;

/// Message if there is more than a call looks at.
const MORE: &str = "There are too many entries for one call: narrow `path` or `depth`.";

/// An entry of a list.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Listed {
    /// Only the path, at the lowest detail level; directories end with a slash.
    Path(String),
    Entry(Entry),
}

/// A page of entries, or all of them as a tree.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Listing {
    Page(Vec<Listed>),
    Tree(Tree),
}

/// Another form of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    Size,
    Tree,
}

/// Parameters of a list.
pub struct Query {
    pub filter: Filter,
    pub depth: u32,
    pub limit: usize,
    pub cursor: Option<String>,
    pub detail: Detail,
    pub by: Option<Form>,
}

/// Lists a page of a directory, or all of it as a tree.
pub fn list(roots: &Roots, path: &str, query: &Query) -> Result<Reply<Listing>> {
    if query.by.is_some() && query.cursor.is_some() {
        return Err(Failure::invalid_params("`cursor` excludes `by`: only a list by path has parts"));
    }
    if query.by == Some(Form::Tree) {
        let (tree, message) = tree(roots, path, &query.filter, query.depth, query.limit)?;
        let mut reply = Reply::new(Listing::Tree(tree));
        reply.message = message;
        return Ok(reply);
    }
    if query.cursor.as_ref().is_some_and(|cursor| !cursor.starts_with('/')) {
        return Err(Failure::invalid_params("`cursor` is not from `list`"));
    }
    if query.by == Some(Form::Size) {
        return largest(roots, path, query);
    }
    let target = roots.target(path)?;
    let nothing = matches!(&target, Target::Above(roots) if roots.is_empty());
    let mut page = Page { query, items: Vec::new(), bytes: 0, last: None, total: 0, full: false };
    let end = walk(&target, Some(query.depth), &query.filter, &mut |found| {
        page.add(&found);
        ControlFlow::Continue(())
    })?;
    let reply = page.reply(end);
    Ok(if nothing { reply.message(NOTHING_GRANTED) } else { reply })
}

/// Lists the largest files, largest first.
fn largest(roots: &Roots, path: &str, query: &Query) -> Result<Reply<Listing>> {
    let mut files = Vec::new();
    let end = walk(&roots.target(path)?, Some(query.depth), &query.filter, &mut |found| {
        if let Found::Entry(place, Kind::File) = found {
            files.push((Reverse(place.metadata().map_or(0, |metadata| metadata.len())), place.path()));
        }
        if files.len() < ENTRIES { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    files.sort_unstable();
    let total = files.len();
    let mut page = Page { query, items: Vec::new(), bytes: 0, last: None, total: 0, full: false };
    for (_, path) in files {
        page.add(&Found::Entry(&roots.place(&path)?, Kind::File));
    }
    let count = page.items.len();
    let reply = Reply::new(Listing::Page(page.items)).page(loggia_sdk::Page::of(count).total(total));
    Ok(if end == End::Complete { reply } else { reply.message(MORE) })
}

/// The page that is being filled.
struct Page<'q> {
    query: &'q Query,
    items: Vec<Listed>,
    bytes: usize,
    last: Option<String>,
    total: usize,
    full: bool,
}

impl Page<'_> {
    fn add(&mut self, found: &Found) {
        self.total += 1;
        let path = match found {
            Found::Entry(place, _) | Found::Unread(place, _) => place.path(),
            Found::Unnamed(place) => place.join(UNNAMED).path(),
        };
        let seen = self.query.cursor.as_ref().is_some_and(|cursor| in_order(&path, cursor).is_le());
        if seen || self.full {
            return;
        }
        self.bytes += path.len() + 100;
        if self.items.len() == self.query.limit || self.bytes > BYTES {
            self.full = true;
            return;
        }
        self.items.push(self.item(found, path.clone()));
        self.last = Some(path);
    }

    fn item(&self, found: &Found, path: String) -> Listed {
        let detail = self.query.detail;
        Listed::Entry(match found {
            Found::Entry(_, kind) if detail == Detail::Minimal => {
                return Listed::Path(if *kind == Kind::Directory { path + "/" } else { path });
            }
            Found::Entry(place, _) => match place.metadata() {
                Ok(metadata) => Entry::new(path).with(&metadata, detail),
                Err(failure) => Entry::failed(path, &failure.message),
            },
            Found::Unread(_, failure) => Entry::failed(path, &failure.message),
            Found::Unnamed(_) => Entry::failed(path, "its name is not UTF-8, so it cannot be opened"),
        })
    }

    fn reply(self, end: End) -> Reply<Listing> {
        let count = self.items.len();
        let mut page = loggia_sdk::Page::of(count);
        if end == End::Complete {
            page = page.total(self.total);
        }
        if let Some(last) = self.last.filter(|_| self.full) {
            page = page.cursor(last);
        }
        let reply = Reply::new(Listing::Page(self.items)).page(page);
        if end == End::TooLarge {
            return reply.message(MORE);
        }
        reply
    }
}

/// Compares paths name by name, so that `a/b` comes before `a-b`.
pub fn in_order(a: &str, b: &str) -> Ordering {
    a.split('/').cmp(b.split('/'))
}
