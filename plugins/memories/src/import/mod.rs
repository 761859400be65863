//! `import`: the knowledge graph of MCP's reference server, as its JSON lines.

mod file;
mod lines;
mod names;

use std::time::Duration;

use loggia_sdk::{
    prelude::*,
    state::{Cell, Transaction},
};

pub use file::read;

use crate::{
    body,
    keep::{INDEX, VECTORS, connect},
    memory::{MEMORIES, Memory, PREFIX, Text, now, number},
};
use lines::{Entity, Line, Lines, Relation};
use names::Names;

/// Bytes of text that one transaction writes: with the index, and all characters escaped, less than the 3 MiB of a
/// commit.
const BYTES: usize = 256 * 1024;
/// Memories or relations of a transaction.
const TOGETHER: usize = 32;
/// Skipped lines that an answer lists.
const LISTED: usize = 50;
/// Remaining time at which the import stops by itself.
const SPARE: Duration = Duration::from_secs(2);

/// Number of finished transactions of all imports. Each reads and changes it, so that two imports at once do not both
/// add a memory: the one that comes second reads the names again.
static IMPORTS: Cell<u64> = Cell::new("imports");

/// Result of `import`.
#[derive(Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Imported {
    /// New memories.
    added: usize,
    /// Memories of the same title that got new lines, or a kind.
    changed: usize,
    /// New relations.
    linked: usize,
    /// Entities and relations that were there already.
    unchanged: usize,
    /// Lines that were not imported, or not in full.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    skipped: Vec<Skipped>,
}

/// A line that was not imported.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
struct Skipped {
    /// From 1.
    line: usize,
    why: String,
}

/// Effect of an entity.
enum Effect {
    Added,
    /// A memory whose text was this.
    Changed(String),
    Unchanged,
}

/// One imported entity.
struct Step {
    memory: Memory,
    effect: Effect,
    /// Observations that do not fit.
    left: usize,
}

/// Imports all lines. What is there already stays, so a repeated import adds nothing.
pub fn import(text: &str, call: &Call) -> Result<Reply<Imported>> {
    let Lines { entities, relations, skipped } = lines::parse(text);
    let mut imported = Imported::default();
    for (line, why) in skipped {
        imported.skip(line, why);
    }
    let mut names = Names::read()?;
    let total = (entities.len() + relations.len()) as f64;
    let mut done = 0;
    while done < entities.len() {
        if out_of_time(call)? {
            return Ok(imported.reply(true));
        }
        call.progress(done as f64, Some(total), None);
        done += imported.entities(&entities[done..], &mut names)?;
    }
    let mut done = 0;
    while done < relations.len() {
        if out_of_time(call)? {
            return Ok(imported.reply(true));
        }
        call.progress((entities.len() + done) as f64, Some(total), None);
        done += imported.relations(&relations[done..], &mut names)?;
    }
    Ok(imported.reply(false))
}

fn out_of_time(call: &Call) -> Result<bool> {
    call.checkpoint()?;
    Ok(call.time_left() < SPARE)
}

impl Imported {
    fn skip(&mut self, line: usize, why: impl Into<String>) {
        self.skipped.push(Skipped { line, why: why.into() });
    }

    fn count(&mut self, effect: &Effect) {
        match effect {
            Effect::Added => self.added += 1,
            Effect::Changed(_) => self.changed += 1,
            Effect::Unchanged => self.unchanged += 1,
        }
    }

    /// Imports the first of these entities in one transaction; returns their number.
    fn entities(&mut self, entities: &[Line<Entity>], names: &mut Names) -> Result<usize> {
        let done = names.transaction(|tx, names| {
            let (mut done, mut bytes) = (Vec::new(), 0);
            let (mut old, mut new) = (Vec::<(u32, String)>::new(), Vec::<(u32, String)>::new());
            // Names of this transaction, which are known only once it is committed.
            let mut added = Names::default();
            for Line { value: entity, .. } in entities.iter().take(TOGETHER) {
                let id = added.id(&entity.name).or_else(|| names.id(&entity.name));
                let step = match id {
                    Some(id) => merge(tx, id, entity)?,
                    None => create(tx, entity)?,
                };
                let (memory, text) = (&step.memory, step.memory.text());
                let number = number(&memory.id)?;
                let again = new.iter().any(|(known, _)| *known == number);
                match &step.effect {
                    Effect::Added => added.add(&entity.name, &memory.id),
                    // The index holds the text from before the transaction.
                    Effect::Changed(before) if !again => old.push((number, before.clone())),
                    _ => {}
                }
                if !matches!(step.effect, Effect::Unchanged) {
                    bytes += text.len();
                    new.retain(|(known, _)| *known != number);
                    new.push((number, text));
                    MEMORIES.of(tx).put(&memory.id, memory)?;
                }
                done.push((step.effect, step.left));
                if bytes > BYTES {
                    break;
                }
            }
            INDEX.change(tx, &texts(&old), &texts(&new))?;
            VECTORS.remove(tx, &old.iter().map(|(number, _)| *number).collect::<Vec<_>>())?;
            VECTORS.follow(tx, &texts(&new))?;
            Ok((done, added))
        })?;
        let (done, added) = done;
        names.extend(added);
        for ((effect, left), Line { number, .. }) in done.iter().zip(entities) {
            self.count(effect);
            if *left > 0 {
                self.skip(
                    *number,
                    format!("{left} observations do not fit into {} characters", body::LENGTH),
                );
            }
        }
        Ok(done.len())
    }

