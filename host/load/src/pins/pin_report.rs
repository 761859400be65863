//! What a host serves and holds, as it is recorded in the lock.

use loggia_policy::settings::PinMode;

use super::{
    decide::{PinDecision, decide},
    lock_document::{LockDocument, LockScope, OperatorDecision, PendingVersion, format_now},
    pin_change::PinChange,
    pinned_version::PinnedVersion,
};

/// Recorded as the approver of a version that was served without a question, at its first use.
pub(super) const FIRST_USE: &str = "first use";

/// Whose versions are recorded together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PinSource {
    /// Facades.
    Facades,
    /// Guards.
    Guards,
}

/// What a host serves and holds, to be recorded.
#[derive(Debug, Clone, Default)]
pub struct PinReport {
    /// Versions that are served.
    pub served: Vec<PinnedVersion>,
    /// Versions that wait.
    pub held: Vec<PendingVersion>,
    /// Keys of which nothing waits any more.
    pub settled: Vec<String>,
}

impl PinReport {
    /// Records it in a lock.
    pub(super) fn apply(&self, lock: &mut LockDocument, mode: PinMode) {
        for version in &self.served {
            if lock.is_approved(version) {
                lock.keep(version);
                continue;
            }
            match decide(lock, version, true, mode) {
                PinDecision::Record if lock.has_room(&version.key()) => {
                    lock.approve(version.clone(), OperatorDecision::now(FIRST_USE.to_owned()));
                }
                // Another server was quicker, and serves something else. In the lock of a folder, the next report has it.
                PinDecision::Hold(changes) if lock.scope() == LockScope::Servers => {
                    let (version, since) = (version.clone(), format_now());
                    lock.hold(PendingVersion { version, changes, flags: Vec::new(), since, until: None });
                }
                _ => {}
            }
        }
        self.settled.iter().for_each(|key| lock.forget_pending(key));
        // What waited for a lock that could not be used is decided about again before it is recorded.
        let held = self.held.iter().filter(|pending| pending.changes != [PinChange::Lock]);
        held.for_each(|pending| lock.hold(pending.clone()));
    }
}
