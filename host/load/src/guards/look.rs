//! Pure: whether a file is to be loaded.

use crate::file_stamp::FileStamp;

/// What is known of a guard's file. `None`: there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileLooks {
    /// The version that is in use, or failed; `None` before the first.
    pub loaded: Option<Option<FileStamp>>,
    /// The version at the last look.
    pub seen: Option<FileStamp>,
}

impl FileLooks {
    /// Decides whether the version that is there now is to be loaded: at once if there was none, and later once it is the same in
    /// two looks, since it may still be written.
    pub(super) fn is_due(&self, now: Option<FileStamp>) -> bool {
        match self.loaded {
            None => true,
            Some(loaded) => loaded != now && self.seen == now,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_changed_file_is_loaded_once_it_is_settled() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let stamp = |bytes: &str| {
            fs::write(&path, bytes).unwrap();
            Some(FileStamp::from_metadata(&fs::metadata(&path).unwrap()))
        };
        let (none, one, other) = (None, stamp("1"), stamp("22"));
        for (loaded, seen, now, due) in [
            (None, none, none, true),
            (None, none, one, true),
            (Some(one), one, one, false),
            (Some(one), one, other, false),
            (Some(one), other, other, true),
            (Some(one), one, none, false),
            (Some(one), none, none, true),
            (Some(none), none, none, false),
            (Some(none), none, one, false),
            (Some(none), one, one, true),
        ] {
            assert_eq!(FileLooks { loaded, seen }.is_due(now), due, "{loaded:?} {seen:?} {now:?}");
        }
    }
}
