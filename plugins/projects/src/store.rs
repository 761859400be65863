//! The stored rows: epics, texts, and the numbers of the last ids.

use std::time::{Duration, SystemTime};

use loggia_sdk::{
    prelude::*,
    state::{Cell, Collection, Transaction},
};

use crate::{ids::Kind, outline::Epic, texts::Texts};

/// Epics by id.
pub static EPICS: Collection<Epic> = Collection::new("epics");

/// Texts of epics, features and tasks, by id. Every item has a row, which names its epic.
pub static TEXTS: Collection<Texts> = Collection::new("texts");

/// Numbers of the last ids that were given out.
static LAST: Cell<LastNumbers> = Cell::new("last");

/// Rows of texts per read: at their maximum size, of characters that JSON escapes as six, below the host's limit of
/// 8 MiB.
const PART: usize = 10;

/// Numbers of the last ids. Numbers are never given out again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
struct LastNumbers {
    epic: u32,
    feature: u32,
    task: u32,
}

/// Gives out ids within a transaction.
pub struct IdSource<'a> {
    tx: &'a Transaction,
    last: LastNumbers,
}

impl<'a> IdSource<'a> {
    pub fn open(tx: &'a Transaction) -> Result<Self> {
        Ok(Self { tx, last: LAST.of(tx).get()?.unwrap_or_default() })
    }

    /// The next id of this kind.
    pub fn next(&mut self, kind: Kind) -> String {
        let last = match kind {
            Kind::Epic => &mut self.last.epic,
            Kind::Feature => &mut self.last.feature,
            Kind::Task => &mut self.last.task,
        };
        *last += 1;
        kind.id(*last)
    }

    /// Stores the numbers, when all ids are given out.
    pub fn close(self) -> Result<()> {
        LAST.of(self.tx).set(&self.last)
    }
}

/// Reads the epic that an item belongs to.
///
/// # Errors
///
/// `not_found`.
pub fn epic_of(id: &str) -> Result<Epic> {
    EPICS.get(&epic_id(id)?)?.ok_or_else(|| missing(id))
}

/// Id of the epic that an item belongs to. It never changes.
fn epic_id(id: &str) -> Result<String> {
    match Kind::of(id) {
        Some(Kind::Epic) => Ok(id.to_owned()),
        Some(_) => TEXTS.get(id)?.map(|texts| texts.epic).ok_or_else(|| missing(id)),
        None => Err(missing(id)),
    }
}

/// Changes an epic, or something in it, in one transaction.
///
/// # Errors
///
/// `not_found`, and those of the change.
pub fn change<T>(id: &str, mut how: impl FnMut(&Transaction, &mut Epic) -> Result<T>) -> Result<T> {
    let epic_id = epic_id(id)?;
    state::transaction(|tx| {
        let epics = EPICS.of(tx);
        let mut epic = epics.get(&epic_id)?.ok_or_else(|| missing(id))?;
        let before = epic.clone();
        let result = how(tx, &mut epic)?;
        if epic != before {
            epic.updated = now();
            epics.put(&epic_id, &epic)?;
        }
        Ok(result)
    })
}

/// Reads texts of items, in their order, until `take` returns false.
///
/// # Errors
///
/// The host's.
pub fn read_texts(ids: &[&str], mut take: impl FnMut(&str, Texts) -> bool) -> Result<()> {
    for ids in ids.chunks(PART) {
        let keys: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
        for (id, texts) in ids.iter().zip(TEXTS.get_many(&keys)?) {
            if texts.is_some_and(|texts| !take(id, texts)) {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Failure for an unknown id.
pub fn missing(id: &str) -> Failure {
    let failure = match Kind::of(id) {
        Some(kind) => Failure::not_found(format!("not found: there is no {} `{id}`", kind.word())),
        None => Failure::not_found(format!("not found: `{id}` is not an id")),
    };
    failure
        .hint("Ids are `e_0001` (epic), `f_0001` (feature), `t_0001` (task): `list` and `get` show them.")
        .next(Next::action("list"))
}

/// Failure for a change of an archived item.
pub fn archived(id: &str, by: &str) -> Failure {
    let because = if id == by { String::new() } else { format!(", as a part of `{by}`") };
    Failure::conflict(format!("`{id}` is archived{because}"))
        .hint("Restore it first.")
        .next(Next::action("archive").param("id", by).param("archived", false))
}

/// Now, in seconds since 1970.
pub fn now() -> u64 {
    SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default().as_secs()
}

/// A moment as RFC 3339, UTC.
pub fn moment(seconds: u64) -> String {
    humantime::format_rfc3339_seconds(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).to_string()
}
