//! Options of the journal.

use std::time::Duration;

use loggia_gate::journal::RetentionLimits;

/// Options of the journal. The defaults are those of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JournalOptions {
    /// What is kept of ended runs.
    pub limits: RetentionLimits,
    /// Time for which a host is taken to live after it has renewed its lease.
    pub lease: Duration,
    /// Time between two renewals.
    pub renewal: Duration,
    /// Longest time of an operation, with all its attempts.
    pub patience: Duration,
    /// Time between two looks for ended runs beyond the limits, by any host.
    pub sweep: Duration,
}

impl Default for JournalOptions {
    fn default() -> Self {
        Self {
            limits: RetentionLimits::default(),
            lease: Duration::from_secs(5),
            renewal: Duration::from_secs(1),
            patience: Duration::from_secs(10),
            sweep: Duration::from_secs(60),
        }
    }
}
