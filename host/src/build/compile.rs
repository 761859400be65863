//! Crates to components.
//!
//! The crates of a workspace are compiled by one cargo, which compiles what they share once, and uses all cores.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde::Deserialize;

use super::{
    cargo::cargo,
    error::{BuildError, TARGET},
    source::PluginSource,
};

/// Size-optimised profile, like `guest` of this repository; passed on the command line, so that an author's crate needs
/// no profile. Keeps the name section, so that backtraces of traps name functions. A guest begins with a heap of 1 MiB: growing
/// it later costs each call several system calls.
const PROFILE: &[&str] = &[
    "profile.loggia-guest.inherits='release'",
    "profile.loggia-guest.opt-level='s'",
    "profile.loggia-guest.lto=true",
    "profile.loggia-guest.codegen-units=1",
    "profile.loggia-guest.panic='abort'",
    "profile.loggia-guest.debug=false",
    "profile.loggia-guest.strip='debuginfo'",
    "target.wasm32-wasip2.rustflags=['-Clink-arg=--initial-heap=1048576']",
];

/// Compiles crates, and passes each component on as soon as it is there. Crates that fail are left out; the others are compiled
/// all the same.
pub fn compile_sources(
    sources: &[PluginSource],
    mut built: impl FnMut(&PluginSource, &Path) -> Result<(), BuildError>,
) -> Result<(), BuildError> {
    for build in plan_builds(sources) {
        let mut child = build.command().spawn().map_err(|e| BuildError::Tool("cargo", e))?;
        let mut placed = Ok(());
        if let Some(stdout) = child.stdout.take() {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                let Some((source, component)) = build.component(&line) else { continue };
                // Cargo ends by itself; its output is read to the end, so that it does not block.
                placed = placed.and_then(|()| built(source, &component));
            }
        }
        child.wait().map_err(|e| BuildError::Tool("cargo", e))?;
        placed?;
    }
    Ok(())
}

/// One run of cargo.
#[derive(Debug, PartialEq)]
enum CrateBuild<'a> {
    /// Crates of one workspace.
    Together(Vec<&'a PluginSource>),
    /// A crate that also has another kind of library, which is left out.
    Alone(&'a PluginSource),
}

/// Plans the runs of cargo, in the order of the workspaces.
fn plan_builds(sources: &[PluginSource]) -> Vec<CrateBuild<'_>> {
    let mut together: BTreeMap<&Path, Vec<&PluginSource>> = BTreeMap::new();
    for source in sources.iter().filter(|source| source.is_component_only) {
        together.entry(&source.workspace).or_default().push(source);
    }
    let alone = sources.iter().filter(|source| !source.is_component_only);
    together.into_values().map(CrateBuild::Together).chain(alone.map(CrateBuild::Alone)).collect()
}

impl CrateBuild<'_> {
    fn command(&self) -> Command {
        let mut command = cargo();
        match self {
            Self::Together(sources) => {
                command.args(["build", "--lib", "--keep-going", "--manifest-path"]);
                command.arg(&sources[0].manifest);
                command.args(sources.iter().flat_map(|source| ["--package", &source.id]));
            }
            Self::Alone(source) => {
                command.args(["rustc", "--lib", "--crate-type", "cdylib", "--manifest-path"]);
                command.arg(&source.manifest);
            }
        }
        command
            .args(["--profile", "loggia-guest", "--target", TARGET])
            .args(PROFILE.iter().flat_map(|setting| ["--config", setting]))
            .args(["--message-format", "json-render-diagnostics"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        command
    }

    /// Finds the component that a line of cargo's output names.
    fn component(&self, line: &str) -> Option<(&PluginSource, PathBuf)> {
        let Message { manifest_path, filenames } = serde_json::from_str(line).ok()?;
        let sources = match self {
            Self::Together(sources) => sources.as_slice(),
            Self::Alone(source) => std::slice::from_ref(source),
        };
        let source = sources.iter().find(|source| Some(&source.manifest) == manifest_path.as_ref())?;
        let component =
            filenames.into_iter().find(|file| file.extension().is_some_and(|end| end == "wasm"))?;
        Some((source, component))
    }
}

/// Messages of cargo that name artifacts.
#[derive(Deserialize)]
struct Message {
    manifest_path: Option<PathBuf>,
    #[serde(default)]
    filenames: Vec<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crates_of_a_workspace_are_built_together() {
        let source = |name: &str, workspace: &str, is_component_only| PluginSource {
            workspace: workspace.into(),
            is_component_only,
            ..PluginSource::example(name, Path::new(workspace))
        };
        let sources = [
            source("a", "/one", true),
            source("b", "/two", true),
            source("c", "/one", true),
            source("d", "/one", false),
        ];
        let [a, b, c, d] = &sources;
        let expected =
            [CrateBuild::Together(vec![a, c]), CrateBuild::Together(vec![b]), CrateBuild::Alone(d)];
        assert_eq!(plan_builds(&sources), expected);

        let line = |manifest: &str, file: &str| {
            serde_json::json!({"manifest_path": manifest, "filenames": ["/t/c.d", file]}).to_string()
        };
        let found =
            |line: &str| expected[0].component(line).map(|(source, file)| (source.name.clone(), file));
        assert_eq!(
            found(&line("/one/c/Cargo.toml", "/t/c.wasm")),
            Some(("c".to_owned(), "/t/c.wasm".into()))
        );
        assert_eq!(found(&line("/one/d/Cargo.toml", "/t/d.wasm")), None);
        assert_eq!(found(&line("/one/c/Cargo.toml", "/t/build-script")), None);
        assert_eq!(found("not JSON"), None);
    }
}
