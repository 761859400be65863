//! Round trips: an agent reads several files, changes them, and writes them back atomically.
//!
//! `start` reads the files and stores a [`Manifest`] of them. `preview` and `commit` compare the changes with it, so
//! that nothing is overwritten that the agent has not seen. A commit is atomic, even if the host is killed: the plan is
//! first written to a [`journal`], in one commit of the state, and that is the decision. Then it is carried out in
//! small idempotent steps ([`worker`]). Any later call that finds a journal first finishes or undoes it ([`settle`]).

mod beside;
mod changes;
mod commit;
mod journal;
mod manifest;
mod preview;
mod settle;
mod start;
mod survey;
mod worker;

use std::{fs, io::ErrorKind, time::Duration};

use loggia_sdk::prelude::*;

pub use changes::{Change, Mode};
pub use commit::{Committed, commit};
pub use manifest::Manifest;
pub use preview::{Preview, preview};
pub use settle::{Finished, calm, finish, settle, undisturbed};
pub use start::{Started, start};

use crate::{
    entry::Kind,
    roots::{Place, Roots},
    version,
};

/// Files of a manifest, and changes of a commit.
const FILES: usize = 200;
/// Maximum size of a file in a round trip. Larger files cannot have been read or written by one: a call is limited to 1
/// MiB.
const BYTES: u64 = 1 << 20;
/// Maximum length of a path: a journal contains each twice, in one value of the state.
const PATH: usize = 1000;
/// Prefix of temporary files.
const OURS: &str = ".loggia-";

/// Time after which an unchanged journal counts as abandoned.
pub const PATIENCE: Duration = Duration::from_millis(100);

/// Current state of a place.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Now {
    Absent,
    /// A file; without a hash if it is larger than the limit.
    File {
        sha256: Option<String>,
        size: u64,
    },
    /// A directory, a link, or something else that is not written to.
    Other(Kind),
}

impl Now {
    /// Looks, links not followed.
    fn at(place: &Place) -> Result<Self> {
        let metadata = match fs::symlink_metadata(place.real()?) {
            Ok(metadata) => metadata,
            // Or its parent is a file.
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Ok(Self::Absent);
            }
            Err(error) => return Err(place.failed(error)),
        };
        let size = metadata.len();
        match Kind::from(metadata.file_type()) {
            Kind::File if size > BYTES => Ok(Self::File { sha256: None, size }),
            Kind::File => {
                let file = fs::File::open(place.real()?).map_err(|error| place.failed(error))?;
                let sha256 = version::read_sha256(file).map_err(|error| place.failed(error))?;
                Ok(Self::File { sha256: Some(sha256), size })
            }
            kind => Ok(Self::Other(kind)),
        }
    }

    /// Hash of the existing file, unless it is too large.
    fn sha256(&self) -> Option<&str> {
        match self {
            Self::File { sha256, .. } => sha256.as_deref(),
            _ => None,
        }
    }
}

/// The place of a file that is to take part.
fn place<'r>(roots: &'r Roots, path: &str) -> Result<Place<'r>> {
    if path.len() > PATH {
        return Err(Failure::invalid_params(format!("a path in a round trip has at most {PATH} bytes")));
    }
    let place = roots.place(path)?;
    if place.is_root() {
        return Err(Failure::invalid_params(format!("it is a granted directory itself: {}", place.path())));
    }
    if place.name().starts_with(OURS) {
        let message =
            format!("names that begin with `{OURS}` are reserved for round trips: {}", place.path());
        return Err(Failure::invalid_params(message));
    }
    Ok(place)
}

/// The call that restarts a round trip.
fn begin_anew(paths: impl IntoIterator<Item = String>) -> Next {
    let mut paths: Vec<_> = paths.into_iter().collect();
    paths.sort_unstable();
    paths.dedup();
    paths.truncate(FILES);
    Next::action("roundtrip_start").param("paths", paths)
}

#[cfg(test)]
mod tests;
