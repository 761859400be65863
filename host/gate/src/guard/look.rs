//! How looks of a guard end.

use crate::flow::Counter;

/// End of a look of a guard at a call or an outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GuardLook {
    /// It passes as it was.
    Allowed,
    /// The guard replaced it.
    Replaced,
    /// The guard refused it.
    Refused,
    /// The guard failed, and nothing passes.
    Failed,
    /// The guard is not loaded, and nothing passes.
    Missing,
}

impl GuardLook {
    const ALL: [Self; 5] = [Self::Allowed, Self::Replaced, Self::Refused, Self::Failed, Self::Missing];

    /// The word in the audit trail, metrics and traces.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::Replaced => "replaced",
            Self::Refused => "refused",
            Self::Failed => "failed",
            Self::Missing => "missing",
        }
    }
}

/// Counts looks by their end.
#[derive(Debug, Default)]
pub(super) struct LookCounters([Counter; GuardLook::ALL.len()]);

impl LookCounters {
    pub(super) fn record(&self, look: GuardLook) {
        self.0[look as usize].increment();
    }

    pub(super) fn counts(&self) -> [(GuardLook, u64); GuardLook::ALL.len()] {
        GuardLook::ALL.map(|look| (look, self.0[look as usize].get()))
    }
}
