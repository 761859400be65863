//! The journal of the one commit that is being carried out: in state, with the new content.
//!
//! One key says whose turn it is and how far it has come; beside it stand a key for what is to be done, and one for each
//! file's content. There is a journal from the moment of decision to the moment when nothing is left to do, and at most
//! one. It changes hands where its worker seems to have died; then `attempt` goes up, and the worker that was too slow
//! finds that the journal is no longer what it holds.

use std::time::{SystemTime, UNIX_EPOCH};

use loggia_sdk::{
    failure::code,
    prelude::*,
    state::{Cell, Transaction},
};

use super::{Manifest, manifest::manifests};

const HEAD: &str = "journal";
const PLAN: &str = "journal/plan";
const JOURNALS: &str = "journals";

/// The last journal's number. It goes up, and is no less than the milliseconds since 1970: names beside the files are made
/// of it, and where the state was thrown away, or two hosts have each their own, they must not meet.
static NUMBER: Cell<u64> = Cell::new(JOURNALS);

/// What is being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// The new files are put in place.
    Redo,
    /// It could not be done: the old files are put back.
    Undo,
    /// The new files are all there: what was needed for it is taken away.
    Clean,
}

/// How far it has come: all that is read again before each move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    pub number: u64,
    /// How many have worked at it.
    pub attempt: u32,
    pub phase: Phase,
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// As it is when all is done.
    pub manifest: Manifest,
    pub files: Vec<Entry>,
    /// Directories to be made, outermost first.
    pub directories: Vec<String>,
}

/// A file to be written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    pub path: String,
    /// None where there was no file.
    pub old: Option<String>,
    pub new: String,
}

/// A journal that this call has read or written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Journal {
    pub head: Head,
    pub plan: Plan,
}

/// The journal that there is. Where no state is granted, there is none.
pub fn pending() -> Result<Option<Journal>> {
    Ok(moment()?.0)
}

/// The journal that there is, and what changes with every new one.
pub fn moment() -> Result<(Option<Journal>, Vec<u8>)> {
    let keys = [HEAD, PLAN, JOURNALS].map(str::to_owned);
    let entries = match state::shared().get_many(keys.into()) {
        Ok(entries) => entries,
        Err(failure) if failure.code == code::DENIED => return Ok((None, Vec::new())),
        Err(failure) => return Err(failure),
    };
    let mut values = entries.into_iter().map(|entry| entry.map(|entry| entry.value));
    let mut next = || values.next().flatten();
    let journal = match (next(), next()) {
        (Some(head), Some(plan)) => Some(read(&head, &plan).map_err(|failure| unreadable(&failure))?),
        _ => None,
    };
    Ok((journal, next().unwrap_or_default()))
}

fn read(head: &[u8], plan: &[u8]) -> Result<Journal> {
    Ok(Journal { head: Head::deserialize(parse(head)?)?, plan: Plan::deserialize(parse(plan)?)? })
}

fn unreadable(failure: &Failure) -> Failure {
    Failure::internal(format!("a round trip's journal cannot be read: {}", failure.message))
        .hint("Another version of the plugin wrote it, and can finish it: the operator has to load that one.")
}

fn parse(json: &[u8]) -> Result<Value> {
    Ok(std::str::from_utf8(json)?.parse()?)
}

/// Whether there is no journal, and none comes before the transaction ends.
pub fn at_rest(tx: &Transaction) -> Result<bool> {
    NUMBER.of(tx).get()?;
    Ok(tx.get(HEAD)?.is_none())
}

/// Whether there is a state to keep journals in.
///
/// # Errors
///
/// `denied`, with what the operator has to do.
pub fn granted() -> Result<()> {
    match state::shared().get(HEAD) {
        Err(failure) if failure.code == code::DENIED => Err(Failure::denied(
            "access denied: round trips need state, which is not granted",
        )
        .hint(
            "The operator grants it in files.toml: `[grants] store = true`. `get` and `put` work without it.",
        )),
        other => other.map(drop),
    }
}

/// The decision: from here on the files are to be as these contents say. Without contents there is nothing to carry out,
/// and the manifest has it all at once. Given up, without a trace, where there was another journal since the
/// [`moment`] of the look, or the manifest is no longer the one that was looked at.
pub fn begin(
    plan: &Plan,
    contents: &[&[u8]],
    seen: &Manifest,
    journals: &[u8],
) -> Result<Option<Option<Journal>>> {
    let manifests = manifests()?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    let now = u64::try_from(now).unwrap_or_default();
    state::transaction(|tx| {
        let others = tx.get(HEAD)?.is_some() || tx.get(JOURNALS)?.unwrap_or_default() != journals;
        if others || manifests.of(tx).get(&seen.id)?.as_ref() != Some(seen) {
            return Ok(None);
        }
        if contents.is_empty() {
            manifests.of(tx).put(&seen.id, &plan.manifest)?;
            return Ok(Some(None));
        }
        let number = NUMBER.of(tx).update(|number| *number = (*number + 1).max(now))?;
        let head = Head { number, attempt: 1, phase: Phase::Redo };
        tx.put(HEAD, head.json());
        tx.put(PLAN, json!(plan).to_string());
        for (at, content) in contents.iter().enumerate() {
            tx.put(&key(at), *content);
        }
        Ok(Some(Some(Journal { head, plan: plan.clone() })))
    })
}

fn key(at: usize) -> String {
    format!("{HEAD}/{at}")
}

impl Head {
    /// As it stands in the state. No two journals have the same, as numbers and attempts only go up.
    fn json(self) -> Vec<u8> {
        json!(self).to_string().into_bytes()
    }
}

impl Journal {
    /// Whether it is still this one's to carry out.
    pub fn holds(&self) -> Result<bool> {
        Ok(state::shared().get(HEAD)?.is_some_and(|entry| entry.value == self.head.json()))
    }

    /// The new content of a file. None where the journal is another's by now.
    pub fn content(&self, at: usize) -> Result<Option<Vec<u8>>> {
        Ok(state::shared().get(&key(at))?.map(|entry| entry.value))
    }

    /// Takes it over from who seems to have died. None where somebody else was quicker.
    pub fn take_over(&self) -> Result<Option<Self>> {
        self.change(|head| head.attempt += 1)
    }

    /// Goes on to another phase. None where the journal is another's by now.
    pub fn turn(&self, phase: Phase) -> Result<Option<Self>> {
        self.change(|head| head.phase = phase)
    }

    fn change(&self, change: impl FnOnce(&mut Head)) -> Result<Option<Self>> {
        let mut journal = self.clone();
        change(&mut journal.head);
        let changed = state::transaction(|tx| {
            let holds = tx.get(HEAD)? == Some(self.head.json());
            if holds {
                tx.put(HEAD, journal.head.json());
            }
            Ok(holds)
        })?;
        Ok(changed.then_some(journal))
    }

    /// Ends it: where the new files are there, the manifest has them from now on. Whether it was still this one's.
    pub fn close(&self) -> Result<bool> {
        let manifests = manifests()?;
        state::transaction(|tx| {
            if tx.get(HEAD)? != Some(self.head.json()) {
                return Ok(false);
            }
            tx.delete(HEAD);
            tx.delete(PLAN);
            (0..self.plan.files.len()).for_each(|at| tx.delete(&key(at)));
            if self.head.phase == Phase::Clean {
                manifests.of(tx).put(&self.plan.manifest.id, &self.plan.manifest)?;
            }
            Ok(true)
        })
    }
}
