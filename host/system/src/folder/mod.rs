//! Folders of one user, and their names on the disk.
//!
//! On Windows, rights are inherited from the folder above, by default that of the user's profile, which other users cannot
//! enter. They are neither set nor checked: an operator who chooses another place has to protect it.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use unix::{create_private, ensure_private, sync};
#[cfg(windows)]
pub use windows::{create_private, ensure_private, sync};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_created_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b");
        create_private(&path).unwrap();
        assert_eq!(ensure_private(&path).unwrap(), path);
        sync(&path).unwrap();
        ensure_private(&dir.path().join("c")).unwrap();
        assert!(dir.path().join("c").is_dir());
    }
}
