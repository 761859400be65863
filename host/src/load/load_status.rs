//! How the files of the folder stand, for whoever runs the host: written by the reloader, read when somebody asks.

use std::sync::Arc;

use arc_swap::ArcSwap;
use loggia_gate::flow::Counter;
use serde::Serialize;

/// How the folder stands now, and what became of it so far.
#[derive(Debug, Default)]
pub struct Standing {
    now: ArcSwap<Report>,
    /// Versions that serve since they were admitted.
    pub loaded: Counter,
    /// Versions that failed a step, each time that they were tried.
    pub failed: Counter,
    /// Files that went away.
    pub removed: Counter,
}

impl Standing {
    /// The folder, as it stood when it was last looked at.
    pub fn now(&self) -> Arc<Report> {
        self.now.load_full()
    }

    pub(super) fn set(&self, report: Report) {
        self.now.store(Arc::new(report));
    }

    /// What became of versions so far, by word.
    pub fn reloads(&self) -> Vec<(&'static str, u64)> {
        let Self { loaded, failed, removed, .. } = self;
        vec![("loaded", loaded.get()), ("failed", failed.get()), ("removed", removed.get())]
    }
}

/// A folder at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    /// Why the folder itself cannot be read.
    pub folder: Option<String>,
    /// Its plugins and workflows, by file.
    pub files: Vec<Stands>,
}

/// How one file stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Stands {
    /// Its name.
    pub file: String,
    /// The facade's, once it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub facade: Option<String>,
    /// Whether calls are answered.
    pub state: State,
    /// Why not, or not all of them; for the operator, as the log has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// Whether the calls of a file's facade are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It does not load, and nothing serves in its place; or what it was granted is fenced by now.
    Failed,
    /// Its last version does not load, and the one before keeps serving.
    Stale,
    /// Another file owns its name.
    Refused,
    /// They are.
    Serving,
}

impl State {
    /// All of them, worst first.
    pub const ALL: [Self; 4] = [Self::Failed, Self::Stale, Self::Refused, Self::Serving];

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Stale => "stale",
            Self::Refused => "refused",
            Self::Serving => "serving",
        }
    }
}

impl Report {
    /// How many files stand so.
    pub fn count(&self, state: State) -> usize {
        self.files.iter().filter(|file| file.state == state).count()
    }
}
