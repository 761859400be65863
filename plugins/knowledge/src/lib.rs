//! Documents as searchable passages, as a Loggia plugin. See the README.

mod block;
mod convert;
mod cut;
mod document;
mod embed;
mod get;
mod html;
mod markdown;
mod search;
mod store;
mod view;

use loggia_sdk::prelude::*;

use convert::{Format, convert};
use cut::Measure;
use document::{Document, page};
use embed::Embedded;
use get::Got;
use ranking::Mode;
use search::Query;
use store::New;
use view::{Part, Shown};

/// Bytes of a document at most.
const TEXT: usize = 512 * 1024;
/// Bytes of a source, which is part of a key.
const SOURCE: usize = 900;
/// Characters of a tag.
const TAG: usize = 64;
/// Characters of a passage, and those of them that it shares with the one before: some 400 words, and two sentences.
const SIZE: usize = 1600;
const OVERLAP: usize = 200;
/// Passages that `chunk` lists.
const PIECES: usize = 50;

/// The facade. Its data are in the host's state.
pub struct Knowledge;

/// Documents, found as passages.
///
/// `search` returns passages with document, source and place; `get` with `chunk` reads one in full, with its
/// neighbours.
#[facade(
    needs("store", "to store the documents"),
    wants("http: an embeddings endpoint", "for better meaning, and in other languages than English")
)]
impl Knowledge {
    /// Add a document: Markdown, HTML or plain text.
    #[action(
        write,
        example = r##"{"text": "# Tea\n\nBoil water, then wait.", "source": "notes/tea.md", "tags": ["kitchen"]}"##
    )]
    fn add(
        &self,
        #[param(length = 1..=524_288)] text: String,
        /// Default: the title in the text.
        #[param(length = 1..=200)]
        title: Option<String>,
        #[param(default)] format: Format,
        /// Origin: a path or a URL. One document per source.
        #[param(length = 1..=900)]
        source: Option<String>,
        #[param(length = 0..=20, hint = "reuse tags that `list` shows")] tags: Option<Vec<String>>,
        /// Id of a document to replace; fields not given stay.
        #[param(length = 1..=40)]
        replace: Option<String>,
    ) -> Result<Reply<Shown>> {
        let long = |name: &str, length: usize, limit: usize| {
            Failure::invalid_params(format!("`{name}` is too long: {length} bytes, and it may have {limit}"))
        };
        if text.len() > TEXT {
            return Err(long("text", text.len(), TEXT).hint("Add it in parts, each with its own `source`."));
        }
        if let Some(source) = source.as_ref().filter(|source| source.len() > SOURCE) {
            return Err(long("source", source.len(), SOURCE));
        }
        let tags = tags.map(tidy).transpose()?;
        let converted = convert(&text, format, source.as_deref())?;
        let document = store::add(&New { converted, title, source, tags }, replace.as_deref(), measure()?)?;
        Ok(Reply::new(Shown::named(document)))
    }

    /// Show a document, or one of its passages.
    ///
    /// With detail `standard` an excerpt and the outline, with `full` the text.
    #[action(
        read,
        details,
        resource("knowledge://document/{id}", items = "list", state = "documents/{id}"),
        example = r#"{"id": "k_0001", "chunk": 3}"#
    )]
    fn get(
        &self,
        call: &Call,
        #[param(length = 1..=40)] id: String,
        /// This passage instead; with `limit`, the text from it on.
        #[param(range = 1..=100_000)]
        chunk: Option<u32>,
        /// Text of this many passages.
        #[param(range = 1..=1000)]
        limit: Option<u32>,
    ) -> Result<Reply<Got>> {
        match (chunk, limit) {
            (Some(chunk), None) => get::passage(&id, chunk),
            (None, None) if call.detail() < Detail::Full => get::document(&id),
            _ => get::text(&id, chunk.unwrap_or(1), limit.unwrap_or(20)),
        }
    }

    /// List documents, newest first.
    #[action(read, details, alias = "ls", example = r#"{"tag": "kitchen"}"#)]
    fn list(
        &self,
        call: &Call,
        /// Only documents with this tag.
        tag: Option<String>,
        #[param(default = 20, range = 1..=100)] limit: u32,
        /// From the last answer, for the next part.
        cursor: Option<String>,
    ) -> Result<Reply<Vec<Shown>>> {
        let mut tagged = |document: &Document| tag.as_ref().is_none_or(|tag| document.tags.contains(tag));
        let page = page(cursor.as_deref(), limit, &mut tagged)?;
        let shown = if call.detail() == Detail::Full { Shown::from } else { Shown::listed };
        Ok(page.reply_with(|item| shown(item.value)))
    }

    /// Find passages, best first.
    ///
    /// With detail `minimal` their locations, `standard` an excerpt, `full` their text.
    #[action(read, details, open_world, example = r#"{"query": "how long to boil water", "limit": 5}"#)]
    fn search(
        &self,
        call: &Call,
        #[param(length = 1..=1000)] query: String,
        #[param(default = 10, range = 1..=50)] limit: u32,
        #[param(default)] mode: Mode,
        /// Only documents with this tag.
        tag: Option<String>,
        /// Only this document.
        #[param(length = 1..=40)]
        id: Option<String>,
    ) -> Result<Reply<Vec<Part>>> {
        let (limit, detail) = (limit as usize, call.detail());
        search::search(&Query { text: query, mode, limit, tag, document: id, detail })
    }

    /// Compute missing vectors, so that `search` finds passages by meaning.
    #[action(write, open_world, idempotent, long_running, example = r#"{"id": "k_0001"}"#)]
    fn embed(
        &self,
        call: &Call,
        /// Only this document.
        #[param(length = 1..=40)]
        id: Option<String>,
    ) -> Result<Reply<Embedded>> {
        embed::embed(id.as_deref(), call)
    }

    /// Split a document into passages of another size.
    #[action(write, idempotent, example = r#"{"id": "k_0001", "size": 800}"#)]
    fn chunk(
        &self,
        #[param(length = 1..=40)] id: String,
        /// Maximum characters of a passage.
        #[param(range = 200..=8000)]
        size: Option<u32>,
        /// Characters that neighbours share; at most half the `size`.
        #[param(range = 0..=4000)]
        overlap: Option<u32>,
    ) -> Result<Reply<Vec<Part>>> {
        let change = |now: Measure| {
            let size = size.map_or(now.size, |size| size as usize);
            let asked = overlap.map(|overlap| overlap as usize);
            if let Some(overlap) = asked.filter(|overlap| overlap * 2 > size) {
                return Err(Failure::invalid_params(format!(
                    "`overlap` {overlap} is more than half the size, {size}"
                )));
            }
            Ok(Measure { size, overlap: asked.unwrap_or(now.overlap.min(size / 2)) })
        };
        let (document, passages) = store::recut(&id, change)?;
        let part = |(at, passage)| Part::of(&document, at, passage, view::beginning(&passage.text, 80));
        let pieces: Vec<_> = (0..).zip(passages.iter().take(PIECES)).map(part).collect();
        let reply = Reply::new(pieces).page(Page::default().total(document.count as usize));
        Ok(match passages.len() {
            ..=PIECES => reply,
            _ => reply.message(format!("The first {PIECES}; `get` with `chunk` shows any.")),
        })
    }

    /// Delete a document permanently.
    #[action(destructive, alias = "rm", example = r#"{"id": "k_0001"}"#)]
    fn delete(&self, #[param(length = 1..=40)] id: String) -> Result<Shown> {
        store::delete(&id).map(Shown::named)
    }
}

/// Normalises tags: trimmed, without duplicates.
fn tidy(tags: Vec<String>) -> Result<Vec<String>> {
    let mut tidy: Vec<String> = Vec::new();
    for tag in &tags {
        let tag = tag.trim();
        if tag.chars().count() > TAG {
            return Err(Failure::invalid_params(format!("`tags`: a tag has at most {TAG} characters")));
        }
        if !tag.is_empty() && !tidy.iter().any(|known| known == tag) {
            tidy.push(tag.to_owned());
        }
    }
    Ok(tidy)
}

/// Configured size and overlap of passages.
fn measure() -> Result<Measure> {
    let size: usize = host::config_or("size", SIZE)?;
    let overlap = host::config_or("overlap", OVERLAP.min(size / 2))?;
    if (200..=8000).contains(&size) && overlap * 2 <= size {
        return Ok(Measure { size, overlap });
    }
    Err(Failure::unavailable(format!("the configuration is invalid: `size` {size}, `overlap` {overlap}")).hint(
        "The operator sets `config.size`, 200 to 8000 characters, and `config.overlap`, at most half of it, \
         in the plugin's policy file.",
    ))
}

loggia_sdk::export!(Knowledge);

#[cfg(test)]
mod tests;
