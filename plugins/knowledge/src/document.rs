//! Stored data: documents, and their passages in packs.

use std::{ops::Range, time::SystemTime};

use loggia_sdk::{
    prelude::*,
    state::{Collection, Counter, Listing, Transaction},
};
use ranking::{Index, Vectors};

use crate::{
    convert::Format,
    cut::{Cut, Measure},
};

pub static DOCUMENTS: Collection<Document> = Collection::new("documents");
static PACKS: Collection<Pack> = Collection::new("passages");
static LAST_PACK: Counter = Counter::new("last_pack");
pub static WORDS: Index = Index::new("words");
pub static VECTORS: Vectors = Vectors::new("vectors");

/// Prefix of documents' ids.
pub(crate) const PREFIX: &str = "k_";
/// Passages per row: a commit is limited to 1,000 changes, and a document may have as many passages.
const PACK: u32 = 8;
/// Packs per read: with the largest passages below the host's limit.
const PACKS_AT_ONCE: usize = 24;

/// A document. Its text is that of its passages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Document {
    pub id: String,
    pub title: String,
    pub source: Option<String>,
    pub format: Format,
    pub tags: Vec<String>,
    pub added: String,
    /// When its text was last replaced, if it was.
    pub changed: String,
    /// Identifies the text.
    pub digest: String,
    pub characters: u32,
    /// Number of the first passage; the others follow. Numbers are never reused.
    pub first: u32,
    pub count: u32,
    pub size: u32,
    pub overlap: u32,
}

/// A part of a document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Passage {
    /// Text of the document, including the repetition of the previous passage.
    pub text: String,
    /// Length of the repetition in bytes.
    pub shared: u32,
    /// Headings above it.
    pub path: Vec<String>,
    /// First and last line in the document's text, from 1.
    pub lines: [u32; 2],
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Pack {
    document: String,
    passages: Vec<Passage>,
}

impl Document {
    /// Key of the row with its id: documents are unique by source and, without one, by text.
    pub fn key(&self) -> String {
        known_as(self.source.as_deref(), &self.digest)
    }

    pub fn numbers(&self) -> Range<u32> {
        self.first..self.first + self.count
    }

    pub fn measure(&self) -> Measure {
        Measure { size: self.size as usize, overlap: self.overlap as usize }
    }

    /// Indexed text of a passage, including the document's title and the headings.
    pub fn said(&self, passage: &Passage) -> String {
        [&self.title, "\n", &passage.path.join("\n"), "\n", &passage.text].concat()
    }

    /// Reads passages by position, from 0.
    pub fn passages(&self, wanted: Range<u32>) -> Result<Vec<Passage>> {
        let numbers = self.first + wanted.start..self.first + wanted.end.min(self.count);
        let found = passages(&numbers.collect::<Vec<_>>())?;
        found.into_iter().map(|passage| passage.map(|(_, passage)| passage).ok_or_else(moved)).collect()
    }
}

/// See [`Document::key`].
pub fn known_as(source: Option<&str>, digest: &str) -> String {
    source.map_or_else(|| format!("text/{digest}"), |source| format!("source/{source}"))
}

/// Documents that satisfy a condition, newest first.
pub fn every(true_of: &mut dyn FnMut(&Document) -> bool) -> Result<Vec<Document>> {
    Ok(page(None, u32::MAX, true_of)?.items.into_iter().map(|item| item.value).collect())
}

/// A page of [`every`](Self::every).
pub fn page(
    cursor: Option<&str>,
    limit: u32,
    true_of: &mut dyn FnMut(&Document) -> bool,
) -> Result<Listing<Document>> {
    DOCUMENTS.newest(PREFIX, cursor, limit, true_of)
}

/// The document of that id.
pub fn find(id: &str) -> Result<Document> {
    DOCUMENTS.get(id)?.ok_or_else(|| missing(id))
}

/// Failure for an unknown document.
pub fn missing(id: &str) -> Failure {
    Failure::not_found(format!("not found: there is no document `{id}`"))
        .hint("`list` shows the documents.")
        .next(Next::action("list"))
}

/// Failure if it was replaced or deleted while it was read.
fn moved() -> Failure {
    Failure::conflict("the document has just been changed").hint("Try again.")
}

