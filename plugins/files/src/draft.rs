//! Temporary files that replace others atomically.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

use crate::platform::crosses_devices;

/// A temporary file next to its target, removed unless it is settled.
pub struct Draft(PathBuf);

impl Draft {
    /// Writes the bytes to a new hidden file in the directory.
    ///
    /// # Errors
    ///
    /// Errors of writing.
    pub fn write(directory: &Path, bytes: &[u8]) -> io::Result<Self> {
        let (draft, mut file) = Self::create(directory)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        Ok(draft)
    }

    /// Copies a file to a new hidden one in the directory.
    ///
    /// # Errors
    ///
    /// Errors of reading and writing.
    pub fn copy(directory: &Path, from: &Path) -> io::Result<Self> {
        let (draft, mut file) = Self::create(directory)?;
        io::copy(&mut File::open(from)?, &mut file)?;
        file.sync_all()?;
        Ok(draft)
    }

    fn create(directory: &Path) -> io::Result<(Self, File)> {
        // Other calls may be writing here at the same time, and a killed host may have left drafts.
        let mut number = 0;
        loop {
            let path = directory.join(format!(".loggia-{number}.part"));
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => return Ok((Self(path), file)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 1000 => number += 1,
                Err(error) => return Err(error),
            }
        }
    }

    /// Moves the draft to its place.
    ///
    /// # Errors
    ///
    /// `AlreadyExists` if the target exists and must not be replaced.
    pub fn settle(self, place: &Path, replace: bool) -> io::Result<()> {
        if replace {
            fs::rename(&self.0, place)?
        } else {
            place_anew(&self.0, place)?
        }
        // Its name is free, and another call's draft may have it by now.
        std::mem::forget(self);
        Ok(())
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // A failure is ignored: there is no remedy.
        let _ = fs::remove_file(&self.0);
    }
}

/// Moves a file to a free name. A hard link does so without a window in which another's file could be lost; without
/// support for links, a check precedes the move.
///
/// # Errors
///
/// `AlreadyExists` where something is.
pub fn place_anew(from: &Path, to: &Path) -> io::Result<()> {
    match fs::hard_link(from, to) {
        // Not both: after a failure, the caller does not expect a second file.
        Ok(()) => fs::remove_file(from).inspect_err(|_| drop(fs::remove_file(to))),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists || crosses_devices(&error) => Err(error),
        Err(_) if fs::symlink_metadata(to).is_ok() => Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => fs::rename(from, to),
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn drafts_of_calls_at_once_do_not_meet() {
        let directory = tempfile::tempdir().unwrap();
        let settle = |worker: usize| {
            let directory = directory.path();
            move || {
                for number in 0..200 {
                    let (place, text) = (directory.join(format!("{worker}-{number}")), number.to_string());
                    let draft = Draft::write(directory, text.as_bytes()).unwrap();
                    draft.settle(&place, number % 2 == 0).unwrap();
                    assert_eq!(fs::read_to_string(place).unwrap(), text);
                }
            }
        };
        thread::scope(|scope| (0..4).for_each(|worker| drop(scope.spawn(settle(worker)))));
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 800, "no draft is left");
    }
}
