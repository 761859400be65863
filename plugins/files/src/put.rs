//! `put`: writes a whole file atomically.

use std::{
    fs::{self, File},
    io,
    path::PathBuf,
};

use base64::{Engine, engine::general_purpose::STANDARD};
use loggia_sdk::prelude::*;

use crate::{draft::Draft, entry::Kind, roots::Place, version};

/// Encoding of a file's content in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Encoding {
    /// UTF-8 text as it is.
    #[default]
    Text,
    /// Any bytes.
    Base64,
}

impl Encoding {
    /// Decodes the content.
    ///
    /// # Errors
    ///
    /// `invalid_params` if it is not in this encoding.
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

/// Result of `put`.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub struct Written {
    pub path: String,
    /// Bytes.
    pub size: usize,
    /// Version of the new content, for the next `put`.
    pub version: String,
    /// Whether a file was replaced.
    pub replaced: bool,
}

/// Writes a file atomically: to a temporary name, then renamed.
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

/// Checks whether a file may be written to this place, and returns whether it replaces one. Only a file whose version
/// the caller names is replaced.
///
/// # Errors
///
/// `conflict` if there is something that the caller has not seen.
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
            Err(failure.hint("To replace it, `get` it first and pass its `version` as `expect`.").next(seen))
        }
        (Kind::File, Some(expect)) => {
            let file = File::open(place.real()?).map_err(|error| place.failed(error))?;
            let version = version::read(file).map_err(|error| place.failed(error))?;
            if version == expect { Ok(true) } else { Err(modified(&path, &version)) }
        }
        (Kind::Directory, _) => Err(Failure::conflict(format!("it is a directory: {path}"))),
        _ => Err(Failure::conflict(format!("it is neither a file nor a directory: {path}"))
            .hint("Write to the target of a link, not to the link.")),
    }
}

/// Failure for a file that has another version than the caller has seen.
pub fn modified(path: &str, version: &str) -> Failure {
    Failure::conflict(format!("modified concurrently: {path} has version {version}"))
        .hint("`get` it again: another program has written to it.")
        .next(Next::action("get").param("path", path))
}

/// Parent directory of the place, created if `make` is set.
///
/// # Errors
///
/// `not_found` if it is missing.
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

/// Converts an error of a write to a place; if the place has been taken meanwhile, that is the reason.
pub fn occupied(place: &Place, error: io::Error) -> Failure {
    match may_write(place, None) {
        Err(conflict) if error.kind() == io::ErrorKind::AlreadyExists => conflict,
        _ => place.unchanged(error),
    }
}
