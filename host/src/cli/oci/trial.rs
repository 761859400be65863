//! Loads a component as a server would, apart from all other plugins.

use std::{fs, path::Path};

use anyhow::{Context, bail};
use loggia_serve::HostOptions;
use loggia_workbench::loaded::{LoadedPlugin, load_path};

/// A component that does not load.
#[derive(Debug, thiserror::Error)]
#[error("{0}; nothing was changed")]
pub struct LoadRefusal(String);

/// Loads a component under a file name, with the policy if there is one.
///
/// # Errors
///
/// [`LoadRefusal`] if it does not load; or that this could not be tried.
pub fn load_alone(
    file: &str,
    component: &[u8],
    policy: &Path,
    options: &HostOptions,
) -> anyhow::Result<LoadedPlugin> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join(file);
    fs::write(&path, component)?;
    if fs::symlink_metadata(policy).is_ok() {
        let copy = path.with_extension("toml");
        fs::copy(policy, copy).with_context(|| format!("failed to read {}", policy.display()))?;
    }
    // Names and stores in use are those of the real folder: this copy must not be a second owner.
    let options = HostOptions { state: folder.path().join("state"), ..options.clone().isolated() };
    let Some(plugin) = load_path(&path, &options)?.pop() else { bail!("the component was not loaded") };
    match plugin.refusal() {
        Some(why) => Err(LoadRefusal(format!("{file} {why}")).into()),
        None => Ok(plugin),
    }
}
