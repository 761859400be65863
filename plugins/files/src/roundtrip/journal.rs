//! The journal of the one commit that is being carried out: in state, with the new content.
//!
//! One key holds the owner and the progress; others hold the plan and each file's content. A journal exists from the
//! decision until nothing is left to do, and there is at most one. If its worker seems dead, another takes it over and
//! increments `attempt`; the slow worker then finds that the journal is no longer its own.

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

/// Number of the last journal. It increases, and is at least the milliseconds since 1970: names of temporary files
/// contain it, and they must not collide if the state was deleted, or if two hosts have separate state.
static NUMBER: Cell<u64> = Cell::new(JOURNALS);

/// Phase of a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// The new files are put in place.
    Redo,
    /// Failed: the old files are restored.
    Undo,
    /// All new files are in place: temporary files are removed.
    Clean,
}

/// Progress: read again before each move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    pub number: u64,
    /// Number of workers so far.
    pub attempt: u32,
    pub phase: Phase,
}

/// Planned changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Manifest after completion.
    pub manifest: Manifest,
    pub files: Vec<Entry>,
    /// Directories to be made, outermost first.
    pub directories: Vec<String>,
}

/// A file to be written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    pub path: String,
    /// `None` if there was no file.
    pub old: Option<String>,
    pub new: String,
}

/// A journal that this call has read or written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Journal {
    pub head: Head,
    pub plan: Plan,
}

/// The current journal. `None` if no state is granted.
pub fn pending() -> Result<Option<Journal>> {
    Ok(moment()?.0)
}

/// The current journal, and a value that changes with every new one.
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
        .hint("Another version of the plugin wrote it, and can finish it: the operator must load that one.")
}

fn parse(json: &[u8]) -> Result<Value> {
    Ok(std::str::from_utf8(json)?.parse()?)
}

/// Tests whether there is no journal, and none appears before the transaction ends.
pub fn at_rest(tx: &Transaction) -> Result<bool> {
    NUMBER.of(tx).get()?;
    Ok(tx.get(HEAD)?.is_none())
}

/// Checks that state is granted.
///
/// # Errors
///
/// `denied`, with a hint for the operator.
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

/// Records the decision: from here on the files are to have these contents. Without contents there is nothing to do,
/// and the manifest is updated at once. Fails without effect if there was another journal since the [`moment`] of the
/// snapshot, or the manifest has changed.
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
    /// Stored form. Unique, as numbers and attempts only increase.
    fn json(self) -> Vec<u8> {
        json!(self).to_string().into_bytes()
    }
}

impl Journal {
    /// Tests whether this worker still owns it.
    pub fn holds(&self) -> Result<bool> {
        Ok(state::shared().get(HEAD)?.is_some_and(|entry| entry.value == self.head.json()))
    }

    /// New content of a file. `None` if another worker owns the journal by now.
    pub fn content(&self, at: usize) -> Result<Option<Vec<u8>>> {
        Ok(state::shared().get(&key(at))?.map(|entry| entry.value))
    }

    /// Takes it over from a worker that seems dead. `None` if another was faster.
    pub fn take_over(&self) -> Result<Option<Self>> {
        self.change(|head| head.attempt += 1)
    }

    /// Enters the next phase. `None` if another worker owns the journal by now.
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

    /// Ends it: if the new files are in place, the manifest is updated. Returns whether this worker still owned it.
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
