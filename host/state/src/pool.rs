//! The connections to one store.
//!
//! One writes, by turns; others read, so that a `get` never waits for the disk that a commit waits for.

use std::{
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use rusqlite::Connection;

use crate::{
    StateError,
    connection::{self, PATIENCE},
    error::Trouble,
    file::{Identity, Place},
    turn::Turns,
};

/// Connections for reading that are kept; further ones are opened as needed. Each takes two descriptors and some 100 KiB.
const READERS: usize = 2;
/// How often a file is opened that is taken away at the very moment.
const ATTEMPTS: usize = 3;

/// The connections to one store, none at first.
#[derive(Debug)]
pub struct Pool {
    place: Place,
    writer: Turns<Option<Held>>,
    readers: Mutex<Vec<Held>>,
}

/// A connection, and the file it goes to. If another has its name by now, or none, then this one's writes would be lost
/// with it: so each request compares.
#[derive(Debug)]
struct Held {
    connection: Connection,
    file: Identity,
}

impl Pool {
    pub fn new(place: Place) -> Self {
        Self { place, writer: Turns::new(None), readers: Mutex::default() }
    }

    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Reads. `None` if there is no file, so nothing in it.
    pub fn read<R>(
        &self,
        work: impl FnOnce(&Connection) -> Result<R, Trouble>,
    ) -> Result<Option<R>, StateError> {
        for _ in 0..ATTEMPTS {
            let Some(file) = self.place.identity()? else {
                self.idle().clear();
                return Ok(None);
            };
            let kept = {
                let mut readers = self.idle();
                readers.retain(|held| held.file == file);
                readers.pop()
            };
            let Some(held) = self.still(file, kept, connection::open_reader)? else { continue };
            let done = work(&held.connection).map_err(|trouble| trouble.at(self.place.path()));
            // A connection that failed may be of a file which has since been mended.
            if !matches!(done, Err(StateError::Storage(_))) {
                let mut readers = self.idle();
                if readers.len() < READERS {
                    readers.push(held);
                }
            }
            return done.map(Some);
        }
        Err(self.vanishes())
    }

    /// Writes. The file is made if there is none, its versions going on from this revision.
    pub fn write<R>(
        &self,
        revision: u64,
        work: impl FnOnce(&mut Connection) -> Result<R, Trouble>,
    ) -> Result<R, StateError> {
        // For the turn in this process, and for other processes.
        let deadline = Instant::now() + PATIENCE;
        let done = self.writer.take(deadline, |kept| {
            for _ in 0..ATTEMPTS {
                let Some(file) = self.place.identity()? else {
                    *kept = None;
                    self.place.create(revision)?;
                    continue;
                };
                let held = kept.take().filter(|held| held.file == file);
                let Some(mut held) = self.still(file, held, connection::open)? else { continue };
                let done = connection::wait_until(&mut held.connection, deadline).map_err(Trouble::from);
                let done = done.and_then(|()| work(&mut held.connection));
                let done = done.map_err(|trouble| trouble.at(self.place.path()));
                if !matches!(done, Err(StateError::Storage(_))) {
                    *kept = Some(held);
                }
                return done;
            }
            Err(self.vanishes())
        });
        done.unwrap_or(Err(StateError::Busy))
    }

    /// The connection that there is, or a new one, unless the file was exchanged while it was opened.
    fn still(
        &self,
        file: Identity,
        kept: Option<Held>,
        open: fn(&Path) -> Result<Connection, StateError>,
    ) -> Result<Option<Held>, StateError> {
        if kept.is_some() {
            return Ok(kept);
        }
        let opened = open(self.place.path());
        if self.place.identity()? != Some(file) {
            return Ok(None);
        }
        Ok(Some(Held { connection: opened?, file }))
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Held>> {
        self.readers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn vanishes(&self) -> StateError {
        let said = format!("{}: the file is taken away again and again", self.place.path().display());
        StateError::Storage(said)
    }
}
