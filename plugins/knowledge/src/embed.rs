//! `embed`: computes missing vectors of passages.

use std::time::Duration;

use loggia_sdk::prelude::*;
use ranking::{Embedder, Vectors};

use crate::document::{DOCUMENTS, Document, VECTORS, every, find, passages};

/// Passages per round, which the endpoint gets in two concurrent requests.
const BATCH: usize = 64;
/// Rounds per call: the host allows a call 32 requests.
const ROUNDS: usize = 16;
/// Time left that a round requires to start.
const ROUND: Duration = Duration::from_secs(8);

/// Result of `embed`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Embedded {
    /// Number of passages with a new vector.
    embedded: usize,
    /// Number of passages without a vector.
    left: usize,
}

/// Computes the missing vectors of one document, or of all.
pub fn embed(id: Option<&str>, call: &Call) -> Result<Reply<Embedded>> {
    let embedder = Embedder::configured()?;
    let documents = match id {
        Some(id) => vec![find(id)?],
        None => every(&mut |_| true)?,
    };
    let have = VECTORS.numbers(&embedder)?;
    let waiting: Vec<(&Document, u32)> = documents
        .iter()
        .flat_map(|document| document.numbers().map(move |number| (document, number)))
        .filter(|(_, number)| !have.contains(number))
        .collect();
    let (mut embedded, mut trouble) = (0, None);
    for (round, batch) in waiting.chunks(BATCH).enumerate() {
        call.checkpoint()?;
        if round == ROUNDS || round > 0 && call.time_left() < ROUND {
            break;
        }
        call.progress(embedded as f64, Some(waiting.len() as f64), Some("asking for vectors"));
        match give(&embedder, batch) {
            Ok(()) => embedded += batch.len(),
            Err(failure) if embedded == 0 => return Err(failure),
            Err(failure) => {
                trouble = Some(failure);
                break;
            }
        }
    }
    let left = waiting.len() - embedded;
    let reply = Reply::new(Embedded { embedded, left });
    let again = match id {
        Some(id) => Next::action("embed").param("id", id),
        None => Next::action("embed"),
    };
    Ok(match trouble {
        Some(failure) => reply.message(format!("It ended early: {}", failure.message)).next(again),
        None if left > 0 => reply.message(format!("Passages left: {left}. Call again.")).next(again),
        None => reply,
    })
}

/// Requests vectors, and stores those of passages that still exist.
fn give(embedder: &Embedder, batch: &[(&Document, u32)]) -> Result<()> {
    let numbers: Vec<u32> = batch.iter().map(|(_, number)| *number).collect();
    let kept: Vec<_> = batch
        .iter()
        .zip(passages(&numbers)?)
        .filter_map(|((document, number), kept)| Some((*document, *number, kept?.1)))
        .collect();
    let said: Vec<String> = kept.iter().map(|(document, _, passage)| document.said(passage)).collect();
    let vectors = embedder.embed(&said.iter().map(String::as_str).collect::<Vec<_>>())?;
    let answers: Vec<_> = kept.iter().zip(&vectors).collect();
    for part in answers.chunks(vectors.first().map_or(1, Vectors::at_once)) {
        state::transaction(|tx| {
            let mut there = Vec::with_capacity(part.len());
            for ((document, number, _), vector) in part {
                let now = DOCUMENTS.of(tx).get(&document.id)?;
                if now.is_some_and(|now| now.numbers().contains(number)) {
                    there.push((*number, (*vector).clone()));
                }
            }
            VECTORS.put(tx, embedder, &there)
        })?;
    }
    Ok(())
}
