//! Crates to components.
//!
//! The crates of a workspace are compiled by one cargo, which compiles what they share once, and uses all cores.

use std::{
    collections::BTreeMap,
    io::{self, BufRead, BufReader, IsTerminal, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde::Deserialize;

use super::{
    cargo::cargo,
    error::{BuildError, TARGET},
    reason::{CompileError, CompilerMessage, describe_errors},
    source::{CrateSource, PluginSource},
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

/// The same with source lines. A profile of its own, so that neither build discards the other's.
const PROFILE_WITH_LINES: &[&str] = &[
    "profile.loggia-guest-lines.inherits='loggia-guest'",
    "profile.loggia-guest-lines.debug='line-tables-only'",
    "profile.loggia-guest-lines.strip='none'",
];

/// What a build is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuildPurpose {
    /// To be served: small.
    Serve,
    /// To be worked on: backtraces of traps name source lines.
    Debug,
}

/// Reason of a crate that does not compile without an error of the compiler: cargo printed it.
const CARGO_FAILED: &str = "cargo reports an error, which the terminal of the build shows";

/// Compiles crates, and passes each component on as soon as it is there. Crates that fail are left out; the others are compiled
/// all the same. Cargo's output and that of the compiler go to stderr. Returns for each crate that was not built the reason, on
/// one line, without paths of this machine.
pub fn compile_sources(
    sources: &[&PluginSource],
    purpose: BuildPurpose,
    mut built: impl FnMut(&PluginSource, &Path) -> Result<(), BuildError>,
) -> Result<Vec<(String, String)>, BuildError> {
    let mut failed = Vec::new();
    for build in plan_builds(sources) {
        let mut child = build.command(purpose).spawn().map_err(|e| BuildError::Tool("cargo", e))?;
        let mut placed = Ok(());
        let mut missing = build.sources().to_vec();
        let mut errors: Vec<(Option<PathBuf>, CompileError)> = Vec::new();
        if let Some(stdout) = child.stdout.take() {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                let Ok(message) = serde_json::from_str::<Message>(&line) else { continue };
                if let Some(text) = message.message.as_ref().and_then(|message| message.rendered.as_ref()) {
                    // A closed terminal does not stop a build.
                    let _ = io::stderr().write_all(text.as_bytes());
                }
                if let Some(error) = message.message.as_ref().and_then(CompilerMessage::to_error) {
                    errors.push((message.manifest_path.clone(), error));
                }
                let Some((source, component)) = build.component(message) else { continue };
                missing.retain(|other| *other != source);
                // Cargo ends by itself; its output is read to the end, so that it does not block.
                placed = placed.and_then(|()| built(source, &component));
            }
        }
        child.wait().map_err(|e| BuildError::Tool("cargo", e))?;
        placed?;
        failed.extend(missing.into_iter().map(|source| (source.name.clone(), explain(source, &errors))));
    }
    Ok(failed)
}

/// Explains why a crate was not built: by its own errors, or else by those of the crates that it needs.
fn explain(source: &PluginSource, errors: &[(Option<PathBuf>, CompileError)]) -> String {
    let Some(CrateSource { manifest, workspace, .. }) = source.as_crate() else { return CARGO_FAILED.into() };
    let (own, others): (Vec<_>, Vec<_>) =
        errors.iter().cloned().partition(|(of, _)| of.as_ref() == Some(manifest));
    let errors = if own.is_empty() { others } else { own };
    let errors: Vec<CompileError> = errors.into_iter().map(|(_, error)| error).collect();
    describe_errors(&errors, workspace).unwrap_or_else(|| CARGO_FAILED.into())
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
fn plan_builds<'a>(sources: &[&'a PluginSource]) -> Vec<CrateBuild<'a>> {
    let mut together: BTreeMap<&Path, Vec<&PluginSource>> = BTreeMap::new();
    let mut alone = Vec::new();
    for source in sources {
        match source.as_crate() {
            Some(CrateSource { is_component_only: true, workspace, .. }) => {
                together.entry(workspace).or_default().push(source);
            }
            Some(_) => alone.push(CrateBuild::Alone(source)),
            None => {}
        }
    }
    together.into_values().map(CrateBuild::Together).chain(alone).collect()
}

