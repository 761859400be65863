//! `get`: a document, its text, or one of its passages.

use loggia_sdk::prelude::*;

use crate::{
    document::{Document, Passage, find},
    view::{Part, Shown, beginning},
};

/// Characters of a document's excerpt.
const EXCERPT: usize = 400;
/// Headings of an outline.
const OUTLINE: usize = 100;
/// Maximum size of a page of text, regardless of the limit.
const BYTES: usize = 128 * 1024;

/// A document, or a passage of one.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Got {
    Document(Shown),
    Passage(Part),
}

/// One passage, counted from 1.
pub fn passage(id: &str, chunk: u32) -> Result<Reply<Got>> {
    let document = find(id)?;
    within(&document, chunk)?;
    let at = chunk - 1;
    let first = at.saturating_sub(1);
    let mut near = document.passages(first..at + 2)?.into_iter();
    let before = if at > first { near.next() } else { None };
    let passage = near.next().ok_or_else(|| Failure::internal("a passage is missing"))?;
    let part = Part::of(&document, at, &passage, passage.shown().to_owned()).named(&document);
    let (before, after) = (place(at, before), place(at + 2, near.next()));
    Ok(Reply::new(Got::Passage(Part { before, after, ..part })))
}

/// `Chunk 4, lines 20-31: Guide > Use`.
fn place(chunk: u32, passage: Option<Passage>) -> String {
    let Some(passage) = passage else { return String::new() };
    let [first, last] = passage.lines;
    let heading = passage.heading();
    let colon = if heading.is_empty() { "" } else { ": " };
    format!("Chunk {chunk}, lines {first}-{last}{colon}{heading}")
}

/// A document, without its text.
pub fn document(id: &str) -> Result<Reply<Got>> {
    let document = find(id)?;
    let passages = document.passages(0..document.count)?;
    let mut shown = Shown::from(document);
    shown.outline = outline(&passages);
    shown.text = passages.first().map(|passage| beginning(&passage.text, EXCERPT)).unwrap_or_default();
    Ok(Reply::new(Got::Document(shown)))
}

/// A document with its text, or a part of it: this many passages from this one on, counted from 1.
pub fn text(id: &str, chunk: u32, limit: u32) -> Result<Reply<Got>> {
    let document = find(id)?;
    within(&document, chunk)?;
    let count = document.count;
    let passages = document.passages(chunk - 1..count.min(chunk - 1 + limit))?;
    let mut shown = Shown::from(document);
    let mut end = chunk - 1;
    for passage in passages {
        if !shown.text.is_empty() && shown.text.len() + passage.own().len() > BYTES {
            break;
        }
        shown.text.push_str(passage.own());
        end += 1;
    }
    if end == count {
        return Ok(Reply::new(Got::Document(shown)));
    }
    shown.next_chunk = end + 1;
    let message = format!("Chunks {chunk} to {end} of {count}; more follow.");
    let next = Next::action("get").param("id", id).param("chunk", end + 1).param("limit", limit);
    Ok(Reply::new(Got::Document(shown)).message(message).next(next))
}

fn outline(passages: &[Passage]) -> Vec<String> {
    let mut sections = Vec::new();
    let mut last: &[String] = &[];
    for (chunk, passage) in (1..).zip(passages) {
        if passage.path != last && !passage.path.is_empty() {
            sections.push(format!("{chunk} {}", passage.heading()));
        }
        last = &passage.path;
    }
    sections.truncate(OUTLINE);
    sections
}

fn within(document: &Document, chunk: u32) -> Result<()> {
    if (1..=document.count).contains(&chunk) {
        return Ok(());
    }
    let (id, count) = (&document.id, document.count);
    Err(Failure::not_found(format!("not found: `{id}` has no chunk {chunk}"))
        .hint(format!("`chunk` is 1 to {count} there.")))
}
