//! `embed`: vectors for the passages that have none.

use std::time::Duration;

use loggia_sdk::prelude::*;
use ranking::{Embedder, Vectors};

use crate::document::{DOCUMENTS, Document, VECTORS, every, find, passages};

/// Passages of one round, which the endpoint gets in two requests at once.
const BATCH: usize = 64;
/// Rounds of a call: the host lets a call make 32 requests.
const ROUNDS: usize = 16;
/// A round is begun only with so much time left.
const ROUND: Duration = Duration::from_secs(8);

/// How far it came.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Embedded {
    /// Passages that got their vector.
    embedded: usize,
    /// Passages that have none yet.
    left: usize,
}

/// Gives vectors to the passages of one document, or of all.
pub fn embed(id: Option<&str>, call: &Call) -> Result<Reply<Embedded>> {
    let embedder = Embedder::required()?;
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
        None if left > 0 => reply.message(format!("Passages that are left: {left}. Call again.")).next(again),
        None => reply,
    })
}

/// Asks for vectors and keeps them, for those passages that are still there when they come.
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
