//! What a component was built from, kept beside it, so that an unchanged source is not built again. Some builders take long, and give
//! other bytes each time, which would be compiled again.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use data_encoding::HEXLOWER;

use super::{inputs::digest_folder, source::PluginSource, steps::StepBuild, tool_folder::TOOL_FOLDER};

/// Name of the file, in the folder of tools.
const FILE: &str = "inputs";

/// Inputs of a build, before it runs.
#[derive(Debug)]
pub(super) struct BuiltInputs {
    file: PathBuf,
    text: String,
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
        for step in &build.steps {
            text.push_str(&format!("\n{} {}", step.program.display(), step.arguments.join(" ")));
        }
        Some(Self { file: tools.join(FILE), text })
    }

    /// Whether the component was built from the same.
    pub(super) fn are_built(&self, artifact: &Path) -> bool {
        artifact.is_file() && fs::read_to_string(&self.file).is_ok_and(|built| built == self.text)
    }

    /// Forgets from what the component was built: a build that fails may have written a part.
    pub(super) fn forget(&self) {
        // It may be missing.
        let _ = fs::remove_file(&self.file);
    }

    /// Keeps that the component was built from these.
    pub(super) fn keep(&self) -> io::Result<()> {
        fs::write(&self.file, &self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::{source::SourceBuilder, steps::BuildStep};

    #[test]
    fn only_changed_inputs_lead_to_a_build() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().to_owned();
        let put = |file: &str, text: &str| {
            let path = folder.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let source = |artifact: &str, step: &str| PluginSource {
            name: "notes".to_owned(),
            folder: folder.clone(),
            builder: SourceBuilder::Steps(StepBuild {
                steps: vec![BuildStep::new("python", [step.to_owned()])],
                artifact: folder.join(artifact),
                watch: Vec::new(),
            }),
            is_guard: false,
        };
        let read = |artifact: &str, step: &str| {
            let source = source(artifact, step);
            BuiltInputs::read(&source, source.as_steps().unwrap(), &folder.join("out"))
        };
        let (artifact, ours) = (folder.join(".loggia/notes.wasm"), ".loggia/notes.wasm");
        put("app.py", "1");
        put(ours, "component");
        let inputs = read(ours, "build").unwrap();
        assert!(!inputs.are_built(&artifact));
        inputs.keep().unwrap();
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
}
