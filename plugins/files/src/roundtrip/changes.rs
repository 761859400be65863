//! What a caller wants changed, and what would become of it.

use loggia_sdk::prelude::*;

use super::{Manifest, Now, place};
use crate::{
    entry::Kind,
    put,
    roots::{Place, Roots},
    version,
};

/// A file as it is to be.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Change {
    #[schemars(length(min = 1, max = 1000))]
    path: String,
    /// The whole new content.
    content: String,
    // Not by a default, which the host would fill in, and then give all the contents back as inputs that it resolved.
    /// `text` where it is left out.
    encoding: Option<put::Encoding>,
}

/// What is done with files that are there, and with those that are not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Overwrites files and makes new ones.
    #[default]
    Replace,
    /// Makes new files, skips those that are there.
    AddOnly,
    /// Overwrites files, skips those that are not there.
    UpdateOnly,
}

/// A change whose place and content are known to be sound.
pub struct New<'r> {
    pub place: Place<'r>,
    pub path: String,
    pub bytes: Vec<u8>,
    pub sha256: String,
}

/// What becomes of a change.
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

/// How a file is not as its caller has seen it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// It has other content.
    Changed,
    Gone,
    /// It was not there.
    Appeared,
    /// It is there, and not in the manifest.
    Unseen,
    IsDirectory,
    IsLink,
    /// Neither file, directory nor link.
    IsOther,
    /// What should be its directory is none.
    NoDirectory,
}

impl Why {
    /// Whether the path is none of a file, so that no round trip can begin with it.
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
            Self::IsOther => "is no file",
            Self::NoDirectory => "is not in a directory",
        }
    }
}

/// Checks what can be checked without a look at the files.
///
/// # Errors
///
/// `invalid_params` where two changes are of one path, or one of a path inside the other's, or the content is not as its
/// encoding says; `denied` where a path is not granted.
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
    // Name by name, so that a directory comes right before what is in it.
    new.sort_unstable_by(|a, b| a.path.split('/').cmp(b.path.split('/')));
    for pair in new.windows(2) {
        let (one, other) = (&pair[0], &pair[1]);
        if one.path == other.path {
            let failure = Failure::invalid_params(format!("`changes` names {} twice", one.path));
            return Err(failure.hint("One change holds the whole new content of a file."));
        }
        if other.place.is_in(&one.place) {
            let message = format!("{} cannot be a file and the directory of {}", one.path, other.path);
            return Err(Failure::invalid_params(message));
        }
    }
    Ok(new)
}

/// What becomes of a change to a file that stands so now.
pub fn fate(manifest: &Manifest, mode: Mode, new: &New, now: &Now) -> std::result::Result<Fate, Why> {
    match now {
        Now::Other(kind) => return Err(no_file(*kind)),
        // Also where an earlier commit wrote it, whose answer was lost.
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

/// How a file is no longer as it was seen.
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