impl<'a> CrateBuild<'a> {
    fn sources(&self) -> &[&'a PluginSource] {
        match self {
            Self::Together(sources) => sources,
            Self::Alone(source) => std::slice::from_ref(source),
        }
    }

    fn command(&self, purpose: BuildPurpose) -> Command {
        let mut command = cargo();
        match self {
            Self::Together(_) => command.args(["build", "--lib", "--keep-going"]),
            Self::Alone(_) => command.args(["rustc", "--lib", "--crate-type", "cdylib"]),
        };
        let crates: Vec<&CrateSource> =
            self.sources().iter().filter_map(|source| source.as_crate()).collect();
        command.args(
            crates.first().iter().flat_map(|first| ["--manifest-path".as_ref(), first.manifest.as_os_str()]),
        );
        if let Self::Together(_) = self {
            command.args(crates.iter().flat_map(|of_crate| ["--package", &of_crate.id]));
        }
        let format = if io::stderr().is_terminal() { "json-diagnostic-rendered-ansi" } else { "json" };
        let (profile, more) = match purpose {
            BuildPurpose::Serve => ("loggia-guest", &[][..]),
            BuildPurpose::Debug => ("loggia-guest-lines", PROFILE_WITH_LINES),
        };
        command
            .args(["--profile", profile, "--target", TARGET])
            .args(PROFILE.iter().chain(more).flat_map(|setting| ["--config", setting]))
            .args(["--message-format", format])
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        command
    }

    /// Finds the component that a message of cargo names.
    fn component(&self, message: Message) -> Option<(&'a PluginSource, PathBuf)> {
        let Message { manifest_path, filenames, .. } = message;
        let is_its = |source: &&PluginSource| {
            source.as_crate().is_some_and(|of_crate| Some(&of_crate.manifest) == manifest_path.as_ref())
        };
        let source = self.sources().iter().copied().find(is_its)?;
        let component =
            filenames.into_iter().find(|file| file.extension().is_some_and(|end| end == "wasm"))?;
        Some((source, component))
    }
}

/// Messages of cargo: those that name artifacts, and those of the compiler.
#[derive(Deserialize)]
struct Message {
    manifest_path: Option<PathBuf>,
    #[serde(default)]
    filenames: Vec<PathBuf>,
    message: Option<CompilerMessage>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::SourceBuilder;

    #[test]
    fn crates_of_a_workspace_are_built_together() {
        let source = |name: &str, workspace: &str, is_component_only| {
            let mut source = PluginSource::example(name, Path::new(workspace));
            if let SourceBuilder::Cargo(of_crate) = &mut source.builder {
                of_crate.workspace = workspace.into();
                of_crate.is_component_only = is_component_only;
            }
            source
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
        assert_eq!(plan_builds(&[a, b, c, d]), expected);

        let found = |manifest: &str, file: &str| {
            let line = serde_json::json!({"manifest_path": manifest, "filenames": ["/t/c.d", file]});
            let message = serde_json::from_value(line).unwrap();
            expected[0].component(message).map(|(source, file)| (source.name.clone(), file))
        };
        assert_eq!(found("/one/c/Cargo.toml", "/t/c.wasm"), Some(("c".to_owned(), "/t/c.wasm".into())));
        assert_eq!(found("/one/d/Cargo.toml", "/t/d.wasm"), None);
        assert_eq!(found("/one/c/Cargo.toml", "/t/build-script"), None);
    }

    #[test]
    fn a_crate_fails_for_its_own_errors_first() {
        let source = PluginSource::example("a", Path::new("/one"));
        let error = |manifest: &str, text: &str| {
            let json = serde_json::json!({"level": "error", "message": text, "code": null, "spans": [], "rendered": null});
            let message: CompilerMessage = serde_json::from_value(json).unwrap();
            (Some(PathBuf::from(manifest)), message.to_error().unwrap())
        };
        let (own, other) = (error("/one/a/Cargo.toml", "own"), error("/one/b/Cargo.toml", "other"));
        assert_eq!(explain(&source, &[other.clone(), own]), "error: own");
        assert_eq!(explain(&source, &[other]), "error: other");
        assert_eq!(explain(&source, &[]), CARGO_FAILED);
    }
}
