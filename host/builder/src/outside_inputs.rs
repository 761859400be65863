//! Files outside the path of the sources from which plugins were built last, such as those of a crate that several plugins share.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    time::SystemTime,
};

use super::file_digest::{InputDigest, digest_file};

/// Digest of a file that was saved while it was read: no content has it.
const STALE: InputDigest = [0; 32];

/// Digests of the files, by plugin. One that is missing has none.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct OutsideInputs(BTreeMap<String, BTreeMap<PathBuf, Option<InputDigest>>>);

impl OutsideInputs {
    /// Reads the same files of these plugins again.
    pub(super) fn read_again<'a>(&self, plugins: impl Iterator<Item = &'a str>) -> Self {
        let read = |plugin: &str| {
            let files = self.0.get(plugin)?.keys();
            Some((plugin.to_owned(), files.map(|file| (file.clone(), digest_file(file))).collect()))
        };
        Self(plugins.filter_map(read).collect())
    }

    /// Whether a plugin has the same files, with the same contents, as in another survey.
    pub(super) fn has_same(&self, plugin: &str, other: &Self) -> bool {
        self.0.get(plugin) == other.0.get(plugin)
    }

    /// Records from which files a plugin was built by a build that began at this time. Known ones keep the digest that they had
    /// before the build; one that was saved during the build counts as changed.
    pub fn record(&mut self, plugin: &str, files: impl IntoIterator<Item = PathBuf>, begun: SystemTime) {
        let known = self.0.remove(plugin).unwrap_or_default();
        let digest = |file: &Path| match file.metadata().and_then(|file| file.modified()) {
            Ok(saved) if saved >= begun => Some(STALE),
            _ => digest_file(file),
        };
        let files: BTreeMap<_, _> = files
            .into_iter()
            .map(|file| (file.clone(), known.get(&file).copied().unwrap_or_else(|| digest(&file))))
            .collect();
        if !files.is_empty() {
            self.0.insert(plugin.to_owned(), files);
        }
    }

    /// Digests of the files of a plugin.
    pub(super) fn digests(&self, plugin: &str) -> impl Iterator<Item = (&Path, Option<&InputDigest>)> {
        let files = self.0.get(plugin).into_iter().flatten();
        files.map(|(file, digest)| (file.as_path(), digest.as_ref()))
    }

    /// All files.
    pub fn files(&self) -> BTreeSet<&Path> {
        self.0.values().flat_map(BTreeMap::keys).map(PathBuf::as_path).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, time::Duration};

    use super::*;

    #[test]
    fn a_saved_file_changes_its_plugins_alone() {
        let root = tempfile::tempdir().unwrap();
        let [one, both] = ["one.rs", "both.rs"].map(|file| root.path().join(file));
        let save = |text: &str| fs::write(&one, text).unwrap();
        save("1");
        let later = SystemTime::now() + Duration::from_secs(60);
        let mut built = OutsideInputs::default();
        built.record("a", [one.clone(), both.clone()], later);
        built.record("b", [both.clone()], later);
        built.record("c", [], later);
        assert_eq!(built.files(), BTreeSet::from([one.as_path(), both.as_path()]));
        let changed = |built: &OutsideInputs| {
            let now = built.read_again(["a", "b", "c"].into_iter());
            ["a", "b", "c"].map(|plugin| !now.has_same(plugin, built))
        };
        assert_eq!(changed(&built), [false; 3]);
        save("2");
        assert_eq!(changed(&built), [true, false, false]);
        fs::write(&both, "it was missing").unwrap();
        assert_eq!(changed(&built), [true, true, false]);
        assert_eq!(
            built.read_again(["b"].into_iter()).files(),
            BTreeSet::from([both.as_path()]),
            "a was removed"
        );
    }

    #[test]
    fn a_file_saved_during_a_build_leads_to_another() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("shared.rs");
        fs::write(&file, "1").unwrap();
        let (begun, later) = (SystemTime::UNIX_EPOCH, SystemTime::now() + Duration::from_secs(60));
        let is_same = |built: &OutsideInputs| built.read_again(["a"].into_iter()).has_same("a", built);
        let mut built = OutsideInputs::default();
        built.record("a", [file.clone()], begun);
        assert!(!is_same(&built), "it is newer than the build");
        built = built.read_again(["a"].into_iter());
        built.record("a", [file.clone()], begun);
        assert!(is_same(&built), "its digest is from before the build");
        fs::write(&file, "2").unwrap();
        built.record("a", [file], later);
        assert!(!is_same(&built), "it keeps the digest from before the build");
    }
}
