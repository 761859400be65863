//! Limits of a call: bytes written, files open, entries listed.

use loggia_policy::model::limit_names::{DESCRIPTORS, WRITTEN};
use std::{
    cell::Cell,
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
};

use loggia_facade::Limit;
use loggia_text::units::format_bytes;

/// Bytes charged for a file, directory or link that a call makes, however small: a call must not fill a disk with empty
/// ones.
const CREATED: u64 = 4 << 10;

/// Entries of directories that a call may have listed and not closed. The host holds a listing as a whole, about a hundred
/// bytes an entry.
const LISTED: usize = 100_000;

/// A limit that the guest exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QuotaExceeded {
    /// Bytes written.
    Written,
    /// Files open.
    Open,
    /// Entries listed at once.
    Listed,
}

impl QuotaExceeded {
    /// Describes what the guest did.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Written => "it wrote as much to files as a call may",
            Self::Open => "it had as many files open as a call may",
            Self::Listed => "it listed as many files at once as a call may",
        }
    }
}

/// Counts what a call has written, holds open and has listed, and refuses what exceeds its limits.
#[derive(Default)]
pub(super) struct FileQuota {
    budget: Arc<WriteBudget>,
    /// Files and streams open. Shared with their [`OpenSlot`]s, which a stream on another thread may drop.
    open: Arc<AtomicUsize>,
    max_open: usize,
    /// Open files by the guest's handle.
    files: HashMap<u32, Arc<OpenSlot>>,
    /// Number of entries of each listing by the guest's handle.
    listed: HashMap<u32, usize>,
    /// The last limit that was exceeded, but for that of bytes.
    refused: Cell<Option<QuotaExceeded>>,
}

/// Bytes that may still be written.
///
/// Shared with the streams of a call, which write on other threads. The numbers are independent, so the order of loads
/// and stores does not matter; `left` never goes below zero because it is only taken from by compare-and-swap.
#[derive(Default)]
pub(super) struct WriteBudget {
    left: AtomicU64,
    max: u64,
    /// Set when more was wanted than was left.
    refused: AtomicBool,
}

impl WriteBudget {
    /// Takes this many bytes, or none.
    pub(super) fn take(&self, bytes: u64) -> Result<(), QuotaExceeded> {
        let take = |left: u64| left.checked_sub(bytes);
        let taken = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        taken.map(drop).map_err(|_| {
            self.refused.store(true, Ordering::Relaxed);
            QuotaExceeded::Written
        })
    }

    /// Charges a file, directory or link that is about to be made.
    pub(super) fn take_created(&self) -> Result<(), QuotaExceeded> {
        self.take(CREATED)
    }

    /// Charges the hole that a write at this offset leaves in a file of this length.
    pub(super) fn take_hole(&self, length: u64, offset: u64) -> Result<(), QuotaExceeded> {
        self.take(offset.saturating_sub(length))
    }
}

/// A place among the open files, freed when the file and its last stream are closed.
pub(super) struct OpenSlot(Arc<AtomicUsize>);

impl Drop for OpenSlot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl FileQuota {
    pub(super) fn new(written: u64, descriptors: usize) -> Self {
        let budget = Arc::new(WriteBudget {
            left: AtomicU64::new(written),
            max: written,
            refused: AtomicBool::new(false),
        });
        Self { budget, max_open: descriptors, ..Self::default() }
    }

    /// Returns a limit with the key that changes it.
    pub(super) fn limit(&self, exceeded: QuotaExceeded) -> Option<Limit> {
        Some(match exceeded {
            QuotaExceeded::Written => Limit { key: WRITTEN, value: format_bytes(self.budget.max) },
            QuotaExceeded::Open => Limit { key: DESCRIPTORS, value: self.max_open.to_string() },
            // A constant: no listing needs this many.
            QuotaExceeded::Listed => return None,
        })
    }

    /// Returns a limit that the guest exceeded.
    pub(super) fn exceeded(&self) -> Option<QuotaExceeded> {
        if self.budget.refused.load(Ordering::Relaxed) {
            Some(QuotaExceeded::Written)
        } else {
            self.refused.get()
        }
    }

