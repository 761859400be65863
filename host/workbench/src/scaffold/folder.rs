//! Writes the folder of a new plugin, whole or not at all.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use anyhow::{Context, ensure};

/// Checks that a folder can be created, or is there and empty.
///
/// # Errors
///
/// If it is not empty or no folder, or its parent does not exist.
pub fn check_target(target: &Path) -> anyhow::Result<()> {
    match fs::read_dir(target) {
        Ok(mut entries) => {
            ensure!(entries.next().is_none(), "{} is not empty; choose another name", target.display());
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error).with_context(|| format!("{} cannot be used", target.display())),
    }
    let parent = parent(target);
    ensure!(parent.is_dir(), "there is no folder {}", parent.display());
    Ok(())
}

/// Writes files beside the target, and then gives their folder its name.
///
/// # Errors
///
/// If anything cannot be written; then nothing is left.
pub fn write_folder(target: &Path, files: &[(PathBuf, String)]) -> anyhow::Result<()> {
    let failed = || format!("failed to create {}", target.display());
    let beside =
        tempfile::Builder::new().prefix(".loggia-new-").tempdir_in(parent(target)).with_context(failed)?;
    // What holds the files is theirs alone until it is renamed; the plugin is everyone's.
    let whole = beside.path().join("plugin");
    for (file, text) in files {
        let path = whole.join(file);
        fs::create_dir_all(path.parent().unwrap_or(&whole)).with_context(failed)?;
        fs::write(&path, text).with_context(failed)?;
    }
    // An empty folder gives way; one that was filled meanwhile does not.
    if target.exists() {
        fs::remove_dir(target).with_context(failed)?;
    }
    fs::rename(&whole, target).with_context(failed)
}

fn parent(target: &Path) -> &Path {
    target.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_created_whole_or_not_at_all() {
        let root = tempfile::tempdir().unwrap();
        let names = || {
            let mut names: Vec<_> =
                fs::read_dir(root.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
            names.sort();
            names
        };
        let target = root.path().join("notes");
        let files = [(PathBuf::from("src/lib.rs"), "x".to_owned())];
        for _ in 0..2 {
            check_target(&target).unwrap();
            write_folder(&target, &files).unwrap();
            assert_eq!(fs::read_to_string(target.join("src/lib.rs")).unwrap(), "x");
            fs::remove_dir_all(&target).unwrap();
            // An empty one is as good as none.
            fs::create_dir(&target).unwrap();
        }
        fs::write(target.join("mine"), "").unwrap();
        assert!(check_target(&target).unwrap_err().to_string().contains("is not empty"));
        write_folder(&target, &files).unwrap_err();
        assert_eq!((names(), fs::read_dir(&target).unwrap().count()), (vec!["notes".into()], 1));
        assert!(
            check_target(&target.join("mine/x")).is_err() && check_target(&root.path().join("a/b")).is_err()
        );
        fs::write(root.path().join("file"), "").unwrap();
        assert!(check_target(&root.path().join("file")).is_err());
    }
}
