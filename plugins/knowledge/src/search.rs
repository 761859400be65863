//! `search`: passages, by words, by meaning, or by both.

use std::ops::Range;

use loggia_sdk::prelude::*;
use ranking::{Found, Hit, Mode, excerpt};

use crate::{
    document::{DOCUMENTS, Document, Passage, VECTORS, WORDS, every, find, passages},
    view::Part,
};

/// Characters of an excerpt.
const EXCERPT: usize = 300;

/// Maximum total size of complete texts at detail `full`: the host accepts 1 MiB.
const BYTES: usize = 600 * 1024;

/// Parameters of a search.
pub struct Query {
    pub text: String,
    pub mode: Mode,
    pub limit: usize,
    pub tag: Option<String>,
    pub document: Option<String>,
    pub detail: Detail,
}

/// Finds passages, best first.
pub fn search(query: &Query) -> Result<Reply<Vec<Part>>> {
    let within = scope(query)?;
    let (mut hits, said) = hits(query)?;
    if let Some(within) = &within {
        hits.retain(|hit| within.iter().any(|range| range.contains(&hit.number)));
    }
    let found = found(query, &hits)?;
    let nothing = found.is_empty();
    let reply = Reply::new(found);
    Ok(match said {
        Some(Said { message, next: Some(next) }) => reply.message(message).next(next),
        Some(Said { message, next: None }) => reply.message(message),
        None if nothing && WORDS.count()? == 0 => reply.message("There are no documents yet: `add` one."),
        None if nothing => reply.message("No passage contains these words: try others."),
        None => reply,
    })
}

/// Numbers of the selected passages; `None` for all.
fn scope(query: &Query) -> Result<Option<Vec<Range<u32>>>> {
    let tagged = |document: &Document| query.tag.as_ref().is_none_or(|tag| document.tags.contains(tag));
    if let Some(id) = &query.document {
        let document = find(id)?;
        return Ok(Some(Some(document.numbers()).filter(|_| tagged(&document)).into_iter().collect()));
    }
    if query.tag.is_none() {
        return Ok(None);
    }
    let documents = every(&mut |document| tagged(document))?;
    Ok(Some(documents.iter().map(Document::numbers).collect()))
}

/// Additional message for the caller.
struct Said {
    message: String,
    next: Option<Next>,
}

/// All hits, best first.
fn hits(query: &Query) -> Result<(Vec<Hit>, Option<Said>)> {
    let Found { hits, guessed, lacking, failure } = ranking::find(&WORDS, &VECTORS, &query.text, query.mode)?;
    let said = match failure {
        Some(failure) => {
            Some(Said { message: format!("Found by words only: {}", failure.message), next: None })
        }
        None if lacking > 0 => {
            let all = WORDS.count()?;
            let message = format!("{lacking} of {all} passages have no vector yet: `embed` computes them.");
            Some(Said { message, next: Some(Next::action("embed")) })
        }
        None if guessed => {
            let message = "No passage has these words: these are the nearest in meaning.".to_owned();
            Some(Said { message, next: None })
        }
        None => None,
    };
    Ok((hits, said))
}

/// Passages of the best hits, with their documents. Hits whose passage was deleted are skipped.
fn found(query: &Query, hits: &[Hit]) -> Result<Vec<Part>> {
    let (mut found, mut bytes) = (Vec::new(), 0);
    for hits in hits.chunks(query.limit) {
        let numbers: Vec<u32> = hits.iter().map(|hit| hit.number).collect();
        let kept = passages(&numbers)?;
        let ids: Vec<String> = kept.iter().flatten().map(|(id, _)| id.clone()).collect();
        let mut documents = DOCUMENTS.get_many(&ids)?.into_iter();
        for (hit, passage) in hits.iter().zip(kept) {
            let Some((_, passage)) = passage else { continue };
            let document = documents.next().flatten();
            let Some(document) = document.filter(|now| now.numbers().contains(&hit.number)) else { continue };
            // Line ends, quotes and others are escaped as two in JSON.
            bytes += passage.text.len() + passage.text.matches(['\n', '\t', '"', '\\']).count();
            found.push(part(query, &document, &passage, *hit, bytes <= BYTES));
            if found.len() == query.limit {
                return Ok(found);
            }
        }
    }
    Ok(found)
}

fn part(query: &Query, document: &Document, passage: &Passage, hit: Hit, whole: bool) -> Part {
    let text = match query.detail {
        Detail::Minimal => String::new(),
        Detail::Full if whole => passage.shown().to_owned(),
        _ => excerpt(passage.shown(), &query.text, EXCERPT),
    };
    let part = Part::of(document, hit.number - document.first, passage, text).named(document);
    Part { score: (f64::from(hit.score) * 1000.0).round() / 1000.0, ..part }
}
