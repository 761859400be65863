//! `move`: to another name or another directory.

use std::{fs, io};

use loggia_sdk::{failure::code, prelude::*};

use crate::{
    draft::{Draft, place_anew},
    entry::Kind,
    platform::crosses_devices,
    put::{may_write, occupied, parent},
    roots::Place,
};

/// Result of `move`.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub struct Moved {
    pub from: String,
    pub to: String,
    /// Whether a file was replaced.
    pub replaced: bool,
}

/// Moves a file, a link or a whole directory.
pub fn relocate(from: &Place, to: &Place, parents: bool, expect: Option<&str>) -> Result<Moved> {
    if from.is_root() {
        return Err(Failure::denied(format!("access denied: {} is a granted directory itself", from.path())));
    }
    let kind = Kind::from(from.metadata()?.file_type());
    if to.is_in(from) {
        let message = format!("{} is {} itself or inside it", to.path(), from.path());
        return Err(Failure::invalid_params(message));
    }
    if kind == Kind::Directory && expect.is_some() {
        return Err(Failure::invalid_params(
            "`expect` is for replacing a file; directories are never replaced",
        ));
    }
    let replaced = may_write(to, expect)?;
    let directory = parent(to, parents)?;
    let (source, target) = (from.real()?, to.real()?);
    let moved = if kind == Kind::Directory || replaced {
        fs::rename(&source, &target)
    } else {
        place_anew(&source, &target)
    };
    match moved {
        Ok(()) => {}
        Err(error) if !crosses_devices(&error) => return Err(unmoved(from, to, error)),
        Err(_) if kind != Kind::File => {
            let failure = Failure::invalid_params("only files can be moved to another device");
            return Err(failure.hint("Move the files of a directory one by one."));
        }
        Err(_) => {
            let draft = Draft::copy(&directory, &source).map_err(|error| to.unchanged(error))?;
            draft.settle(&target, replaced).map_err(|error| occupied(to, error))?;
            fs::remove_file(&source).map_err(|error| from.unchanged(error))?;
        }
    }
    Ok(Moved { from: from.path(), to: to.path(), replaced })
}

/// Converts an error for the caller; a "denied" error does not name the path.
fn unmoved(from: &Place, to: &Place, error: io::Error) -> Failure {
    let mut failure = occupied(to, error);
    if failure.code == code::DENIED {
        failure.message = format!("access denied: {} or {}", from.path(), to.path());
    }
    failure
}
