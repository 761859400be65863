//! A folder that only its owner can write to.
//!
//! A path is resolved at each use, so another user who can replace one of its components could replace the folder after the
//! check. On Unix, all operations use the descriptor of the folder that was checked. On Windows they use its path: rights are
//! inherited from the folder above, by default that of the user's profile, where nobody else can replace anything.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::PrivateFolder;
#[cfg(windows)]
pub(crate) use windows::PrivateFolder;

#[cfg(all(test, unix))]
mod tests {
    use std::{
        fs, io,
        os::unix::fs::{PermissionsExt, symlink},
        path::Path,
        time::Duration,
    };

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
        let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(name).collect();
        names.sort();
        names
    }

    #[test]
    fn what_is_done_is_done_in_the_folder_that_was_checked() {
        let dir = tempfile::tempdir().unwrap();
        let [path, moved, other] = ["cache", "moved", "other"].map(|name| dir.path().join(name));
        let folder = PrivateFolder::open(&path).unwrap();
        fs::rename(&path, &moved).unwrap();
        fs::create_dir(&other).unwrap();
        fs::write(other.join("code"), "of somebody else").unwrap();
        symlink(&other, &path).unwrap();
        assert!(folder.read("code").is_none());
        folder.write("code", b"mine").unwrap();
        assert_eq!(
            (names(&moved), io::read_to_string(folder.read("code").unwrap()).unwrap()),
            (vec!["code".to_owned()], "mine".to_owned())
        );
    }

    #[test]
    fn only_a_regular_file_that_nobody_else_can_write_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let folder = PrivateFolder::open(dir.path()).unwrap();
        folder.write("code", b"mine").unwrap();
        symlink("code", dir.path().join("link")).unwrap();
        fs::create_dir(dir.path().join("folder")).unwrap();
        assert!(folder.read("code").is_some());
        assert!(
            folder.read("link").is_none() && folder.read("folder").is_none() && folder.read("none").is_none()
        );
        fs::set_permissions(dir.path().join("code"), fs::Permissions::from_mode(0o620)).unwrap();
        assert!(folder.read("code").is_none());
    }

    #[test]
    fn what_was_never_finished_is_removed_once_it_is_old() {
        let dir = tempfile::tempdir().unwrap();
        for name in [".beside-abc", "0123.code", "0123.sum"] {
            fs::write(dir.path().join(name), "x").unwrap();
        }
        let folder = PrivateFolder::open(dir.path()).unwrap();
        folder.remove_leftovers(Duration::from_secs(3600));
        assert_eq!(names(dir.path()).len(), 3);
        folder.remove_leftovers(Duration::ZERO);
        assert_eq!(names(dir.path()), ["0123.code", "0123.sum"]);
    }
}
