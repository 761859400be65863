//! Lists the plugin folder by file metadata.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::{
    facade_kind::FileKind,
    plugin_files::{FileStamp, PluginFiles},
};

/// Looks up a single plugin, with the policy beside it.
///
/// # Errors
///
/// If its metadata cannot be read.
pub fn find_plugin(path: &Path) -> io::Result<PluginFiles> {
    let mut found = PluginFiles::from_path(path)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if found.kind == FileKind::Workflows {
        found.workflows = workflow_stamps(scan_folder(folder)?.values());
    }
    Ok(found)
}

fn workflow_stamps<'a>(found: impl Iterator<Item = &'a PluginFiles>) -> Arc<[(PathBuf, FileStamp)]> {
    let of_workflows = found.filter(|found| found.kind == FileKind::Workflows);
    of_workflows.map(|found| (found.path.clone(), found.stamp())).collect()
}

/// Lists the plugins in a folder by file name. Ignores all other files; policies are found beside their plugins.
///
/// # Errors
///
/// If the folder cannot be read.
pub fn scan_folder(folder: &Path) -> io::Result<BTreeMap<String, PluginFiles>> {
    let mut plugins = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        let Some(file) = name.to_str().filter(|name| FileKind::from_file_name(name).is_some()) else {
            continue;
        };
        // A file may vanish between listing and lookup.
        if let Ok(found) = PluginFiles::from_path(&folder.join(&name)) {
            plugins.insert(file.to_owned(), found);
        }
    }
    let all = workflow_stamps(plugins.values());
    for found in plugins.values_mut().filter(|found| found.kind == FileKind::Workflows) {
        found.workflows = Arc::clone(&all);
    }
    Ok(plugins)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_dangling_link_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        symlink("nowhere.wasm", path("a.wasm")).unwrap();
        symlink("b.wasm", path("b.wasm")).unwrap();
        let found = scan_folder(folder.path()).unwrap();
        assert_eq!(found.keys().collect::<Vec<_>>(), ["a.wasm", "b.wasm"]);
        fs::write(path("nowhere.wasm"), "1").unwrap();
        let repaired = scan_folder(folder.path()).unwrap();
        assert!(!repaired["a.wasm"].is_same(&found["a.wasm"]));
    }

    #[test]
    fn an_unreadable_policy_is_not_an_absent_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("a.wasm"), "1").unwrap();
        let found = || scan_folder(folder.path()).unwrap().remove("a.wasm").unwrap();
        let none = found();
        assert_eq!(none.policy, None);
        for target in ["nowhere.toml", "a.toml"] {
            symlink(target, path("a.toml")).unwrap();
            let broken = found();
            assert_eq!(broken.policy, Some(path("a.toml")), "{target}");
            assert!(!broken.is_same(&none), "{target}");
            fs::write(path("real"), "").unwrap();
            fs::remove_file(path("a.toml")).unwrap();
            symlink("real", path("a.toml")).unwrap();
            assert!(!found().is_same(&broken), "{target}: the link was repaired");
            fs::remove_file(path("a.toml")).unwrap();
        }
    }
}