    /// Imports the first of these relations in one transaction; returns their number.
    fn relations(&mut self, relations: &[Line<Relation>], names: &mut Names) -> Result<usize> {
        let done = names.transaction(|tx, names| {
            let (mut done, mut bytes) = (Vec::new(), 0);
            for Line { value: relation, .. } in relations.iter().take(TOGETHER) {
                let linked = relate(tx, names, relation)?;
                if let Ok(Some((here, there))) = &linked {
                    for memory in [here, there] {
                        MEMORIES.of(tx).put(&memory.id, memory)?;
                        bytes += memory.body.len();
                    }
                }
                done.push(linked.map(|linked| linked.is_some()));
                if bytes > BYTES {
                    break;
                }
            }
            Ok(done)
        })?;
        let count = done.len();
        for (outcome, Line { number, .. }) in done.into_iter().zip(relations) {
            match outcome {
                Ok(true) => self.linked += 1,
                Ok(false) => self.unchanged += 1,
                Err(why) => self.skip(*number, why),
            }
        }
        Ok(count)
    }

    fn reply(mut self, stopped: bool) -> Reply<Imported> {
        let more = self.skipped.len().saturating_sub(LISTED);
        self.skipped.sort_unstable_by_key(|skipped| skipped.line);
        self.skipped.truncate(LISTED);
        let mut messages = Vec::new();
        if more > 0 {
            messages.push(format!("{more} more lines were skipped."));
        }
        if stopped {
            messages.push("The time is used up: call again, and the rest is imported.".to_owned());
        }
        let show = Next::action("graph").reason("to read what was imported");
        let anything = self.added + self.changed + self.linked > 0;
        let mut reply = Reply::new(self);
        reply.message = (!messages.is_empty()).then(|| messages.join(" "));
        reply.next = (anything && !stopped).then_some(show);
        reply
    }
}

fn texts(texts: &[(u32, String)]) -> Vec<(u32, &str)> {
    texts.iter().map(|(number, text)| (*number, text.as_str())).collect()
}

/// A new memory.
fn create(tx: &Transaction, entity: &Entity) -> Result<Step> {
    let mut text = Text { title: entity.name.clone(), kind: entity.kind.clone(), ..Text::default() };
    let (_, left) = observe(&mut text.body, entity);
    let memory = MEMORIES.of(tx).create(PREFIX, |id| Memory::new(id, &text))?;
    Ok(Step { memory, effect: Effect::Added, left })
}

/// The memory of this name, with what is new.
fn merge(tx: &Transaction, id: &str, entity: &Entity) -> Result<Step> {
    // It was deleted since the names were read.
    let Some(mut memory) = MEMORIES.of(tx).get(id)? else { return create(tx, entity) };
    let before = memory.text();
    let (mut changed, left) = observe(&mut memory.body, entity);
    if memory.kind.is_empty() && !entity.kind.is_empty() {
        memory.kind.clone_from(&entity.kind);
        changed = true;
    }
    if !changed {
        return Ok(Step { memory, effect: Effect::Unchanged, left });
    }
    memory.updated = now();
    Ok(Step { memory, effect: Effect::Changed(before), left })
}

/// Adds the observations that are new; returns whether there are any, and how many do not fit.
fn observe(body: &mut String, entity: &Entity) -> (bool, usize) {
    let (mut changed, mut left) = (false, 0);
    for line in &entity.observations {
        match body::append(body, line) {
            Ok(new) => changed |= new,
            Err(_) => left += 1,
        }
    }
    (changed, left)
}

/// Both ends with a new link, or `None` if they are linked already; or why they cannot be linked.
fn relate(
    tx: &Transaction,
    names: &Names,
    relation: &Relation,
) -> Result<std::result::Result<Option<(Memory, Memory)>, String>> {
    let Relation { from, to, relation } = relation;
    let mut ends = Vec::with_capacity(2);
    for name in [from, to] {
        let memory = names.id(name).map(|id| MEMORIES.of(tx).get(id)).transpose()?.flatten();
        match memory {
            Some(memory) => ends.push(memory),
            None => return Ok(Err(format!("no memory has the title {name:?}"))),
        }
    }
    let [here, there] = ends.as_mut_slice() else { return Ok(Err("a relation has two ends".to_owned())) };
    if here.id == there.id {
        return Ok(Err("a memory cannot be linked to itself".to_owned()));
    }
    let new = match connect(here, there, relation) {
        Ok(new) => new,
        Err(failure) => return Ok(Err(failure.message.clone())),
    };
    let there = ends.pop();
    Ok(Ok(if new { ends.pop().zip(there) } else { None }))
}