/// Current time in the stored format.
pub fn now() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}

impl Passage {
    /// The passages of a text that was cut.
    pub fn of(text: &str, cuts: &[Cut]) -> Vec<Self> {
        let breaks = |range: Range<usize>| text[range].matches('\n').count();
        let (mut at, mut line) = (0, 1);
        let mut passages = Vec::with_capacity(cuts.len());
        for cut in cuts {
            line += breaks(at..cut.fresh);
            at = cut.fresh;
            let said = &text[cut.range.clone()];
            let blank = said.len() - said.trim_start().len();
            let first = line - breaks(cut.range.start..cut.fresh) + said[..blank].matches('\n').count();
            let last = first + said.trim().matches('\n').count();
            passages.push(Self {
                text: said.to_owned(),
                shared: number(cut.fresh - cut.range.start),
                path: cut.path.clone(),
                lines: [number(first), number(last)],
            });
        }
        passages
    }

    /// Text without the repetition. All of a document's together are its text.
    pub fn own(&self) -> &str {
        self.text.get(self.shared as usize..).unwrap_or_default()
    }

    /// Displayed text.
    pub fn shown(&self) -> &str {
        self.text.trim_end().trim_start_matches('\n')
    }

    /// `Guide > Install`.
    pub fn heading(&self) -> String {
        self.path.join(" > ")
    }
}

/// Converts a length; lengths here are far below a `u32`'s limit.
pub fn number(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// Passages by their numbers, with the ids of their documents; nothing for numbers that are no longer used.
pub fn passages(numbers: &[u32]) -> Result<Vec<Option<(String, Passage)>>> {
    let mut found = Vec::with_capacity(numbers.len());
    for numbers in numbers.chunks(PACKS_AT_ONCE * PACK as usize) {
        let mut wanted: Vec<u32> = Vec::new();
        for pack in numbers.iter().map(|number| number / PACK) {
            if !wanted.contains(&pack) {
                wanted.push(pack);
            }
        }
        let mut packs = Vec::with_capacity(wanted.len());
        for wanted in wanted.chunks(PACKS_AT_ONCE) {
            packs.extend(PACKS.get_many(&wanted.iter().map(u32::to_string).collect::<Vec<_>>())?);
        }
        for number in numbers {
            let at = wanted.iter().position(|pack| *pack == number / PACK);
            let kept = at.and_then(|at| packs[at].as_ref());
            let passage = kept.and_then(|kept| kept.passages.get((number % PACK) as usize));
            found.push(kept.zip(passage).map(|(kept, passage)| (kept.document.clone(), passage.clone())));
        }
    }
    Ok(found)
}

fn pack(number: u32) -> String {
    (number / PACK).to_string()
}

/// A document's passages, all of them, as part of a transaction.
pub fn read_all(tx: &Transaction, document: &Document) -> Result<Vec<Passage>> {
    let mut passages = Vec::with_capacity(document.count as usize);
    for number in document.numbers().step_by(PACK as usize) {
        passages.extend(PACKS.of(tx).require(&pack(number))?.passages);
    }
    Ok(passages)
}

/// Deletes a document's passages.
pub fn erase(tx: &Transaction, document: &Document) -> Result<()> {
    for number in document.numbers().step_by(PACK as usize) {
        PACKS.of(tx).remove(&pack(number))?;
    }
    Ok(())
}

/// Writes a document's passages, under new numbers.
pub fn write(tx: &Transaction, document: &mut Document, passages: &[Passage]) -> Result<()> {
    document.count = number(passages.len());
    let packs = document.count.div_ceil(PACK);
    let last = LAST_PACK.of(tx).add(packs.into())?;
    let first = u32::try_from(last).ok().and_then(|last| (last + 1 - packs).checked_mul(PACK));
    document.first = first.ok_or_else(|| Failure::unavailable("no numbers are left for new passages"))?;
    for (number, passages) in (document.first..).step_by(PACK as usize).zip(passages.chunks(PACK as usize)) {
        let kept = Pack { document: document.id.clone(), passages: passages.to_vec() };
        PACKS.of(tx).put(&pack(number), &kept)?;
    }
    Ok(())
}
