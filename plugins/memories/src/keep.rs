//! Writing: each memory together with its index entries, in one transaction.

use loggia_sdk::{
    prelude::*,
    state::{Cell, Transaction},
};
use ranking::{Index, Vectors};

use crate::{
    body,
    memory::{Link, MEMORIES, Memory, PREFIX, Text, missing, now, number},
};

/// Finds memories by their words.
pub static INDEX: Index = Index::new("words");

/// Vectors for search by meaning.
pub static VECTORS: Vectors = Vectors::new("vectors");

/// Ids of pinned memories.
pub static PINNED: Cell<Vec<String>> = Cell::new("pinned");

/// More would push everything else out of sight.
const PINS: usize = 50;

/// Maximum number of links of one memory.
const LINKS: usize = 200;

/// Relation of a link that has none.
pub const RELATION: &str = "related to";

/// Links removed together: each rewrites a memory, and a commit is limited to 3 MiB.
const UNLINKED: usize = 4;

/// Adds a memory.
pub fn add(text: &Text) -> Result<Memory> {
    state::transaction(|tx| {
        let memory = MEMORIES.of(tx).create(PREFIX, |id| Memory::new(id, text))?;
        let texts = [(number(&memory.id)?, &*memory.text())];
        INDEX.add(tx, &texts)?;
        VECTORS.follow(tx, &texts)?;
        Ok(memory)
    })
}

/// Changes of a memory's text; absent fields stay.
#[derive(Debug, Default)]
pub struct Update {
    pub title: Option<String>,
    pub kind: Option<String>,
    pub body: Option<String>,
    /// A line to add at the end of the body, and one to remove from it.
    pub append: Option<String>,
    pub remove: Option<String>,
    pub tags: Option<Vec<String>>,
}

/// Changes a memory's text, and its vector or removes it.
pub fn update(id: &str, update: &Update) -> Result<Memory> {
    let number = number(id)?;
    let Update { title, kind, body, append, remove, tags } = update;
    change(id, |tx, memory| {
        let old = memory.text();
        for (field, new) in [(&mut memory.title, title), (&mut memory.kind, kind), (&mut memory.body, body)] {
            if let Some(new) = new {
                field.clone_from(new);
            }
        }
        if let Some(line) = remove {
            body::remove(&mut memory.body, line)?;
        }
        if let Some(line) = append {
            body::append(&mut memory.body, line)?;
        }
        memory.tags = tags.as_ref().unwrap_or(&memory.tags).clone();
        let new = memory.text();
        if new != old {
            INDEX.replace(tx, number, &old, &new)?;
            VECTORS.remove(tx, &[number])?;
            VECTORS.follow(tx, &[(number, &new)])?;
        }
        Ok(())
    })
}

/// Deletes a memory and the links to it.
pub fn delete(id: &str) -> Result<Memory> {
    loop {
        if let Some(memory) = state::transaction(|tx| delete_part(tx, id))? {
            return Ok(memory);
        }
    }
}

/// Removes some of its links, then itself. Returns the memory once it is deleted.
fn delete_part(tx: &Transaction, id: &str) -> Result<Option<Memory>> {
    let memories = MEMORIES.of(tx);
    let mut memory = memories.get(id)?.ok_or_else(|| missing(id))?;
    for link in memory.links.drain(memory.links.len().saturating_sub(UNLINKED)..) {
        if let Some(mut other) = memories.get(&link.id)? {
            other.links.retain(|link| link.id != id);
            memories.put(&other.id, &other)?;
        }
    }
    if !memory.links.is_empty() {
        memories.put(id, &memory)?;
        return Ok(None);
    }
    let number = number(id)?;
    unpin(tx, id)?;
    INDEX.remove(tx, &[(number, &memory.text())])?;
    VECTORS.remove(tx, &[number])?;
    memories.remove(id)?;
    Ok(Some(memory))
}

/// Pins or unpins a memory.
pub fn pin(id: &str, pinned: bool) -> Result<Memory> {
    change(id, |tx, memory| {
        unpin(tx, id)?;
        memory.pinned = pinned;
        if pinned {
            let mut pins = PINNED.of(tx).get()?.unwrap_or_default();
            if pins.len() >= PINS {
                let failure = Failure::conflict(format!("{PINS} memories are pinned already"));
                return Err(failure.hint("`pin` one of them with `pinned: false` first; `list` shows them."));
            }
            pins.insert(0, id.to_owned());
            PINNED.of(tx).set(&pins)?;
        }
        Ok(())
    })
}

fn unpin(tx: &Transaction, id: &str) -> Result<()> {
    let mut pins = PINNED.of(tx).get()?.unwrap_or_default();
    let before = pins.len();
    pins.retain(|pin| pin != id);
    if pins.len() < before { PINNED.of(tx).set(&pins) } else { Ok(()) }
}

/// Archives a memory or restores it.
pub fn archive(id: &str, archived: bool) -> Result<Memory> {
    change(id, |_, memory| {
        memory.archived = archived;
        Ok(())
    })
}

/// Links a memory to another, or removes the link. Without a relation, all links between the two are removed.
pub fn link(id: &str, to: &str, relation: Option<&str>, linked: bool) -> Result<Memory> {
    if id == to {
        return Err(Failure::invalid_params("a memory cannot be linked to itself")
            .hint("`to` must be another memory."));
    }
    state::transaction(|tx| {
        let memories = MEMORIES.of(tx);
        let mut here = memories.get(id)?.ok_or_else(|| missing(id))?;
        let mut there = memories.get(to)?.ok_or_else(|| missing(to))?;
        if linked {
            connect(&mut here, &mut there, relation.unwrap_or(RELATION))?;
        } else {
            let other = |link: &Link, id: &str, inverse: bool| {
                link.id == id
                    && relation.is_none_or(|relation| link.relation == relation && link.inverse == inverse)
            };
            here.links.retain(|link| !other(link, to, false));
            there.links.retain(|link| !other(link, id, true));
        }
        memories.put(id, &here)?;
        memories.put(to, &there)?;
        Ok(here)
    })
}

/// Adds a link to both ends, unless it exists. Returns whether it is new.
///
/// # Errors
///
/// `conflict` if one of them has too many.
pub fn connect(here: &mut Memory, there: &mut Memory, relation: &str) -> Result<bool> {
    let link = |to: &Memory, inverse| Link { id: to.id.clone(), relation: relation.to_owned(), inverse };
    let (forth, back) = (link(there, false), link(here, true));
    if here.links.contains(&forth) {
        return Ok(false);
    }
    if let Some(full) = [&*here, &*there].into_iter().find(|memory| memory.links.len() >= LINKS) {
        let failure = Failure::conflict(format!("{} has {LINKS} links already", full.id));
        return Err(failure.hint("Remove one with `linked: false`."));
    }
    here.links.push(forth);
    there.links.push(back);
    Ok(true)
}

fn change(id: &str, mut how: impl FnMut(&Transaction, &mut Memory) -> Result<()>) -> Result<Memory> {
    state::transaction(|tx| {
        let mut memory = MEMORIES.of(tx).get(id)?.ok_or_else(|| missing(id))?;
        how(tx, &mut memory)?;
        memory.updated = now();
        MEMORIES.of(tx).put(id, &memory)?;
        Ok(memory)
    })
}
