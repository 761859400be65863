//! `add`, `chunk`, `delete`: changes a document, its passages and its index, in one transaction.

use loggia_sdk::{prelude::*, state::Transaction};

use crate::{
    convert::{Converted, blocks, digest},
    cut::{Measure, cut},
    document::{
        DOCUMENTS, Document, PREFIX, Passage, VECTORS, WORDS, erase, find, known_as, missing, now, number,
        read_all, write,
    },
};

/// Maximum number of passages: the changes for this many, old and new, fit into one commit.
pub const PASSAGES: usize = 1000;

/// A new document.
pub struct New {
    pub converted: Converted,
    pub title: Option<String>,
    pub source: Option<String>,
    pub tags: Option<Vec<String>>,
}

/// Adds a document, or puts it in the place of the one with the id `replaced`.
pub fn add(new: &New, replaced: Option<&str>, measure: Measure) -> Result<Document> {
    let before = replaced.map(find).transpose()?;
    let measure = before.as_ref().map_or(measure, Document::measure);
    let text = &new.converted.text;
    let passages = cut_up(text, new, measure)?;
    let digest = digest(text);
    state::transaction(|tx| {
        let before = replaced.map(|id| DOCUMENTS.of(tx).get(id)?.ok_or_else(|| missing(id))).transpose()?;
        let mut document = match &before {
            Some(before) => Document { changed: now(), ..before.clone() },
            None => Document {
                id: DOCUMENTS.of(tx).next_id(PREFIX)?,
                title: new.converted.title.clone(),
                source: None,
                format: new.converted.format,
                tags: Vec::new(),
                added: now(),
                changed: String::new(),
                digest: String::new(),
                characters: 0,
                first: 0,
                count: 0,
                size: 0,
                overlap: 0,
            },
        };
        document.size = number(measure.size);
        document.overlap = number(measure.overlap);
        document.digest.clone_from(&digest);
        document.format = new.converted.format;
        document.characters = number(text.chars().count());
        if let Some(title) = &new.title {
            document.title.clone_from(title);
        }
        if new.source.is_some() {
            document.source.clone_from(&new.source);
        }
        if let Some(tags) = &new.tags {
            document.tags.clone_from(tags);
        }
        check_known(tx, &digest, document.source.as_deref(), before.as_ref())?;
        put(tx, before.as_ref(), document, &passages)
    })
}

/// Splits a document again.
pub fn recut(id: &str, change: impl Fn(Measure) -> Result<Measure>) -> Result<(Document, Vec<Passage>)> {
    state::transaction(|tx| {
        let before = DOCUMENTS.of(tx).get(id)?.ok_or_else(|| missing(id))?;
        let measure = change(before.measure())?;
        if measure == before.measure() {
            let passages = read_all(tx, &before)?;
            return Ok((before, passages));
        }
        let text: String = read_all(tx, &before)?.iter().map(Passage::own).collect();
        let passages = Passage::of(&text, &cut(&text, &blocks(&text, before.format), measure));
        let size = measure.size;
        if passages.len() > PASSAGES {
            let hint = format!("Set a larger `size` than {size}, or a smaller `overlap`.");
            return Err(too_many().hint(hint));
        }
        let document = Document { size: number(size), overlap: number(measure.overlap), ..before.clone() };
        let document = put(tx, Some(&before), document, &passages)?;
        Ok((document, passages))
    })
}

/// Deletes a document with everything derived from it.
pub fn delete(id: &str) -> Result<Document> {
    state::transaction(|tx| {
        let document = DOCUMENTS.of(tx).get(id)?.ok_or_else(|| missing(id))?;
        let passages = take(tx, &document)?;
        WORDS.remove(tx, &numbered(&document, &passages))?;
        DOCUMENTS.of(tx).remove(id)?;
        tx.delete(&document.key());
        Ok(document)
    })
}

/// Writes a document, its passages and its index, replacing the previous ones.
fn put(
    tx: &Transaction,
    before: Option<&Document>,
    mut document: Document,
    passages: &[Passage],
) -> Result<Document> {
    let old = before.map(|before| take(tx, before)).transpose()?.unwrap_or_default();
    if let Some(before) = before {
        tx.delete(&before.key());
    }
    write(tx, &mut document, passages)?;
    let new: Vec<String> = passages.iter().map(|passage| document.said(passage)).collect();
    let new: Vec<(u32, &str)> = document.numbers().zip(new.iter().map(String::as_str)).collect();
    WORDS.change(tx, &before.map(|before| numbered(before, &old)).unwrap_or_default(), &new)?;
    VECTORS.follow(tx, &new)?;
    tx.put(&document.key(), document.id.as_bytes());
    DOCUMENTS.of(tx).put(&document.id, &document)?;
    Ok(document)
}

/// Deletes the passages of a document and their vectors; returns their indexed texts.
fn take(tx: &Transaction, document: &Document) -> Result<Vec<String>> {
    let passages = read_all(tx, document)?;
    erase(tx, document)?;
    VECTORS.remove(tx, &document.numbers().collect::<Vec<_>>())?;
    Ok(passages.iter().map(|passage| document.said(passage)).collect())
}

fn numbered<'a>(document: &Document, said: &'a [String]) -> Vec<(u32, &'a str)> {
    document.numbers().zip(said.iter().map(String::as_str)).collect()
}

/// Cuts a text that is to be added.
fn cut_up(text: &str, new: &New, measure: Measure) -> Result<Vec<Passage>> {
    let blocks = blocks(text, new.converted.format);
    let passages = Passage::of(text, &cut(text, &blocks, measure));
    if passages.len() > PASSAGES {
        return Err(too_many().hint(
            "Each heading starts one: add it in parts, or, if these are not headings, with `format: \"text\"`.",
        ));
    }
    Ok(passages)
}

fn too_many() -> Failure {
    Failure::invalid_params(format!("it exceeds the limit of {PASSAGES} passages"))
}

/// Refuses a text or a source that another document has.
fn check_known(tx: &Transaction, digest: &str, source: Option<&str>, own: Option<&Document>) -> Result<()> {
    let Some(id) = tx.get(&known_as(source, digest))? else { return Ok(()) };
    let id = String::from_utf8_lossy(&id).into_owned();
    if own.is_some_and(|own| own.id == id) {
        return Ok(());
    }
    let same = DOCUMENTS.of(tx).get(&id)?.is_some_and(|document| document.digest == digest);
    let failure = if same {
        Failure::conflict(format!("already exists: `{id}` has this text"))
            .hint(format!("To give it another title or other tags, add it with `replace: \"{id}\"`."))
    } else {
        Failure::conflict(format!("already exists: `{id}` has this source, with another text"))
            .hint(format!("`replace: \"{id}\"` replaces it; under another `source`, both are kept."))
    };
    Err(failure.next(Next::action("get").param("id", id)))
}
