//! What is built: the sources of one plugin, and how they become a component.

use std::path::{Path, PathBuf};

use super::{depfile::depfile_of, steps::StepBuild};

/// Sources of a plugin.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PluginSource {
    /// Name of the built file, without `.wasm`. For crates that use the SDK it is the facade's, too.
    pub name: String,
    /// Folder of the sources.
    pub folder: PathBuf,
    /// How they are built.
    pub(super) builder: SourceBuilder,
    /// Whether it is a guard, which is no plugin.
    pub(super) is_guard: bool,
}

/// How sources become a component.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SourceBuilder {
    /// By cargo, together with the other crates of the workspace.
    Cargo(CrateSource),
    /// By processes, one after the other.
    Steps(StepBuild),
}

/// A crate.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CrateSource {
    /// Path of its `Cargo.toml`.
    pub manifest: PathBuf,
    /// Cargo's identifier of the crate.
    pub id: String,
    /// Folder of its workspace: its own if it has none.
    pub workspace: PathBuf,
    /// Whether its library is a component and nothing else.
    pub is_component_only: bool,
    /// Patterns of the files that lead to a build; all files of its folder without any.
    pub watch: Vec<String>,
}

impl CrateSource {
    /// Manifest and lock of its workspace, if they are not in its own folder.
    pub(super) fn workspace_files(&self) -> impl Iterator<Item = PathBuf> {
        let is_member = self.manifest.parent() != Some(&*self.workspace);
        let files = is_member.then_some(["Cargo.toml", "Cargo.lock"]).into_iter().flatten();
        files.map(|file| self.workspace.join(file)).filter(|file| file.is_file())
    }
}

impl PluginSource {
    /// A crate of its own in a folder.
    #[cfg(any(test, feature = "testing"))]
    pub fn example(name: &str, folder: &Path) -> Self {
        let own = folder.join(name);
        Self {
            name: name.to_owned(),
            builder: SourceBuilder::Cargo(CrateSource {
                manifest: own.join("Cargo.toml"),
                id: format!("path+file://{}#0.1.0", own.display()),
                workspace: own.clone(),
                is_component_only: true,
                watch: Vec::new(),
            }),
            folder: own,
            is_guard: false,
        }
    }

    /// Path of the policy in the folder of the sources, if any.
    pub fn policy(&self) -> Option<PathBuf> {
        let file = format!("{}.toml", self.name);
        Some(self.folder.join(file)).filter(|policy| policy.is_file() && !is_manifest(policy))
    }

    /// The crate, if cargo builds it.
    pub(super) fn as_crate(&self) -> Option<&CrateSource> {
        match &self.builder {
            SourceBuilder::Cargo(of_crate) => Some(of_crate),
            SourceBuilder::Steps(_) => None,
        }
    }

    /// Whether cargo builds it.
    pub fn is_crate(&self) -> bool {
        self.as_crate().is_some()
    }

    /// The files that its build writes among its sources.
    pub fn outputs(&self) -> Vec<PathBuf> {
        let outputs = |build: &StepBuild| vec![build.artifact.clone(), depfile_of(&build.artifact)];
        self.as_steps().map(outputs).unwrap_or_default()
    }

    /// The processes that build it, unless cargo does.
    pub(super) fn as_steps(&self) -> Option<&StepBuild> {
        match &self.builder {
            SourceBuilder::Cargo(_) => None,
            SourceBuilder::Steps(steps) => Some(steps),
        }
    }
}

/// File that says how a plugin is built.
pub(super) const MANIFEST: &str = "plugin.toml";

fn is_manifest(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == MANIFEST)
}
