//! Whether two names lead to one file.

use std::{fs::File, io, path::Path};

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

/// Volume and number of a file or folder: device and inode on Unix, serial number and index on Windows. No other file has the
/// same while it exists, except on ReFS, whose numbers have more bits than Windows reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileIdentity {
    volume: u64,
    number: u64,
}

impl FileIdentity {
    /// Makes the identity of a file with this number on a volume.
    pub fn new(volume: u64, number: u64) -> Self {
        Self { volume, number }
    }

    /// Reads the identity of what a path leads to.
    ///
    /// # Errors
    ///
    /// If there is nothing, or its metadata cannot be read.
    pub fn of_target(path: &Path) -> io::Result<Self> {
        system::of_target(path).map(Self::from_numbers)
    }

    /// Reads the identity of what a path names: of the link, if it is one.
    ///
    /// # Errors
    ///
    /// If there is nothing, or its metadata cannot be read.
    pub fn of_name(path: &Path) -> io::Result<Self> {
        system::of_name(path).map(Self::from_numbers)
    }

    /// Reads the identity of an open file.
    ///
    /// # Errors
    ///
    /// If its metadata cannot be read.
    pub fn of_file(file: &File) -> io::Result<Self> {
        system::of_file(file).map(Self::from_numbers)
    }

    fn from_numbers((volume, number): (u64, u64)) -> Self {
        Self::new(volume, number)
    }

    /// Tests whether both are on one volume.
    pub fn is_on_volume_of(&self, other: &Self) -> bool {
        self.volume == other.volume
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn one_file_has_one_identity() {
        let folder = tempfile::tempdir().unwrap();
        let [file, name, other] = ["file", "name", "other"].map(|name| folder.path().join(name));
        fs::write(&file, "same").unwrap();
        fs::write(&other, "same").unwrap();
        fs::hard_link(&file, &name).unwrap();
        let identity = FileIdentity::of_target(&file).unwrap();
        assert_eq!(FileIdentity::of_name(&name).unwrap(), identity);
        assert_eq!(FileIdentity::of_file(&File::open(&file).unwrap()).unwrap(), identity);
        let other = FileIdentity::of_target(&other).unwrap();
        assert!(other != identity && other.is_on_volume_of(&identity));
        let missing = folder.path().join("missing");
        assert_eq!(FileIdentity::of_name(&missing).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
