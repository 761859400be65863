//! Computes missing vectors of memories.

use std::collections::BTreeSet;

use loggia_sdk::prelude::*;
use ranking::{Embedder, Vectors};

use crate::{
    keep::VECTORS,
    memory::{MEMORIES, Memory, PREFIX, missing, number, read},
};

/// Texts sent together: six requests of 32, which the host sends concurrently.
const PART: usize = 192;

/// Texts per call: the host allows 32 requests.
const CALL: usize = 960;

/// Result of `embed`.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub struct Embedded {
    pub embedded: usize,
    /// Without a vector still.
    pub left: usize,
}

/// Requests a memory's vector right after a change; if that fails, `embed` does it later. The built-in model's vector
/// was written with the change.
pub fn follow(memory: &Memory) -> Option<String> {
    let embedder = match Embedder::configured() {
        Ok(embedder) if embedder.is_built_in() => return None,
        Ok(embedder) => embedder,
        Err(failure) => return Some(failure.message.clone()),
    };
    let failed = |failure: Failure| format!("Without a vector: {}. `embed` retries.", failure.message);
    keep(&embedder.hasty(), vec![memory.clone()]).err().map(failed)
}

/// Computes the missing vectors, of all memories or of one.
pub fn embed(call: &Call, id: Option<&str>) -> Result<Reply<Embedded>> {
    let embedder = Embedder::configured()?;
    let open = match id {
        Some(id) => vec![MEMORIES.get(id)?.ok_or_else(|| missing(id))?.id],
        None => without(&VECTORS.numbers(&embedder)?)?,
    };
    let mut done = 0;
    for part in open[..open.len().min(CALL)].chunks(PART) {
        call.checkpoint()?;
        call.progress(done as f64, Some(open.len() as f64), None);
        done += keep(&embedder, read(part)?.into_iter().flatten().collect())?;
    }
    let left = open.len() - done;
    let reply = Reply::new(Embedded { embedded: done, left });
    Ok(match left {
        0 => reply,
        _ => reply.next(Next::action("embed").reason("some are left")),
    })
}

/// Ids of memories without a vector, newest first.
fn without(vectors: &BTreeSet<u32>) -> Result<Vec<String>> {
    let mut open = Vec::new();
    // Scans all without storing them: together they may exceed a call's memory.
    MEMORIES.newest(PREFIX, None, 1, |memory| {
        if number(&memory.id).is_ok_and(|number| !vectors.contains(&number)) {
            open.push(memory.id.clone());
        }
        false
    })?;
    Ok(open)
}

/// Requests vectors, and stores those of unchanged memories. Returns their number.
fn keep(embedder: &Embedder, memories: Vec<Memory>) -> Result<usize> {
    let said: Vec<(String, String)> = memories.into_iter().map(|memory| (memory.text(), memory.id)).collect();
    let vectors = embedder.embed(&said.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>())?;
    let answers: Vec<_> = said.iter().zip(&vectors).collect();
    let mut kept = 0;
    for part in answers.chunks(vectors.first().map_or(1, Vectors::at_once)) {
        kept += state::transaction(|tx| {
            let mut same = Vec::new();
            for ((text, id), vector) in part {
                if MEMORIES.of(tx).get(id)?.is_some_and(|now| now.text() == *text) {
                    same.push((number(id)?, (*vector).clone()));
                }
            }
            VECTORS.put(tx, embedder, &same)?;
            Ok(same.len())
        })?;
    }
    Ok(kept)
}
