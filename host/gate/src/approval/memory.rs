//! Approvals in memory, for tests.

use std::sync::{Mutex, MutexGuard, PoisonError};

use futures_util::{FutureExt, future};

use super::{
    record::{ApprovalClosing, ApprovalDecision, ApprovalRecord, ApprovalState, StoredApproval},
    store::{ApprovalStore, DecisionOutcome},
};
use crate::journal::JournalFuture;

/// Approvals in memory.
#[derive(Default)]
pub struct MemoryApprovals(Mutex<Vec<StoredApproval>>);

impl MemoryApprovals {
    /// Locks what is stored. Tests change it as somebody would who edits the store.
    pub fn stored(&self) -> MutexGuard<'_, Vec<StoredApproval>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn done<T: Send + 'static>(value: T) -> JournalFuture<T> {
    future::ready(Ok(value)).boxed()
}

impl ApprovalStore for MemoryApprovals {
    fn open_approval(&self, record: ApprovalRecord) -> JournalFuture<ApprovalRecord> {
        let mut all = self.stored();
        let same =
            |stored: &&StoredApproval| stored.record.subject == record.subject && stored.closed.is_none();
        if let Some(open) = all.iter().find(same) {
            return done(open.record.clone());
        }
        all.push(StoredApproval { record: record.clone(), decision: None, closed: None });
        done(record)
    }

    fn approval(&self, id: String) -> JournalFuture<Option<StoredApproval>> {
        done(self.stored().iter().find(|stored| stored.record.id == id).cloned())
    }

    fn decide_approval(
        &self,
        id: String,
        subject: String,
        decision: ApprovalDecision,
    ) -> JournalFuture<DecisionOutcome> {
        let mut all = self.stored();
        let Some(stored) = all.iter_mut().find(|stored| stored.record.id == id) else {
            return done(DecisionOutcome::Unknown);
        };
        if stored.record.subject != subject || stored.state(decision.at_ms) != ApprovalState::Open {
            return done(DecisionOutcome::Refused(Box::new(stored.clone())));
        }
        stored.decision = Some(decision);
        done(DecisionOutcome::Recorded)
    }

    fn close_approval(&self, id: String, closing: ApprovalClosing) -> JournalFuture<bool> {
        let mut all = self.stored();
        let open = all.iter_mut().find(|stored| stored.record.id == id && stored.closed.is_none());
        done(open.map(|stored| stored.closed = Some(closing)).is_some())
    }

    fn approvals(&self, most: usize) -> JournalFuture<Vec<StoredApproval>> {
        let mut all: Vec<StoredApproval> = self.stored().iter().rev().cloned().collect();
        all.sort_by_key(|stored| stored.closed.is_some());
        all.truncate(most);
        done(all)
    }
}
