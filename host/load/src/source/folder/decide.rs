//! Pure: compares known files with a scan and decides what to load and unload.

use std::collections::BTreeMap;

use tokio::time::Instant;

use super::file_state::FileState;
use crate::plugin_files::PluginFiles;

/// One step towards the scanned state.
#[derive(Debug, PartialEq, Eq)]
pub enum LoadStep {
    /// Admits this version of this file.
    Load(String, PluginFiles),
    /// Unloads a removed file.
    Unload(String),
}

/// Decides the steps. Skips files that are `unsettled`: being written or admitted.
pub fn decide(
    held: &BTreeMap<String, FileState>,
    found: &BTreeMap<String, PluginFiles>,
    now: Instant,
    unsettled: impl Fn(&str) -> bool,
) -> Vec<LoadStep> {
    let load = found.iter().filter(|(file, found)| {
        !unsettled(file) && !held.get(*file).is_some_and(|held| held.is_up_to_date(found, now))
    });
    let unload =
        held.iter().filter(|(file, held)| held.has_file() && !found.contains_key(*file) && !unsettled(file));
    let load = load.map(|(file, found)| LoadStep::Load(file.clone(), found.clone()));
    load.chain(unload.map(|(file, _)| LoadStep::Unload(file.clone()))).collect()
}

#[cfg(test)]
mod tests {
    use std::{fs, io, path::Path, time::Duration};

    use super::{super::scan::scan_folder, *};
    use crate::{admit::AdmitError, pins::PinKeeper};

    fn tried(found: &PluginFiles, error: AdmitError, took: Duration) -> FileState {
        let mut held = FileState::default();
        held.record_attempt("x", found, Err(error), took, &PinKeeper::unpinned());
        held
    }

    /// Steps as text.
    fn steps(held: &BTreeMap<String, FileState>, folder: &Path, unsettled: &str) -> Vec<String> {
        let steps = decide(held, &scan_folder(folder).unwrap(), Instant::now(), |file| file == unsettled);
        let words = steps.iter().map(|step| match step {
            LoadStep::Load(file, _) => format!("load {file}"),
            LoadStep::Unload(file) => format!("unload {file}"),
        });
        words.collect()
    }

    #[test]
    fn changed_files_load_and_removed_files_unload() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        for (name, text) in
            [("a.wasm", "1"), ("b.wasm", "1"), ("b.toml", ""), (".c.wasm", "1"), ("d.txt", "1")]
        {
            fs::write(path.join(name), text).unwrap();
        }
        let held = BTreeMap::new();
        assert_eq!(steps(&held, path, ""), ["load a.wasm", "load b.wasm"]);
        assert_eq!(steps(&held, path, "a.wasm"), ["load b.wasm"], "a is being written");

        let found = scan_folder(path).unwrap();
        let tried = |found| tried(found, AdmitError::NotRegular, Duration::ZERO);
        let held: BTreeMap<_, _> = found.iter().map(|(file, found)| (file.clone(), tried(found))).collect();
        assert_eq!(
            steps(&held, path, ""),
            [""; 0],
            "a version that was tried is not tried again, even if it failed"
        );

        fs::write(path.join("b.toml"), "[limits]").unwrap();
        assert_eq!(steps(&held, path, ""), ["load b.wasm"], "a changed policy is a new version");
        fs::remove_file(path.join("b.toml")).unwrap();
        assert_eq!(steps(&held, path, ""), ["load b.wasm"], "and so is none");
        fs::remove_file(path.join("a.wasm")).unwrap();
        assert_eq!(steps(&held, path, ""), ["load b.wasm", "unload a.wasm"]);
        assert_eq!(steps(&held, path, "a.wasm"), ["load b.wasm"], "a may be about to come back");
    }

    #[test]
    fn transient_failures_are_retried_later_if_slower() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.wasm"), "1").unwrap();
        let found = scan_folder(folder.path()).unwrap();
        let check = |error: AdmitError, took: u64, after: u64, expected: usize| {
            let held = BTreeMap::from([(
                "a.wasm".to_owned(),
                tried(&found["a.wasm"], error, Duration::from_secs(took)),
            )]);
            let now = Instant::now() + Duration::from_secs(after);
            assert_eq!(decide(&held, &found, now, |_| false).len(), expected, "{took} s, {after} s later");
        };
        let passing = || AdmitError::Read(io::ErrorKind::PermissionDenied.into());
        check(passing(), 0, 29, 0);
        check(passing(), 0, 30, 1);
        check(passing(), 100, 1999, 0);
        check(passing(), 100, 2000, 1);
        check(AdmitError::NotRegular, 0, 1_000_000, 0);
    }
}
