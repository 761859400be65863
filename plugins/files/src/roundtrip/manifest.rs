//! Record of the files that a round trip has read: stored for an hour, renewed by each commit.

use std::time::{Duration, SystemTime};

use loggia_sdk::{prelude::*, state::Collection};

use super::begin_anew;

/// Default lifetime of a manifest in minutes.
const MINUTES: u64 = 60;

/// The manifests of all callers. They expire.
static MANIFESTS: Collection<Manifest> = Collection::new("manifests");

/// The files of a round trip, as its caller has seen them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    pub id: String,
    /// Ordered by path.
    pub files: Vec<Seen>,
}

/// A file as it was read or written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    pub path: String,
    /// `None` if there was no file.
    #[serde(default)]
    pub sha256: Option<String>,
}

impl Manifest {
    /// Record of a path.
    pub fn seen(&self, path: &str) -> Option<&Seen> {
        self.files.iter().find(|seen| seen.path == path)
    }

    /// Records the content of a path.
    pub fn set(&mut self, path: &str, sha256: &str) {
        let seen = Seen { path: path.to_owned(), sha256: Some(sha256.to_owned()) };
        match self.files.binary_search_by(|seen| seen.path.as_str().cmp(path)) {
            Ok(at) => self.files[at] = seen,
            Err(at) => self.files.insert(at, seen),
        }
    }
}

/// Collection of manifests, with the configured lifetime.
pub fn manifests() -> Result<Collection<Manifest>> {
    Ok(MANIFESTS.until(lifetime()?))
}

fn lifetime() -> Result<Duration> {
    let minutes: u64 = host::config_or("roundtrip_minutes", MINUTES)?;
    Ok(Duration::from_secs(minutes.clamp(1, 60 * 24 * 365) * 60))
}

/// When a manifest that is written now is over, for the caller.
pub fn expires() -> Result<String> {
    Ok(humantime::format_rfc3339_seconds(SystemTime::now() + lifetime()?).to_string())
}

/// The manifest of that id.
///
/// # Errors
///
/// `not_found`, with the call that restarts, if it has expired or never existed.
pub fn require(id: &str, paths: impl FnOnce() -> Vec<String>) -> Result<Manifest> {
    let missing = || {
        Failure::not_found(format!("not found: the manifest `{id}` has expired or never existed"))
            .hint("Start again: nothing was changed.")
            .next(begin_anew(paths()))
    };
    manifests()?.get(id)?.ok_or_else(missing)
}
