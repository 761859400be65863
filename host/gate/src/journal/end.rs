//! The end of a run, as the journal keeps it.

use std::time::SystemTime;

use loggia_facade::Envelope;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A run that has ended, at this host or another one.
pub struct EndedRun {
    /// Facade that was called.
    pub facade: String,
    /// Start time.
    pub began: SystemTime,
    /// Outcome.
    pub outcome: Envelope,
}

/// End of a run.
#[derive(Serialize, Deserialize)]
pub(crate) struct RunEnd {
    /// Its outcome.
    pub envelope: Envelope,
    /// Its latest progress reports and log lines.
    pub trace: Value,
}

impl RunEnd {
    /// Writes it as JSON.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        // Only a map with keys that are not texts cannot be written; there is none.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Reads what [`to_bytes`](Self::to_bytes) wrote.
    ///
    /// # Errors
    ///
    /// The reason, for the log.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        serde_json::from_slice(bytes).map_err(|error| error.to_string())
    }
}
