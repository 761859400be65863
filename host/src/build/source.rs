//! Plugin crates, found under a path.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use super::{
    cargo::{CrateMetadata, read_metadata},
    error::BuildError,
};

/// A plugin crate.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PluginSource {
    /// Name of the crate and of its facade.
    pub name: String,
    /// Path of its `Cargo.toml`.
    pub manifest: PathBuf,
    /// Cargo's identifier of the crate.
    pub(super) id: String,
    /// Folder of its workspace: its own if it has none.
    pub(super) workspace: PathBuf,
    /// Whether its library is a component and nothing else.
    pub(super) is_component_only: bool,
}

impl PluginSource {
    /// A crate of its own in a folder.
    #[cfg(test)]
    pub(crate) fn example(name: &str, folder: &Path) -> Self {
        let own = folder.join(name);
        Self {
            name: name.to_owned(),
            manifest: own.join("Cargo.toml"),
            id: format!("path+file://{}#0.1.0", own.display()),
            workspace: own,
            is_component_only: true,
        }
    }

    /// Path of the policy in the crate's folder, if any.
    pub fn policy(&self) -> Option<PathBuf> {
        Some(self.manifest.with_file_name(format!("{}.toml", self.name))).filter(|policy| policy.is_file())
    }
}

/// Finds the plugin crates under a path.
///
/// # Errors
///
/// If there is none, or cargo rejects a manifest.
pub fn find_sources(path: &Path) -> Result<Vec<PluginSource>, BuildError> {
    let path = fs::canonicalize(path).map_err(|_| BuildError::Nothing(path.to_owned()))?;
    let mut sources = BTreeSet::new();
    for manifest in find_manifests(&path) {
        if sources.iter().any(|source: &PluginSource| source.manifest == manifest) {
            continue;
        }
        let CrateMetadata { packages, workspace_root } = read_metadata(&manifest)?;
        // A workspace lists all its members; only those under the path are requested.
        let plugins = packages.into_iter().filter(|p| p.manifest_path.starts_with(&path) && p.is_plugin());
        sources.extend(plugins.map(|plugin| PluginSource {
            is_component_only: plugin.is_component_only(),
            name: plugin.name,
            manifest: plugin.manifest_path,
            id: plugin.id,
            workspace: workspace_root.clone(),
        }));
    }
    if sources.is_empty() {
        return Err(BuildError::Nothing(path));
    }
    Ok(sources.into_iter().collect())
}

/// Finds every `Cargo.toml` under a path, except in outputs of cargo and of editors.
fn find_manifests(path: &Path) -> Vec<PathBuf> {
    const DEPTH: usize = 4;
    let mut found = Vec::new();
    let mut folders = vec![(path.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        let manifest = folder.join("Cargo.toml");
        if manifest.is_file() {
            found.push(manifest);
        }
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        let below = entries.filter(|entry| {
            let name = entry.file_name();
            let hidden = name.to_string_lossy().starts_with('.');
            depth < DEPTH && !hidden && name != "target" && entry.file_type().is_ok_and(|t| t.is_dir())
        });
        folders.extend(below.map(|entry| (entry.path(), depth + 1)));
    }
    found.sort();
    found
}
