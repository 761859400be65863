//! What a call has written and holds open.

use std::{
    cell::Cell,
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
};

use loggia_facade::Limit;

use crate::limits::bytes_text;

/// What a file or directory costs that was made, however little is in it: a call must not fill a disk with empty ones.
const MADE: u64 = 4 << 10;

/// Entries of directories that a call may have listed and not closed. The host holds a listing as a whole, some hundred
/// bytes an entry.
const LISTED: usize = 100_000;

/// A limit that the guest ran into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Full {
    /// Of the bytes that may be written.
    Written,
    /// Of the files that may be open.
    Open,
    /// Of the entries that may be listed at once.
    Listed,
}

impl Full {
    /// What the guest did.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Written => "it wrote as much to files as a call may",
            Self::Open => "it had as many files open as a call may",
            Self::Listed => "it listed as many files at once as a call may",
        }
    }
}

/// What a call has written and holds open, and what it may.
#[derive(Default)]
pub struct Held {
    budget: Arc<Budget>,
    open: Arc<AtomicUsize>,
    most: usize,
    /// By the guest's number for it.
    files: HashMap<u32, Arc<Open>>,
    /// Entries of each listing, by the guest's number for it.
    listed: HashMap<u32, usize>,
    /// More open, or more listed, than may be was wanted.
    refused: Cell<Option<Full>>,
}

/// Bytes that may still be written; shared with the streams of a call.
#[derive(Default)]
pub struct Budget {
    left: AtomicU64,
    most: u64,
    /// More was wanted.
    refused: AtomicBool,
}

impl Budget {
    /// Takes so many bytes, or none.
    pub fn take(&self, bytes: u64) -> Result<(), Full> {
        let take = |left: u64| left.checked_sub(bytes);
        let taken = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        taken.map(drop).map_err(|_| {
            self.refused.store(true, Ordering::Relaxed);
            Full::Written
        })
    }

    /// Takes what a file, directory or link costs that is about to be made.
    pub fn make(&self) -> Result<(), Full> {
        self.take(MADE)
    }

    /// Takes what a write at this offset adds to a file of this length before its first byte: a hole counts as written.
    pub fn take_hole(&self, length: u64, offset: u64) -> Result<(), Full> {
        self.take(offset.saturating_sub(length))
    }
}

/// A file that is open until the last stream of it is closed too.
pub struct Open(Arc<AtomicUsize>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Held {
    pub fn new(written: u64, descriptors: usize) -> Self {
        let budget = Arc::new(Budget {
            left: AtomicU64::new(written),
            most: written,
            refused: AtomicBool::new(false),
        });
        Self { budget, most: descriptors, ..Self::default() }
    }

    /// The limit, with the key that changes it.
    pub fn limit(&self, full: Full) -> Option<Limit> {
        Some(match full {
            Full::Written => {
                let most = usize::try_from(self.budget.most).unwrap_or(usize::MAX);
                Limit { key: "limits.written", value: bytes_text(most) }
            }
            Full::Open => Limit { key: "limits.descriptors", value: self.most.to_string() },
            // Nobody reads so many.
            Full::Listed => return None,
        })
    }

    /// A limit that the guest ran into.
    pub fn ran_into(&self) -> Option<Full> {
        if self.budget.refused.load(Ordering::Relaxed) { Some(Full::Written) } else { self.refused.get() }
    }

    /// A place for one more open file; given back when it is dropped.
    pub fn place(&self) -> Result<Open, Full> {
        let more = |open: usize| (open < self.most).then_some(open + 1);
        match self.open.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more) {
            Ok(_) => Ok(Open(Arc::clone(&self.open))),
            Err(_) => {
                self.refused.set(Some(Full::Open));
                Err(Full::Open)
            }
        }
    }

    /// Remembers under which number the guest knows a file.
    pub fn keep(&mut self, number: u32, place: Open) {
        self.files.insert(number, Arc::new(place));
    }

    /// The place of a file, for a stream of it. Directories that were granted have none.
    pub fn place_of(&self, number: u32) -> Option<Arc<Open>> {
        self.files.get(&number).cloned()
    }

    /// The guest let go of a file.
    pub fn close(&mut self, number: u32) {
        self.files.remove(&number);
        self.listed.remove(&number);
    }

    /// How many entries further listings may have.
    pub fn may_list(&self) -> usize {
        LISTED.saturating_sub(self.listed.values().sum())
    }

    /// Remembers a listing, and how many entries it has.
    pub fn keep_listing(&mut self, number: u32, place: Open, entries: usize) {
        self.keep(number, place);
        self.listed.insert(number, entries);
    }

    /// A directory has more entries than further listings may have.
    pub fn refuse_listing(&self) -> Full {
        self.refused.set(Some(Full::Listed));
        Full::Listed
    }

    /// Bytes that the guest is about to write.
    pub fn write(&self, bytes: u64) -> Result<(), Full> {
        self.budget.take(bytes)
    }

    /// A file, directory or link that the guest is about to make.
    pub fn make(&self) -> Result<(), Full> {
        self.budget.make()
    }

    /// The bytes that may be written, for a stream.
    pub fn budget(&self) -> Arc<Budget> {
        Arc::clone(&self.budget)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_takes_nothing() {
        let held = Held::new(10_000, 1);
        assert_eq!(held.write(6000), Ok(()));
        assert_eq!(held.write(4001), Err(Full::Written));
        assert_eq!(held.write(4000), Ok(()));
        assert_eq!(held.make(), Err(Full::Written));
    }

    #[test]
    fn a_hole_counts_as_written() {
        let budget = Held::new(10_000, 1).budget();
        assert_eq!(budget.take_hole(5000, 5000), Ok(()));
        assert_eq!(budget.take_hole(5000, 100), Ok(()));
        assert_eq!(budget.take_hole(5000, 1 << 40), Err(Full::Written));
        assert_eq!(budget.take_hole(5000, 15_000), Ok(()));
        assert_eq!(budget.take(1), Err(Full::Written));
    }

    #[test]
    fn a_file_is_open_until_its_last_stream_is_closed() {
        let mut held = Held::new(0, 1);
        let place = held.place().ok().unwrap();
        held.keep(7, place);
        let stream = held.place_of(7);
        held.close(7);
        assert!(held.place().is_err());
        drop(stream);
        assert!(held.place().is_ok());
    }

    #[test]
    fn listings_share_their_entries_until_they_are_closed() {
        let mut held = Held::new(0, 2);
        for number in [1, 2] {
            let place = held.place().ok().unwrap();
            held.keep_listing(number, place, 30_000);
        }
        assert_eq!((held.may_list(), held.place().is_err()), (40_000, true));
        held.close(1);
        assert_eq!((held.may_list(), held.place().is_ok()), (70_000, true));
    }

    #[test]
    fn the_limit_that_was_run_into_is_known() {
        let held = Held::new(10, 0);
        assert_eq!(held.ran_into(), None);
        let _ = held.place();
        assert_eq!(held.ran_into(), Some(Full::Open));
        let _ = held.budget().take(11);
        assert_eq!(held.ran_into(), Some(Full::Written));
    }
}
