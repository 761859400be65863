//! `delete`: a file, or a directory with all that is in it.

use std::fs;

use loggia_sdk::prelude::*;

use crate::{entry::Kind, roots::Place};

/// Deeper than any tree that a person made; the stack is small.
const DEPTH: usize = 128;

/// Result of `delete`.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub struct Deleted {
    pub path: String,
    /// Files, links and directories.
    pub count: u64,
}

/// Deletes the entry at the place; a directory that is not empty only with `recursive`.
pub fn delete(place: &Place, recursive: bool) -> Result<Deleted> {
    let path = place.path();
    if place.is_root() {
        return Err(Failure::denied(format!("access denied: {path} is a granted directory itself")));
    }
    let kind = Kind::from(place.metadata()?.file_type());
    if kind == Kind::Directory && !recursive && !place.names()?.is_empty() {
        let failure = Failure::conflict(format!("the directory is not empty: {path}"));
        return Err(failure.hint("`recursive: true` deletes its contents permanently."));
    }
    let mut count = 0;
    match remove(place, kind, DEPTH, &mut count) {
        Ok(()) => Ok(Deleted { path, count }),
        // The caller must know that it was not all or nothing.
        Err(failure) if count > 0 => Err(failure.details(json!({"deleted": count}))),
        Err(failure) => Err(failure),
    }
}

fn remove(place: &Place, kind: Kind, depth: usize, count: &mut u64) -> Result<()> {
    let real = place.real()?;
    if kind == Kind::Directory {
        if depth == 0 {
            let message = format!("deeper than {DEPTH} directories: {}", place.path());
            return Err(Failure::invalid_params(message).hint("Delete its contents first."));
        }
        for entry in place.names()? {
            let Some(name) = entry.name else {
                let message = format!("cannot delete {}: a name in it is not UTF-8", place.path());
                return Err(Failure::invalid_data(message));
            };
            remove(&place.join(&name), entry.kind, depth - 1, count)?;
        }
        fs::remove_dir(real)
    } else {
        fs::remove_file(real)
    }
    .map_err(|error| place.unchanged(error))?;
    *count += 1;
    Ok(())
}
