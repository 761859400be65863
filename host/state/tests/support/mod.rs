//! Shared helpers of the store's tests.

#![allow(dead_code, unused_imports, reason = "each test binary uses some of it")]

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

pub use loggia_state::testing::{AMPLE, START, change, check, delete, get, keys, put, put_until, said, text};
use loggia_state::{StateFolder, StateStore};
use tempfile::TempDir;

/// A folder of its own, with a clock that only the test moves.
pub struct Room {
    pub dir: TempDir,
    pub folder: StateFolder,
    pub clock: Arc<AtomicU64>,
}

pub fn room() -> Room {
    let dir = tempfile::tempdir().unwrap();
    let clock = Arc::new(AtomicU64::new(START));
    let told = Arc::clone(&clock);
    let folder = StateFolder::with_clock(dir.path(), Arc::new(move || told.load(Ordering::Relaxed))).unwrap();
    Room { dir, folder, clock }
}

impl Room {
    pub fn store(&self) -> StateStore {
        self.folder.store("notes", AMPLE).unwrap()
    }

    pub fn pass(&self, ms: u64) {
        self.clock.fetch_add(ms, Ordering::Relaxed);
    }

    pub fn file(&self) -> std::path::PathBuf {
        self.dir.path().join("stores/notes.db")
    }
}
