//! Opens approvals, waits for their decisions, and takes each once.

use std::{
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use loggia_facade::Object;
use tokio::sync::Notify;

use super::{
    record::{
        ApprovalClosing, ApprovalContent, ApprovalDecision, ApprovalRecord, ApprovalState, DecisionProblem,
        StoredApproval,
    },
    store::{ApprovalStore, DecisionOutcome},
};
use crate::journal::{JournalError, JournalFuture};

/// Period in which decisions of other processes are looked for.
const POLL: Duration = Duration::from_millis(500);

/// Learns of opened approvals, to tell people.
pub trait ApprovalNotice: Send + Sync + 'static {
    /// An approval was opened. Must not block.
    fn opened(&self, record: &ApprovalRecord);
}

/// The approvals of a gate. Everything is in the store; the desk only adds what is needed to wait for it.
pub struct ApprovalDesk {
    store: Arc<dyn ApprovalStore>,
    /// Time for which an approval is open, unless its question has a time of its own.
    open_for: Duration,
    notice: Option<Arc<dyn ApprovalNotice>>,
    /// URL of the page where people decide, to which callers are referred.
    page: Option<String>,
    /// Signals a decision of this process. Waiters enable their `Notified` before they look at the store, so none is lost; those
    /// of other processes are seen within [`POLL`].
    decided: Notify,
}

/// How the wait for a decision ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ApprovalEnd {
    /// A person decided.
    Decided(ApprovalDecision),
    /// The time has passed.
    Expired,
    /// The record was removed, changed or used by another process: whatever was decided, it was not about this call.
    Void,
}

impl ApprovalEnd {
    /// State of the approval that ended in this way.
    pub(crate) fn state(&self) -> ApprovalState {
        match self {
            Self::Decided(ApprovalDecision { accepted: true, .. }) => ApprovalState::Approved,
            Self::Decided(_) => ApprovalState::Denied,
            Self::Expired => ApprovalState::Expired,
            Self::Void => ApprovalState::Withdrawn,
        }
    }
}

impl ApprovalDesk {
    /// Creates a desk over a store.
    pub fn new(
        store: Arc<dyn ApprovalStore>,
        open_for: Duration,
        notice: Option<Arc<dyn ApprovalNotice>>,
    ) -> Self {
        Self { store, open_for, notice, page: None, decided: Notify::new() }
    }

    /// Refers callers to the operator's page at this URL.
    #[must_use]
    pub fn with_page(self, page: Option<String>) -> Self {
        Self { page, ..self }
    }

    /// URL where an operator sees an approval.
    pub fn page_of(&self, id: &str) -> Option<String> {
        let page = self.page.as_deref()?;
        Some(format!("{}/approvals/{id}", page.trim_end_matches('/')))
    }

    /// Lists approvals, open ones first.
    pub fn list(&self, most: usize) -> JournalFuture<Vec<StoredApproval>> {
        self.store.approvals(most)
    }

    /// Loads an approval.
    pub fn load(&self, id: &str) -> JournalFuture<Option<StoredApproval>> {
        self.store.approval(id.to_owned())
    }

    /// Records a decision about an approval with this subject, which is what the person has seen.
    ///
    /// # Errors
    ///
    /// [`DecisionProblem`] if the decision does not fit the approval; the error of the store.
    pub async fn decide(
        &self,
        id: &str,
        subject: &str,
        decision: ApprovalDecision,
    ) -> Result<Result<DecisionOutcome, DecisionProblem>, JournalError> {
        decide(&*self.store, id, subject, decision).await.inspect(|_| self.decided.notify_waiters())
    }

    /// Time for which an approval is open.
    pub(crate) fn open_for(&self) -> Duration {
        self.open_for
    }

    /// Opens an approval that expires after this time.
    pub(crate) async fn open(
        &self,
        mut record: ApprovalRecord,
        open_for: Duration,
    ) -> Result<ApprovalRecord, JournalError> {
        record.opened_ms = now_ms();
        record.expires_ms =
            record.opened_ms.saturating_add(u64::try_from(open_for.as_millis()).unwrap_or(u64::MAX));
        let id = record.id.clone();
        let opened = self.store.open_approval(record).await?;
        if opened.id == id
            && let Some(notice) = &self.notice
        {
            notice.opened(&opened);
        }
        Ok(opened)
    }

    /// Waits for the decision, and takes it. Each is taken once, by whoever holds the record as it was opened.
    pub(crate) async fn wait(&self, opened: &ApprovalRecord) -> Result<ApprovalEnd, JournalError> {
        loop {
            let decided = self.decided.notified();
            tokio::pin!(decided);
            decided.as_mut().enable();
            let stored = self.store.approval(opened.id.clone()).await?;
            // What people saw must be what was asked, also if the store was edited.
            let Some(stored) = stored.filter(|stored| stored.record == *opened && stored.closed.is_none())
            else {
                self.withdraw(&opened.id);
                return Ok(ApprovalEnd::Void);
            };
            if let Some(decision) = stored.decision {
                let is_own = self.store.close_approval(opened.id.clone(), ApprovalClosing::Used).await?;
                return Ok(if is_own { ApprovalEnd::Decided(decision) } else { ApprovalEnd::Void });
            }
            let left = opened.expires_ms.saturating_sub(now_ms());
            if left == 0 {
                // A decision that comes at the same moment is refused, since the time has passed.
                self.store.close_approval(opened.id.clone(), ApprovalClosing::Expired).await?;
                return Ok(ApprovalEnd::Expired);
            }
            let _ = tokio::time::timeout(POLL.min(Duration::from_millis(left)), decided).await;
        }
    }

    /// Closes an approval whose call has ended. Its future need not be awaited.
    pub(crate) fn withdraw(&self, id: &str) {
        drop(self.store.close_approval(id.to_owned(), ApprovalClosing::Withdrawn));
    }
}

/// Records a decision in a store, for commands beside a running host.
///
/// # Errors
///
/// As [`ApprovalDesk::decide`].
pub async fn decide(
    store: &dyn ApprovalStore,
    id: &str,
    subject: &str,
    decision: ApprovalDecision,
) -> Result<Result<DecisionOutcome, DecisionProblem>, JournalError> {
    let Some(stored) = store.approval(id.to_owned()).await? else { return Ok(Ok(DecisionOutcome::Unknown)) };
    if let Err(problem) = stored.record.check(&decision) {
        return Ok(Err(problem));
    }
    store.decide_approval(id.to_owned(), subject.to_owned(), decision).await.map(Ok)
}

impl ApprovalContent {
    /// The arguments of a call.
    pub fn arguments(&self) -> Option<&Object> {
        match self {
            Self::Call(arguments) => Some(arguments),
            Self::Form(_) => None,
        }
    }
}

/// Time in milliseconds since 1970.
fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
