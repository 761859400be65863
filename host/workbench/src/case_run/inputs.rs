//! What a run of cases depends on: a save while it runs leads to another run.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

use loggia_builder::{InputDigest, InputSurvey, OutsideInputs, PluginSource, digest_folder};

/// The files of a watched folder, and those elsewhere from which its plugins were built.
pub struct RunInputs {
    folder: PathBuf,
    /// Where plugins are built.
    out: PathBuf,
    /// Files outside the folder from which plugins were built last.
    outside: OutsideInputs,
    /// The folder before the cases of the last run were located.
    located: InputDigest,
    /// What the last run was given, if it came so far.
    given: Option<GivenFiles>,
}

/// The files that a run was given.
struct GivenFiles {
    begun: SystemTime,
    /// True if a file was saved while the cases were located.
    is_outdated: bool,
    sources: Vec<PluginSource>,
    /// All files of the folder: cases, plugins, policies and sources.
    files: InputDigest,
    /// Sources, also where they are ignored, or outside the folder.
    survey: InputSurvey,
}

impl RunInputs {
    /// The inputs of runs in a folder, whose plugins are built into `out`.
    pub fn new(folder: &Path, out: &Path) -> Self {
        // Walks list absolute paths; that of a missing folder cannot be found out by the system.
        let out =
            fs::canonicalize(out).or_else(|_| std::path::absolute(out)).unwrap_or_else(|_| out.to_owned());
        let (outside, located) = (OutsideInputs::default(), InputDigest::default());
        Self { folder: folder.to_owned(), out, outside, located, given: None }
    }

    /// Begins a run, before its cases are located.
    pub fn begin(&mut self) {
        self.given = None;
        self.located = self.digest_all();
    }

    /// Reads what a run is given, before its plugins are built from these sources.
    pub fn read(&mut self, sources: Vec<PluginSource>) {
        let (begun, is_outdated) = (SystemTime::now(), self.digest_all() != self.located);
        let (files, survey) = self.read_files(&sources);
        self.given = Some(GivenFiles { begun, is_outdated, sources, files, survey });
    }

    /// Records from which files outside the folders of their sources plugins were built.
    pub fn record_outside(&mut self, outside: BTreeMap<String, BTreeSet<PathBuf>>) {
        let Some(given) = &mut self.given else { return };
        for (plugin, files) in outside {
            let files = files.into_iter().filter(|file| !file.starts_with(&self.folder));
            given.survey.outside.record(&plugin, files, given.begun);
        }
        self.outside = given.survey.outside.clone();
    }

    /// Whether files have other contents than the run was given.
    pub fn have_changed(&self) -> bool {
        let Some(given) = &self.given else { return self.digest_all() != self.located };
        let (files, survey) = self.read_files(&given.sources);
        given.is_outdated
            || files != given.files
            || !given.sources.iter().all(|source| survey.has_same(source, &given.survey))
    }

    /// Files outside the folder from which plugins were built last.
    pub fn outside_files(&self) -> BTreeSet<&Path> {
        self.outside.files()
    }

    fn digest_all(&self) -> InputDigest {
        digest_folder(&self.folder, &[&self.out])
    }

    fn read_files(&self, sources: &[PluginSource]) -> (InputDigest, InputSurvey) {
        let outputs: Vec<PathBuf> = sources.iter().flat_map(PluginSource::outputs).collect();
        let apart: Vec<&Path> = outputs.iter().chain([&self.out]).map(PathBuf::as_path).collect();
        let survey = InputSurvey::read(sources, &self.folder, &self.out, &self.outside);
        (digest_folder(&self.folder, &apart), survey)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loggia_builder::find_sources;

    #[test]
    fn a_save_changes_what_a_run_was_given_and_its_own_output_does_not() {
        let root = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(root.path()).unwrap();
        let (folder, out) = (root.join("plugins"), root.join("plugins/out"));
        let put = |file: &str, text: &str| {
            let path = folder.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        put("one/plugin.toml", "build = 'make'\nartifact = 'made.wasm'\nwatch = ['*.c', '*.sql']\n");
        put(".gitignore", "ignored.*\n");
        fs::write(root.join("shared.h"), "1").unwrap();
        let mut inputs = RunInputs::new(&folder, &out);
        for (file, expected) in [
            ("one/a.c", true),
            ("one/tests/one.yaml", true),
            ("one/ignored.sql", true),
            ("one/ignored.txt", false),
            ("other.wasm", true),
            ("one/made.wasm", false),
            ("one/made.d", false),
            ("one/.a.c.swp", false),
            ("one/target/a", false),
            ("out/one.wasm", false),
        ] {
            inputs.begin();
            inputs.read(find_sources(&folder).unwrap());
            inputs.record_outside(BTreeMap::from([("one".to_owned(), BTreeSet::new())]));
            assert!(!inputs.have_changed(), "before {file}");
            put(file, "new");
            assert_eq!(inputs.have_changed(), expected, "{file}");
        }
        let header = BTreeSet::from([root.join("shared.h")]);
        let record = |inputs: &mut RunInputs| {
            inputs.begin();
            inputs.read(find_sources(&folder).unwrap());
            inputs.record_outside(BTreeMap::from([("one".to_owned(), header.clone())]));
        };
        record(&mut inputs);
        record(&mut inputs);
        assert_eq!(inputs.outside_files(), header.iter().map(PathBuf::as_path).collect());
        assert!(!inputs.have_changed());
        fs::write(root.join("shared.h"), "2").unwrap();
        assert!(inputs.have_changed(), "a file outside the folder");
        inputs.begin();
        assert!(!inputs.have_changed(), "a run that was given nothing");
        put("one/tests/one.yaml", "corrected");
        assert!(inputs.have_changed(), "cases with mistakes that were corrected");
        inputs.begin();
        put("one/tests/one.yaml", "newer");
        inputs.read(find_sources(&folder).unwrap());
        assert!(inputs.have_changed(), "a save while cases were located");
    }
}
