//! `get`: a document, its text, or one of its passages.

use loggia_sdk::prelude::*;

use crate::{
    convert::Format,
    document::{Document, Passage, find},
    view::{Place, beginning},
};

/// Characters of a document's excerpt.
const EXCERPT: usize = 400;
/// Headings of an outline.
const OUTLINE: usize = 100;
/// A page of text ends before it outgrows this, whatever the limit.
const BYTES: usize = 128 * 1024;

/// A document, or a passage of one.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Got {
    Document(Whole),
    Passage(Part),
}

/// A document.
#[detail]
#[derive(Debug, Serialize, JsonSchema)]
pub struct Whole {
    #[detail(minimal)]
    id: String,
    #[detail(minimal)]
    title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    format: Format,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    added: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    changed: Option<String>,
    /// How many passages it has.
    chunks: u32,
    characters: u32,
    #[detail(full)]
    size: u32,
    #[detail(full)]
    overlap: u32,
    /// Its sections: the heading, and the passage that it begins with.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    outline: Vec<Section>,
    #[serde(skip_serializing_if = "Option::is_none")]
    excerpt: Option<String>,
    #[detail(full)]
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// Where the text goes on; absent at the end.
    #[detail(full)]
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<u32>,
}

/// A section of a document.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Section {
    heading: String,
    chunk: u32,
}

/// A passage.
#[detail]
#[derive(Debug, Serialize, JsonSchema)]
pub struct Part {
    #[detail(minimal)]
    id: String,
    #[detail(minimal)]
    title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    #[serde(flatten)]
    #[detail(minimal)]
    place: Place,
    /// How many passages the document has.
    of: u32,
    text: String,
    /// The passage before.
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<Place>,
    /// The passage after.
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<Place>,
}

/// One passage, counted from 1.
pub fn passage(id: &str, chunk: u32) -> Result<Reply<Got>> {
    let document = find(id)?;
    within(&document, "chunk", chunk)?;
    let at = chunk - 1;
    let first = at.saturating_sub(1);
    let near = document.passages(first..at + 2)?;
    let place = |at: u32| near.get(at.checked_sub(first)? as usize).map(|passage| Place::of(at, passage));
    let here = (at - first) as usize;
    let Some(passage) = near.get(here) else { return Err(Failure::internal("a passage is missing")) };
    Ok(Reply::new(Got::Passage(Part {
        text: passage.shown().to_owned(),
        place: Place::of(at, passage),
        of: document.count,
        before: at.checked_sub(1).and_then(place),
        after: place(at + 1),
        id: document.id,
        title: document.title,
        source: document.source,
    })))
}

/// A document, with as much of its text as the caller wants.
pub fn document(id: &str, offset: u32, limit: u32, detail: Detail) -> Result<Reply<Got>> {
    let document = find(id)?;
    let mut whole = Whole::of(&document);
    match detail {
        Detail::Minimal => {}
        Detail::Standard => {
            let passages = document.passages(0..document.count)?;
            whole.outline = outline(&passages);
            whole.excerpt = passages.first().map(|passage| beginning(&passage.text, EXCERPT));
        }
        Detail::Full => {
            within(&document, "offset", offset)?;
            let mut text = String::new();
            let mut end = offset - 1;
            for passage in document.passages(end..document.count.min(end + limit))? {
                // The first one of a page repeats what it shares, so that each page reads well.
                let more = if text.is_empty() { &*passage.text } else { passage.own() };
                if !text.is_empty() && text.len() + more.len() > BYTES {
                    break;
                }
                text.push_str(more);
                end += 1;
            }
            whole.text = Some(text);
            whole.next_offset = (end < document.count).then_some(end + 1);
        }
    }
    let Some(next) = whole.next_offset else { return Ok(Reply::new(Got::Document(whole))) };
    let message = format!("Chunks {offset} to {} of {}: the text goes on.", next - 1, document.count);
    let next = Next::action("get").param("id", id).param("offset", next);
    Ok(Reply::new(Got::Document(whole)).message(message).next(next))
}

impl Whole {
    fn of(document: &Document) -> Self {
        let Document { id, title, source, format, tags, added, changed, count, characters, size, overlap, .. } =
            document.clone();
        Self {
            id,
            title,
            source,
            format,
            tags,
            added,
            changed,
            chunks: count,
            characters,
            size,
            overlap,
            outline: Vec::new(),
            excerpt: None,
            text: None,
            next_offset: None,
        }
    }
}

fn outline(passages: &[Passage]) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    for (chunk, passage) in (1..).zip(passages) {
        let heading = passage.heading();
        let new = !heading.is_empty() && sections.last().is_none_or(|last| last.heading != heading);
        if new && sections.len() < OUTLINE {
            sections.push(Section { heading, chunk });
        }
    }
    sections
}

fn within(document: &Document, name: &str, chunk: u32) -> Result<()> {
    if (1..=document.count).contains(&chunk) {
        return Ok(());
    }
    let (id, count) = (&document.id, document.count);
    Err(Failure::not_found(format!("not found: `{id}` has no chunk {chunk}"))
        .hint(format!("`{name}` is 1 to {count} there.")))
}
