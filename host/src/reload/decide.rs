//! Pure: from what is held and what was found, what to do.

use std::collections::BTreeMap;

use super::{claims::Held, scan::Found};

/// One thing to do.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// Admit this version of this file.
    Load(String, Found),
    /// The file is gone.
    Unload(String),
}

/// What has to be done. A file that is `unsettled` (being written, or being admitted) is left for later.
pub fn decide(
    held: &BTreeMap<String, Held>,
    found: &BTreeMap<String, Found>,
    unsettled: impl Fn(&str) -> bool,
) -> Vec<Step> {
    let load = found.iter().filter(|(file, found)| {
        let tried = held.get(*file).and_then(Held::tried);
        !unsettled(file) && tried != Some(found)
    });
    let unload = held
        .iter()
        .filter(|(file, held)| held.tried().is_some() && !found.contains_key(*file) && !unsettled(file));
    let load = load.map(|(file, found)| Step::Load(file.clone(), found.clone()));
    load.chain(unload.map(|(file, _)| Step::Unload(file.clone()))).collect()
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::*;
    use crate::reload::{AdmitError, scan};

    fn tried(found: &Found) -> Held {
        let mut held = Held::default();
        held.attempted("x", found, Err(AdmitError::NotRegular));
        held
    }

    /// The steps, as words.
    fn steps(held: &BTreeMap<String, Held>, folder: &Path, unsettled: &str) -> Vec<String> {
        let steps = decide(held, &scan(folder).unwrap(), |file| file == unsettled);
        let words = steps.iter().map(|step| match step {
            Step::Load(file, _) => format!("load {file}"),
            Step::Unload(file) => format!("unload {file}"),
        });
        words.collect()
    }

    #[test]
    fn what_changed_is_loaded_and_what_is_gone_is_unloaded() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        for (name, text) in
            [("a.wasm", "1"), ("b.wasm", "1"), ("b.toml", ""), (".c.wasm", "1"), ("d.txt", "1")]
        {
            fs::write(path.join(name), text).unwrap();
        }
        let held = BTreeMap::new();
        assert_eq!(steps(&held, path, ""), ["load a", "load b"]);
        assert_eq!(steps(&held, path, "a"), ["load b"], "a is being written");

        let found = scan(path).unwrap();
        let held: BTreeMap<_, _> = found.iter().map(|(file, found)| (file.clone(), tried(found))).collect();
        assert_eq!(
            steps(&held, path, ""),
            [""; 0],
            "a version that was tried is not tried again, even if it failed"
        );

        fs::write(path.join("b.toml"), "[limits]").unwrap();
        assert_eq!(steps(&held, path, ""), ["load b"], "a changed policy is a new version");
        fs::remove_file(path.join("b.toml")).unwrap();
        assert_eq!(steps(&held, path, ""), ["load b"], "and so is none");
        fs::remove_file(path.join("a.wasm")).unwrap();
        assert_eq!(steps(&held, path, ""), ["load b", "unload a"]);
        assert_eq!(steps(&held, path, "a"), ["load b"], "a may be about to come back");
    }
}
