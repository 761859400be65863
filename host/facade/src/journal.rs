//! The durable record of one call, from which it goes on after a restart.

use std::sync::Arc;

use futures_util::future::BoxFuture;

use crate::Failure;

/// Journal of one call, as its facade sees it.
pub struct CallJournal {
    /// Entries that earlier processes appended, in their order. Empty for a new call.
    pub history: Vec<Vec<u8>>,
    /// Appends further entries.
    pub writer: Arc<dyn JournalWriter>,
}

/// Appends entries to the journal of one call.
pub trait JournalWriter: Send + Sync + 'static {
    /// Appends an entry, after all that were appended before. It is on its way when this returns; the future resolves once it is
    /// durable, and need not be awaited.
    ///
    /// # Errors
    ///
    /// `unavailable`, if the journal cannot be written, or another host has taken the call over. The call must end then,
    /// without further effects.
    fn append(&self, entry: Vec<u8>) -> BoxFuture<'static, Result<(), Failure>>;
    /// Appends an entry that is made when it is written, as many calls end before anything has to be.
    fn append_later(&self, entry: EntrySource) -> BoxFuture<'static, Result<(), Failure>>;
}

/// Makes an entry.
pub type EntrySource = Box<dyn FnOnce() -> Vec<u8> + Send>;
