//! Vectors for the memories that have none.

use std::collections::BTreeSet;

use loggia_sdk::prelude::*;
use ranking::Embedder;

use crate::{
    keep::VECTORS,
    memory::{MEMORIES, Memory, PREFIX, missing, number},
};

/// Texts that are sent together: six requests of 32, which a host lets through at once.
const PART: usize = 192;

/// Texts in one call: a host lets 32 requests through.
const CALL: usize = 960;

/// What was done, and what is left.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub struct Embedded {
    pub embedded: usize,
    /// Without a vector still.
    pub left: usize,
}

/// Gives a memory its vector, at once after a change; if that fails, `embed` does it later.
pub fn follow(memory: &Memory) -> Option<String> {
    let embedder = match Embedder::configured() {
        Ok(None) => return None,
        Ok(Some(embedder)) => embedder,
        Err(failure) => return Some(failure.message.clone()),
    };
    let failed =
        |failure: Failure| format!("Not yet found by its meaning: {}. `embed` tries again.", failure.message);
    keep(&embedder, std::slice::from_ref(memory)).err().map(failed)
}

/// All that have none, or the one.
pub fn embed(call: &Call, id: Option<&str>) -> Result<Reply<Embedded>> {
    let embedder = Embedder::required()?;
    let mut open = match id {
        Some(id) => vec![MEMORIES.get(id)?.ok_or_else(|| missing(id))?],
        None => without(&VECTORS.numbers(&embedder)?)?,
    };
    let all = open.len();
    let later = open.split_off(all.min(CALL)).len();
    let mut done = 0;
    for part in open.chunks(PART) {
        call.checkpoint()?;
        call.progress(done as f64, Some(all as f64), None);
        done += keep(&embedder, part)?;
    }
    let left = later + (open.len() - done);
    let reply = Reply::new(Embedded { embedded: done, left });
    Ok(match left {
        0 => reply,
        _ => reply.next(Next::action("embed").reason("some are left")),
    })
}

fn without(vectors: &BTreeSet<u32>) -> Result<Vec<Memory>> {
    let lacks = |memory: &Memory| number(&memory.id).is_ok_and(|number| !vectors.contains(&number));
    // One more than a call does would do, but who calls wants to know how many are left.
    let page = MEMORIES.newest(PREFIX, None, u32::MAX, lacks)?;
    Ok(page.items.into_iter().map(|item| item.value).collect())
}

/// Gets vectors, and keeps those whose memories still say the same. How many these are.
fn keep(embedder: &Embedder, memories: &[Memory]) -> Result<usize> {
    let texts: Vec<String> = memories.iter().map(Memory::text).collect();
    let vectors = embedder.embed(&texts.iter().map(String::as_str).collect::<Vec<_>>())?;
    state::transaction(|tx| {
        let mut same = Vec::new();
        for ((memory, text), vector) in memories.iter().zip(&texts).zip(&vectors) {
            if MEMORIES.of(tx).get(&memory.id)?.is_some_and(|now| now.text() == *text) {
                same.push((number(&memory.id)?, vector.clone()));
            }
        }
        VECTORS.put(tx, embedder, &same)?;
        Ok(same.len())
    })
}
