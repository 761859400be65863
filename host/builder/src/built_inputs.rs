//! What a component was built from, kept beside it, so that an unchanged source is not built again. Some builders take long, and give
//! other bytes each time, which would be compiled again.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use data_encoding::HEXLOWER;

use super::{
    depfile::read_outside,
    inputs::{digest_folder, digest_watched},
    outside_inputs::OutsideInputs,
    source::PluginSource,
    steps::StepBuild,
    tool_folder::TOOL_FOLDER,
};

/// Name of the file, in the folder of tools.
const FILE: &str = "inputs";

/// Inputs of a build, before it runs.
#[derive(Debug)]
pub(super) struct BuiltInputs {
    file: PathBuf,
    name: String,
    folder: PathBuf,
    begun: SystemTime,
    /// Those below the folder, and the commands.
    text: String,
    /// Those outside it from which the component was built last.
    outside: OutsideInputs,
}

impl BuiltInputs {
    /// Reads the inputs of a source; `None` if its command is the author's own, and may depend on anything. Cases of tests, the output
    /// folders and the policy are no inputs.
    pub(super) fn read(source: &PluginSource, build: &StepBuild, out: &Path) -> Option<Self> {
        let tools = source.folder.join(TOOL_FOLDER);
        if build.artifact.parent() != Some(&tools) {
            return None;
        }
        let out = fs::canonicalize(out).unwrap_or_else(|_| out.to_owned());
        let beside = ["dist", "tests"].map(|name| source.folder.join(name));
        let policy = source.folder.join(format!("{}.toml", source.name));
        let digest = digest_folder(&source.folder, &[&out, &beside[0], &beside[1], &policy]);
        let mut text = HEXLOWER.encode(&digest);
        // Git may ignore what is watched. The other files still count, since the component consists of them.
        if !build.watch.is_empty() {
            text.push_str(&format!("\n{}", HEXLOWER.encode(&digest_watched(source, build, &out))));
        }
        for step in &build.steps {
            text.push_str(&format!("\n{} {}", step.program.display(), step.arguments.join(" ")));
        }
        let (name, folder, begun) = (source.name.clone(), source.folder.clone(), SystemTime::now());
        let mut outside = OutsideInputs::default();
        outside.record(&name, read_outside(&build.artifact, &folder), begun);
        Some(Self { file: tools.join(FILE), name, folder, begun, text, outside })
    }

    /// Whether the component was built from the same.
    pub(super) fn are_built(&self, artifact: &Path) -> bool {
        artifact.is_file() && fs::read_to_string(&self.file).is_ok_and(|built| built == self.whole_text())
    }

    /// Forgets from what the component was built: a build that fails may have written a part.
    pub(super) fn forget(&self) {
        // It may be missing.
        let _ = fs::remove_file(&self.file);
    }

    /// Keeps that the component was built from these, and from the files outside the folder that its builder lists now. One that was
    /// saved during the build leads to another.
    pub(super) fn keep(mut self, artifact: &Path) -> io::Result<()> {
        self.outside.record(&self.name, read_outside(artifact, &self.folder), self.begun);
        fs::write(&self.file, self.whole_text())
    }

    fn whole_text(&self) -> String {
        let mut text = self.text.clone();
        for (file, digest) in self.outside.digests(&self.name) {
            let digest = digest.map_or_else(|| "missing".to_owned(), |digest| HEXLOWER.encode(digest));
            text.push_str(&format!("\n{digest} {}", file.display()));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{source::SourceBuilder, steps::BuildStep};

    /// Writes a file below a folder.
    fn put(folder: &Path, file: &str, text: &str) {
        let path = folder.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// The inputs of a source that one step builds.
    fn read(folder: &Path, artifact: &str, step: &str, watch: &[&str]) -> Option<BuiltInputs> {
        let source = PluginSource {
            name: "notes".to_owned(),
            folder: folder.to_owned(),
            builder: SourceBuilder::Steps(StepBuild {
                steps: vec![BuildStep::new("python", [step.to_owned()])],
                artifact: folder.join(artifact),
                watch: watch.iter().map(|pattern| (*pattern).to_owned()).collect(),
            }),
            is_guard: false,
        };
        BuiltInputs::read(&source, source.as_steps().unwrap(), &folder.join("out"))
    }

    #[test]
    fn only_changed_inputs_lead_to_a_build() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().to_owned();
        let put = |file: &str, text: &str| put(&folder, file, text);
        let read = |artifact: &str, step: &str| read(&folder, artifact, step, &[]);
        let (artifact, ours) = (folder.join(".loggia/notes.wasm"), ".loggia/notes.wasm");
        put("app.py", "1");
        put(ours, "component");
        let inputs = read(ours, "build").unwrap();
        assert!(!inputs.are_built(&artifact));
        inputs.keep(&artifact).unwrap();
        for (file, text) in [
            ("tests/notes.yaml", "1"),
            ("dist/notes.wasm", "1"),
            ("out/notes.wasm", "1"),
            ("notes.toml", "1"),
        ] {
            put(file, text);
            assert!(read(ours, "build").unwrap().are_built(&artifact), "{file}");
        }
        assert!(!read(ours, "other").unwrap().are_built(&artifact));
        put("data.json", "1");
        assert!(!read(ours, "build").unwrap().are_built(&artifact));
        fs::remove_file(folder.join("data.json")).unwrap();
        fs::remove_file(&artifact).unwrap();
        assert!(!read(ours, "build").unwrap().are_built(&artifact));
        assert!(read("notes.wasm", "make").is_none(), "the author's own command");
    }

    #[test]
    fn watched_files_count_though_git_ignores_them() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path();
        for (file, text) in [(".gitignore", "*.sql\n"), (".loggia/notes.wasm", "component"), ("app.py", "1")]
        {
            put(folder, file, text);
        }
        let read = |watch: &[&str]| read(folder, ".loggia/notes.wasm", "build", watch).unwrap();
        for (file, watch, is_built) in [
            ("ignored.sql", &[][..], true),
            ("watched.sql", &["*.sql"], false),
            ("other.sql", &["watched.*"], true),
            // What is not watched is built in all the same.
            ("data.json", &["*.sql"], false),
            ("notes.toml", &["*"], true),
        ] {
            let artifact = folder.join(".loggia/notes.wasm");
            read(watch).keep(&artifact).unwrap();
            put(folder, file, "1");
            assert_eq!(read(watch).are_built(&artifact), is_built, "{file} {watch:?}");
        }
    }

    #[test]
    fn listed_files_outside_the_folder_count() {
        let root = tempfile::tempdir().unwrap();
        let (folder, ours) = (root.path().join("notes"), ".loggia/notes.wasm");
        let (artifact, shared) = (folder.join(ours), root.path().join("shared/a.js"));
        put(&folder, ours, "component");
        put(root.path(), "shared/a.js", "1");
        let read = || read(&folder, ours, "build", &[]).unwrap();
        let before = read();
        // The builder writes its list.
        put(&folder, ".loggia/notes.d", "notes.wasm: ../shared/a.js index.js\n");
        before.keep(&artifact).unwrap();
        assert!(read().are_built(&artifact));
        fs::write(&shared, "2").unwrap();
        assert!(!read().are_built(&artifact));
        let during = read();
        fs::write(&shared, "3").unwrap();
        during.keep(&artifact).unwrap();
        assert!(!read().are_built(&artifact), "it was saved during the build");
        read().keep(&artifact).unwrap();
        fs::remove_file(&shared).unwrap();
        assert!(!read().are_built(&artifact));
    }
}
