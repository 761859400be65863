//! Finds the sources of plugins under a path.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use super::{
    cargo::{CrateMetadata, read_metadata},
    error::BuildError,
    manifest, python, script,
    source::{CrateSource, PluginSource, SourceBuilder},
    tool_output::is_output,
};

/// Folders below the path that are looked at.
const DEPTH: usize = 4;

/// Finds the sources of plugins under a path: in each folder, what its `plugin.toml` says, or else a crate, a Python or a
/// JavaScript project.
///
/// # Errors
///
/// If there are none, a manifest is invalid, or two plugins have one name.
pub fn find_sources(path: &Path) -> Result<Vec<PluginSource>, BuildError> {
    let path = fs::canonicalize(path).map_err(|_| BuildError::Nothing(path.to_owned()))?;
    let mut sources = BTreeSet::new();
    let mut folders = vec![(path.clone(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        let found = match manifest::read_source(&folder)? {
            Some(source) => Some(source),
            None if folder.join("Cargo.toml").is_file() => {
                add_crates(&folder, &path, &mut sources)?;
                None
            }
            None => match script::read_source(&folder)? {
                Some(source) => Some(source),
                None => python::read_source(&folder)?,
            },
        };
        // The folders of a project belong to its build. A crate's may contain other crates.
        if found.is_none() && depth < DEPTH {
            folders.extend(list_folders(&folder).map(|folder| (folder, depth + 1)));
        }
        sources.extend(found);
    }
    if sources.is_empty() {
        return Err(BuildError::Nothing(path));
    }
    let sources: Vec<PluginSource> = sources.into_iter().collect();
    // Sorted by name.
    match sources.windows(2).find(|pair| pair[0].name == pair[1].name) {
        Some([one, other]) => {
            let (name, one, other) = (one.name.clone(), one.folder.clone(), other.folder.clone());
            Err(BuildError::SameName { name, one, other })
        }
        _ => Ok(sources),
    }
}

/// Adds the plugin crates of a manifest and its workspace.
fn add_crates(folder: &Path, path: &Path, sources: &mut BTreeSet<PluginSource>) -> Result<(), BuildError> {
    let manifest = folder.join("Cargo.toml");
    let is_known =
        |source: &PluginSource| source.as_crate().is_some_and(|of_crate| of_crate.manifest == manifest);
    if sources.iter().any(is_known) {
        return Ok(());
    }
    let CrateMetadata { packages, workspace_root } = read_metadata(&manifest)?;
    // A workspace lists all its members; only those under the path are requested.
    let plugins = packages.into_iter().filter(|package| {
        let folder = package.manifest_path.parent().unwrap_or(&package.manifest_path);
        folder.starts_with(path) && package.is_plugin() && !manifest::is_built(folder)
    });
    sources.extend(plugins.map(|plugin| {
        let folder = plugin.manifest_path.parent().unwrap_or(folder).to_owned();
        PluginSource {
            is_guard: plugin.is_guard(),
            name: plugin.name.clone(),
            builder: SourceBuilder::Cargo(CrateSource {
                is_component_only: plugin.is_component_only(),
                manifest: plugin.manifest_path,
                id: plugin.id,
                workspace: workspace_root.clone(),
                watch: manifest::read_watch(&folder),
            }),
            folder,
        }
    }));
    Ok(())
}

/// Lists the folders in a folder, except hidden ones and those that tools write.
fn list_folders(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .filter(|entry| !is_output(&entry.file_name().to_string_lossy()))
        .map(|entry| entry.path())
        .filter(|path| !path.join("pyvenv.cfg").exists())
        .collect();
    folders.sort();
    folders.into_iter()
}
