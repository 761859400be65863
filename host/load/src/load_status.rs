//! Status of the folder's files for operators: written by the catalog loader, read on request.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use arc_swap::ArcSwap;
use loggia_gate::flow::Counter;
use serde::Serialize;

/// Current status of the folder, and counters of versions.
#[derive(Debug, Default)]
pub struct LoadStatus {
    now: ArcSwap<LoadStatusReport>,
    /// Versions that were admitted.
    pub loaded: Counter,
    /// Failed admissions, retries included.
    pub failed: Counter,
    /// Removed files.
    pub removed: Counter,
    /// Set while other hosts serve a newer generation that does not load here. Relaxed: it is a value of its own.
    is_behind: AtomicBool,
}

impl LoadStatus {
    /// Status as of the last scan.
    pub fn now(&self) -> Arc<LoadStatusReport> {
        let now = self.now.load_full();
        if now.is_behind == self.is_behind() {
            return now;
        }
        Arc::new(LoadStatusReport { is_behind: self.is_behind(), ..(*now).clone() })
    }

    /// Returns true while other hosts serve a newer generation that does not load here.
    pub fn is_behind(&self) -> bool {
        self.is_behind.load(Ordering::Relaxed)
    }

    /// Sets whether other hosts serve a newer generation that does not load here.
    pub fn set_behind(&self, is_behind: bool) {
        self.is_behind.store(is_behind, Ordering::Relaxed);
    }

    pub(super) fn set(&self, report: LoadStatusReport) {
        self.now.store(Arc::new(report));
    }

    /// Counters by name.
    pub fn version_counts(&self) -> Vec<(&'static str, u64)> {
        let Self { loaded, failed, removed, .. } = self;
        vec![("loaded", loaded.get()), ("failed", failed.get()), ("removed", removed.get())]
    }
}

/// Snapshot of a folder's status.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LoadStatusReport {
    /// Error of the folder itself.
    pub folder_error: Option<String>,
    /// Status of its plugins and workflows, by file.
    pub files: Vec<OfferStatus>,
    /// True while other hosts serve a newer generation that does not load here.
    pub is_behind: bool,
}

/// Status of one offer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OfferStatus {
    /// File name.
    pub file: String,
    /// Facade name, once known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub facade: Option<String>,
    /// Whether calls are answered.
    pub state: LoadState,
    /// Reason for which (some) calls are not answered, as in the log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// Whether a file's facade answers calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LoadState {
    /// The file does not load and no version serves, or its grants are fenced by now.
    Failed,
    /// No version was approved yet.
    Pending,
    /// The newest version does not load, or waits for approval; the previous one serves.
    Stale,
    /// Another file owns its name.
    Refused,
    /// Calls are answered.
    Serving,
}

impl LoadState {
    /// All states, worst first.
    pub const ALL: [Self; 5] = [Self::Failed, Self::Pending, Self::Stale, Self::Refused, Self::Serving];

    /// Returns the lower-case name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Pending => "pending",
            Self::Stale => "stale",
            Self::Refused => "refused",
            Self::Serving => "serving",
        }
    }
}

impl LoadStatusReport {
    /// Counts the files in a state.
    pub fn count(&self, state: LoadState) -> usize {
        self.files.iter().filter(|file| file.state == state).count()
    }
}