    /// Takes a slot for one more open file; dropping it frees it.
    pub(super) fn open_slot(&self) -> Result<OpenSlot, QuotaExceeded> {
        let more = |open: usize| (open < self.max_open).then_some(open + 1);
        match self.open.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more) {
            Ok(_) => Ok(OpenSlot(Arc::clone(&self.open))),
            Err(_) => {
                self.refused.set(Some(QuotaExceeded::Open));
                Err(QuotaExceeded::Open)
            }
        }
    }

    /// Records the slot of an open file.
    pub(super) fn insert_file(&mut self, handle: u32, slot: OpenSlot) {
        self.files.insert(handle, Arc::new(slot));
    }

    /// Returns the slot of a file, for a stream of it. Granted directories have none.
    pub(super) fn slot(&self, handle: u32) -> Option<Arc<OpenSlot>> {
        self.files.get(&handle).cloned()
    }

    /// Forgets a file or listing that the guest closed.
    pub(super) fn close(&mut self, handle: u32) {
        self.files.remove(&handle);
        self.listed.remove(&handle);
    }

    /// Number of entries that further listings may have.
    pub(super) fn list_capacity(&self) -> usize {
        LISTED.saturating_sub(self.listed.values().sum())
    }

    /// Records a listing with its number of entries.
    pub(super) fn insert_listing(&mut self, handle: u32, slot: OpenSlot, entries: usize) {
        self.insert_file(handle, slot);
        self.listed.insert(handle, entries);
    }

    /// Records that a directory has more entries than a listing may have.
    pub(super) fn refuse_listing(&self) -> QuotaExceeded {
        self.refused.set(Some(QuotaExceeded::Listed));
        QuotaExceeded::Listed
    }

    /// Charges bytes that the guest is about to write.
    pub(super) fn take_written(&self, bytes: u64) -> Result<(), QuotaExceeded> {
        self.budget.take(bytes)
    }

    /// Charges a file, directory or link that the guest is about to make.
    pub(super) fn take_created(&self) -> Result<(), QuotaExceeded> {
        self.budget.take_created()
    }

    /// Returns the bytes that may be written, for a stream.
    pub(super) fn budget(&self) -> Arc<WriteBudget> {
        Arc::clone(&self.budget)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_takes_nothing() {
        let quota = FileQuota::new(10_000, 1);
        assert_eq!(quota.take_written(6000), Ok(()));
        assert_eq!(quota.take_written(4001), Err(QuotaExceeded::Written));
        assert_eq!(quota.take_written(4000), Ok(()));
        assert_eq!(quota.take_created(), Err(QuotaExceeded::Written));
    }

    #[test]
    fn a_hole_counts_as_written() {
        let budget = FileQuota::new(10_000, 1).budget();
        assert_eq!(budget.take_hole(5000, 5000), Ok(()));
        assert_eq!(budget.take_hole(5000, 100), Ok(()));
        assert_eq!(budget.take_hole(5000, 1 << 40), Err(QuotaExceeded::Written));
        assert_eq!(budget.take_hole(5000, 15_000), Ok(()));
        assert_eq!(budget.take(1), Err(QuotaExceeded::Written));
    }

    #[test]
    fn a_file_is_open_until_its_last_stream_is_closed() {
        let mut quota = FileQuota::new(0, 1);
        let slot = quota.open_slot().ok().unwrap();
        quota.insert_file(7, slot);
        let stream = quota.slot(7);
        quota.close(7);
        assert!(quota.open_slot().is_err());
        drop(stream);
        assert!(quota.open_slot().is_ok());
    }

    #[test]
    fn listings_share_their_entries_until_they_are_closed() {
        let mut quota = FileQuota::new(0, 2);
        for number in [1, 2] {
            let slot = quota.open_slot().ok().unwrap();
            quota.insert_listing(number, slot, 30_000);
        }
        assert_eq!((quota.list_capacity(), quota.open_slot().is_err()), (40_000, true));
        quota.close(1);
        assert_eq!((quota.list_capacity(), quota.open_slot().is_ok()), (70_000, true));
    }

    #[test]
    fn the_limit_that_was_run_into_is_known() {
        let quota = FileQuota::new(10, 0);
        assert_eq!(quota.exceeded(), None);
        let _ = quota.open_slot();
        assert_eq!(quota.exceeded(), Some(QuotaExceeded::Open));
        let _ = quota.budget().take(11);
        assert_eq!(quota.exceeded(), Some(QuotaExceeded::Written));
    }
}
