//! `put`: a whole file, at once or not at all.

use std::{
    fs::{self, File},
    io,
    path::PathBuf,
};

use base64::{Engine, engine::general_purpose::STANDARD};
use loggia_sdk::prelude::*;

use crate::{draft::Draft, entry::Kind, roots::Place, version};

/// How the content of a `put` is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Encoding {
    #[default]
    Text,
    Base64,
}

impl Encoding {
    /// The bytes that are meant.
    ///
    /// # Errors
    ///
    /// `invalid_params` where it is not so written.
    pub fn decode(self, content: String) -> Result<Vec<u8>> {
        match self {
            Self::Text => Ok(content.into_bytes()),
            Self::Base64 => {
                let no_base64 = |error| Failure::invalid_params(format!("`content` is not base64: {error}"));
                STANDARD.decode(content.trim()).map_err(no_base64)
            }
        }
    }
}

/// What was written.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub struct Written {
    pub path: String,
    /// Bytes.
    pub size: usize,
    /// Of the new content: for the next `put`.
    pub version: String,
    /// Whether there was a file before.
    pub replaced: bool,
}

/// Writes a file: beside its place, then moved there, so that nobody ever sees half of it.
pub fn put(
    place: &Place,
    content: String,
    encoding: Encoding,
    parents: bool,
    expect: Option<&str>,
) -> Result<Reply<Written>> {
    let bytes = encoding.decode(content)?;
    let replaced = may_write(place, expect)?;
    let directory = parent(place, parents)?;
    let draft = Draft::write(&directory, &bytes).map_err(|error| place.unchanged(error))?;
    draft.settle(&place.real()?, replaced).map_err(|error| occupied(place, error))?;
    let version = version::of(&bytes);
    Ok(Reply::new(Written { path: place.path(), size: bytes.len(), version, replaced }))
}

/// Whether a file may come to this place, and whether it replaces one. Nothing is replaced unseen: only the file of
/// which the caller names the version.
///
/// # Errors
///
/// `conflict` where something is there that the caller has not seen.
pub fn may_write(place: &Place, expect: Option<&str>) -> Result<bool> {
    if place.is_root() {
        return Err(Failure::invalid_params(format!("it is a granted directory itself: {}", place.path())));
    }
    let metadata = match (fs::symlink_metadata(place.real()?), expect) {
        (Ok(metadata), _) => metadata,
        (Err(error), None) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        (Err(error), _) => return Err(place.failed(error)),
    };
    let path = place.path();
    match (Kind::from(metadata.file_type()), expect) {
        (Kind::File, None) => {
            let failure = Failure::conflict(format!("already exists: {path}"));
            let seen = Next::action("get").param("path", &path);
            Err(failure.hint("To replace it, `get` it first and give its `version` as `expect`.").next(seen))
        }
        (Kind::File, Some(expect)) => {
            let file = File::open(place.real()?).map_err(|error| place.failed(error))?;
            let version = version::read(file).map_err(|error| place.failed(error))?;
            if version == expect {
                return Ok(true);
            }
            let failure = Failure::conflict(format!("changed meanwhile: {path} has version {version}"));
            Err(failure
                .hint("`get` it again: somebody else has written to it.")
                .next(Next::action("get").param("path", &path)))
        }
        (Kind::Directory, _) => Err(Failure::conflict(format!("it is a directory: {path}"))),
        _ => Err(Failure::conflict(format!("it is neither a file nor a directory: {path}"))
            .hint("Write to what a link points at, not to the link.")),
    }
}

/// The directory that the place is in, made where that was asked for.
///
/// # Errors
///
/// `not_found` where it is missing.
pub fn parent(place: &Place, make: bool) -> Result<PathBuf> {
    let Some(parent) = place.parent() else { return place.real() };
    let real = parent.followed()?;
    if make {
        fs::create_dir_all(&real).map_err(|error| parent.unchanged(error))?;
    } else if !real.is_dir() {
        let failure = Failure::not_found(format!("not found: the directory {}", parent.path()));
        return Err(failure.hint("`parents: true` makes it."));
    }
    Ok(real)
}

/// A failure to come to a place; if something has come there meanwhile, that is the reason.
pub fn occupied(place: &Place, error: io::Error) -> Failure {
    match may_write(place, None) {
        Err(conflict) if error.kind() == io::ErrorKind::AlreadyExists => conflict,
        _ => place.unchanged(error),
    }
}
