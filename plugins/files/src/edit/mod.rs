//! `edit`: changes parts of a text file, all or none.

mod apply;
mod nearest;

use std::{fs::File, io::Read, time::Instant};

use loggia_sdk::prelude::*;

pub use apply::Edit;

use crate::{
    diff::{Budget, diff},
    draft::Draft,
    entry::Kind,
    put::{may_write, modified, occupied, parent},
    roots::Place,
    version,
};

/// Maximum size of a file before and after.
pub const FILE: u64 = 4 * 1024 * 1024;

/// Result of `edit`.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub struct Edited {
    pub path: String,
    /// Replaced places.
    pub replaced: usize,
    /// Bytes of the new content.
    pub size: usize,
    /// Version of the new content; absent if nothing was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

/// Applies the edits in order, and writes the result, or only shows it.
pub fn edit(place: &Place, edits: &[Edit], expect: Option<&str>, dry_run: bool) -> Result<Reply<Edited>> {
    let path = place.path();
    let bytes = content(place)?;
    let seen = version::of(&bytes);
    if expect.is_some_and(|expect| expect != seen) {
        return Err(modified(&path, &seen));
    }
    let (Ok(before), false) = (str::from_utf8(&bytes), bytes.contains(&0)) else {
        return Err(
            Failure::conflict(format!("it is not UTF-8 text: {path}")).hint("`put` replaces the whole file.")
        );
    };
    let (after, replaced) =
        apply::apply(before, edits, expect.is_some()).map_err(|(at, failure)| named(failure, at, &path))?;
    if after.len() as u64 > FILE {
        return Err(too_large(&path, "would have", after.len() as u64));
    }
    let mut edited = Edited { path, replaced, size: after.len(), version: None, diff: None };
    if dry_run {
        let mut budget = Budget::of(Detail::Full, Instant::now());
        edited.diff = Some(diff(&edited.path, Some(before.as_bytes()), after.as_bytes(), &mut budget));
        return Ok(Reply::new(edited).message("Nothing was written: `dry_run`."));
    }
    edited.version = Some(version::of(after.as_bytes()));
    if after == before {
        return Ok(Reply::new(edited).message("The file has this content already."));
    }
    let draft =
        Draft::write(&parent(place, false)?, after.as_bytes()).map_err(|error| place.unchanged(error))?;
    // Another program may have written to it since it was read.
    may_write(place, Some(&seen))?;
    draft.settle(&place.real()?, true).map_err(|error| occupied(place, error))?;
    Ok(Reply::new(edited))
}

/// Names the edit and the file in its failure.
fn named(mut failure: Failure, at: usize, path: &str) -> Failure {
    failure.message = format!("edit {} of {path}: {}", at + 1, failure.message);
    let hint = failure.hint.take().unwrap_or_default();
    failure
        .hint(format!("Nothing was changed. {hint}").trim_end())
        .next(Next::action("get").param("path", path))
}

/// Content of the file, of which links are not followed: replacing one would leave its target as it was.
fn content(place: &Place) -> Result<Vec<u8>> {
    let (path, metadata) = (place.path(), place.metadata()?);
    match Kind::from(metadata.file_type()) {
        Kind::File if metadata.len() <= FILE => {}
        Kind::File => return Err(too_large(&path, "has", metadata.len())),
        Kind::Directory => {
            let failure = Failure::invalid_params(format!("it is a directory: {path}"));
            return Err(failure.next(Next::action("list").param("path", &path)));
        }
        _ => {
            return Err(Failure::conflict(format!("it is neither a file nor a directory: {path}"))
                .hint("Edit the target of a link, not the link."));
        }
    }
    let mut bytes = Vec::new();
    let file = File::open(place.real()?).map_err(|error| place.failed(error))?;
    file.take(FILE + 1).read_to_end(&mut bytes).map_err(|error| place.failed(error))?;
    Ok(bytes)
}

fn too_large(path: &str, has: &str, size: u64) -> Failure {
    Failure::invalid_params(format!("too large to edit: {path} {has} {size} bytes"))
        .hint(format!("At most {} MiB.", FILE >> 20))
}
