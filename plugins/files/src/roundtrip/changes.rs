//! Requested changes and their outcomes.

use loggia_sdk::prelude::*;

use super::{Manifest, Now, place};
use crate::{
    entry::Kind,
    put,
    roots::{Place, Roots},
    version,
};

/// New content of a file.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Change {
    #[schemars(length(min = 1, max = 1000))]
    path: String,
    /// The whole new content.
    content: String,
    // Not by a default, which the host would fill in, and then give all the contents back as inputs that it resolved.
    /// Default: `text`.
    encoding: Option<put::Encoding>,
}

/// Handling of existing and missing files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Overwrites files and makes new ones.
    #[default]
    Replace,
    /// Creates new files, skips existing ones.
    AddOnly,
    /// Overwrites files, skips missing ones.
    UpdateOnly,
}

/// A change with a validated place and content.
pub struct New<'r> {
    pub place: Place<'r>,
    pub path: String,
    pub bytes: Vec<u8>,
    pub sha256: String,
}

/// Outcome of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Fate {
    Create,
    Replace,
    Skip,
    /// The file has this content already.
    Unchanged,
    /// The commit would be refused.
    Conflict,
}

/// Difference between a file and the version that the caller has seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// The content differs.
    Changed,
    Gone,
    /// The file did not exist.
    Appeared,
    /// The file exists but is not in the manifest.
    Unseen,
    IsDirectory,
    IsLink,
    /// Neither file, directory nor link.
    IsOther,
    /// The parent is not a directory.
    NoDirectory,
}

impl Why {
    /// Tests whether the path is not a file, so that a round trip cannot include it.
    pub fn is_no_file(self) -> bool {
        matches!(self, Self::IsDirectory | Self::IsLink | Self::IsOther | Self::NoDirectory)
    }

    pub fn words(self) -> &'static str {
        match self {
            Self::Changed => "has changed",
            Self::Gone => "is gone",
            Self::Appeared => "is there now",
            Self::Unseen => "is there and was not read",
            Self::IsDirectory => "is a directory",
            Self::IsLink => "is a link",
            Self::IsOther => "is not a file",
            Self::NoDirectory => "is not in a directory",
        }
    }
}

/// Validates the changes without accessing the files.
///
/// # Errors
///
/// `invalid_params` if two changes have the same path, or one's path is inside the other's, or the content does not
/// match its encoding; `denied` if a path is not granted.
pub fn read(roots: &Roots, changes: Vec<Change>) -> Result<Vec<New<'_>>> {
    let mut new = Vec::with_capacity(changes.len());
    for Change { path, content, encoding } in changes {
        let place = place(roots, &path)?;
        let path = place.path();
        let bytes = encoding.unwrap_or_default().decode(content).map_err(|failure| {
            Failure::invalid_params(format!("{path}: {}", failure.message.trim_end_matches('.')))
        })?;
        let sha256 = version::sha256(&bytes);
        new.push(New { place, path, bytes, sha256 });
    }
    // Name by name, so that a directory comes right before its contents.
    new.sort_unstable_by(|a, b| a.path.split('/').cmp(b.path.split('/')));
    for pair in new.windows(2) {
        let (one, other) = (&pair[0], &pair[1]);
        if one.path == other.path {
            let failure = Failure::invalid_params(format!("`changes` names {} twice", one.path));
            return Err(failure.hint("A change contains the whole new content of a file."));
        }
        if other.place.is_in(&one.place) {
            let message = format!("{} cannot be a file and the directory of {}", one.path, other.path);
            return Err(Failure::invalid_params(message));
        }
    }
    Ok(new)
}

/// Outcome of a change for a file in this state.
pub fn fate(manifest: &Manifest, mode: Mode, new: &New, now: &Now) -> std::result::Result<Fate, Why> {
    match now {
        Now::Other(kind) => return Err(no_file(*kind)),
        // Also if an earlier commit wrote it, whose reply was lost.
        now if now.sha256() == Some(&new.sha256) => return Ok(Fate::Unchanged),
        _ => {}
    }
    match (manifest.seen(&new.path), now, mode) {
        (Some(seen), now, _) if differs(seen.sha256.as_deref(), now).is_some() => {
            Err(differs(seen.sha256.as_deref(), now).unwrap_or(Why::Changed))
        }
        (_, Now::Absent, Mode::UpdateOnly) => Ok(Fate::Skip),
        (_, Now::Absent, _) => Ok(Fate::Create),
        (_, _, Mode::AddOnly) => Ok(Fate::Skip),
        (Some(_), _, _) => Ok(Fate::Replace),
        (None, _, _) => Err(Why::Unseen),
    }
}

/// Compares a file with the recorded version.
pub fn differs(seen: Option<&str>, now: &Now) -> Option<Why> {
    match (seen, now) {
        (_, Now::Other(kind)) => Some(no_file(*kind)),
        (None, Now::Absent) => None,
        (Some(_), Now::Absent) => Some(Why::Gone),
        (None, Now::File { .. }) => Some(Why::Appeared),
        (Some(seen), now) => (now.sha256() != Some(seen)).then_some(Why::Changed),
    }
}

fn no_file(kind: Kind) -> Why {
    match kind {
        Kind::Directory => Why::IsDirectory,
        Kind::Link => Why::IsLink,
        Kind::File | Kind::Other => Why::IsOther,
    }
}
