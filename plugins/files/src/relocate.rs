//! `move`: to another name or another directory.

use std::{fs, io};

use loggia_sdk::prelude::*;

use crate::{
    entry::Kind,
    put::{Draft, may_write, occupied, parent, place_anew},
    roots::Place,
};

/// What was moved.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub struct Moved {
    pub from: String,
    pub to: String,
    /// Whether there was a file before.
    pub replaced: bool,
}

/// Moves a file, a link or a whole directory.
pub fn relocate(from: &Place, to: &Place, parents: bool, expect: Option<&str>) -> Result<Moved> {
    if from.is_root() {
        return Err(Failure::denied(format!("access denied: {} is a granted directory itself", from.path())));
    }
    let is_directory = Kind::from(from.metadata()?.file_type()) == Kind::Directory;
    if to.is_in(from) {
        let message = format!("{} is {} itself or inside it", to.path(), from.path());
        return Err(Failure::invalid_params(message));
    }
    if is_directory && expect.is_some() {
        return Err(Failure::invalid_params(
            "`expect` is for a file that replaces a file; a directory replaces nothing",
        ));
    }
    let replaced = may_write(to, expect)?;
    let directory = parent(to, parents)?;
    let (source, target) = (from.real()?, to.real()?);
    let moved =
        if is_directory || replaced { fs::rename(&source, &target) } else { place_anew(&source, &target) };
    match moved {
        Ok(()) => {}
        Err(error) if error.kind() != io::ErrorKind::CrossesDevices => return Err(occupied(to, error)),
        Err(_) if is_directory => {
            let failure = Failure::invalid_params("a directory cannot be moved to another device");
            return Err(failure.hint("Move its files one by one."));
        }
        Err(_) => {
            let draft = Draft::copy(&directory, &source).map_err(|error| to.failed(error))?;
            draft.settle(&target, replaced).map_err(|error| occupied(to, error))?;
            fs::remove_file(&source).map_err(|error| from.failed(error))?;
        }
    }
    Ok(Moved { from: from.path(), to: to.path(), replaced })
}
