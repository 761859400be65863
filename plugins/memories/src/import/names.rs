//! Memories by their titles.

use std::collections::BTreeMap;

use loggia_sdk::{prelude::*, state::Transaction};

use super::IMPORTS;
use crate::memory::{MEMORIES, PREFIX};

/// Ids by titles; of several memories with one title the oldest.
#[derive(Debug, Default)]
pub struct Names {
    ids: BTreeMap<String, String>,
    /// Number of finished transactions of all imports when the titles were read.
    at: Option<u64>,
}

impl Names {
    /// Reads the titles of all memories.
    ///
    /// # Errors
    ///
    /// The state's.
    pub fn read() -> Result<Self> {
        let at = IMPORTS.get()?;
        let mut ids = BTreeMap::new();
        // Scans all without storing them: together they may exceed a call's memory. The oldest comes last.
        MEMORIES.newest(PREFIX, None, 1, |memory| {
            ids.insert(memory.title.clone(), memory.id.clone());
            false
        })?;
        Ok(Self { ids, at })
    }

    /// Id of the memory with this title.
    pub fn id(&self, title: &str) -> Option<&str> {
        self.ids.get(title).map(String::as_str)
    }

    /// Adds a memory.
    pub fn add(&mut self, title: &str, id: &str) {
        self.ids.insert(title.to_owned(), id.to_owned());
    }

    /// Adds the memories of a committed transaction.
    pub fn extend(&mut self, added: Self) {
        self.ids.extend(added.ids);
    }

    /// Runs a transaction of an import. If another import has committed one since the titles were read, reads them
    /// again first.
    ///
    /// # Errors
    ///
    /// Those of the closure and the state's.
    pub fn transaction<T>(&mut self, mut attempt: impl FnMut(&Transaction, &Self) -> Result<T>) -> Result<T> {
        loop {
            let done = state::transaction(|tx| {
                let count = IMPORTS.of(tx);
                if count.get()? != self.at {
                    return Ok(None);
                }
                count.set(&(self.at.unwrap_or_default() + 1))?;
                attempt(tx, self).map(Some)
            })?;
            match done {
                Some(done) => {
                    self.at = Some(self.at.unwrap_or_default() + 1);
                    return Ok(done);
                }
                None => *self = Self::read()?,
            }
        }
    }
}
