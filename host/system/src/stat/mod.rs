//! Whether a file has changed.

use std::fs::Metadata;

mod file_stat;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

pub use file_stat::FileStat;
#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

impl FileStat {
    /// Takes what there is in metadata.
    pub fn from_metadata(meta: &Metadata) -> Self {
        system::from_metadata(meta)
    }
}

#[cfg(test)]
mod tests {
    use std::{
        fs::{self, File},
        time::{Duration, SystemTime},
    };

    use super::*;

    #[test]
    fn a_change_shows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "one").unwrap();
        let stat = || FileStat::from_metadata(&fs::metadata(&path).unwrap());
        let first = stat();
        assert_eq!((first.size, stat()), (3, first));
        let day = SystemTime::UNIX_EPOCH + Duration::from_nanos(86_400_000_000_700);
        File::options().write(true).open(&path).unwrap().set_modified(day).unwrap();
        assert_eq!(stat().modified, (86_400, 700));
        assert_ne!(stat(), first);
    }
}
