//! An open directory, and its entries.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(super) use unix::{count_entries, open};
#[cfg(windows)]
pub(super) use windows::{count_entries, open};

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn entries_are_counted_up_to_a_number() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a", "b", "c"] {
            fs::write(folder.path().join(name), name).unwrap();
        }
        let dir = open(folder.path()).unwrap();
        let all = count_entries(&dir, 100).unwrap();
        // Some systems list `.` and `..`, too.
        assert!([3, 5].contains(&all), "{all}");
        assert_eq!(count_entries(&dir, 2).unwrap(), 2);
        assert!(open(&folder.path().join("a")).is_err());
    }
}
