//! Plugins that are loaded without being served, for the commands that look at them.

use std::{collections::BTreeMap, path::Path, process::ExitCode, sync::Arc};

use anyhow::{Context, ensure};

use super::{exit, runtime, term};
use crate::{
    catalog::{Entry, Slot},
    gate::printable,
    reload::{Facts, Found, Owners, scan},
    serve::{Host, Options},
};

/// One file, and what came of it.
pub struct Plugin {
    /// Its name without the ending.
    pub file: String,
    /// What would be served; or why nothing would be.
    pub loaded: Result<(Arc<Entry>, Facts), String>,
}

/// Loads a file, or all of a folder, as a host would that serves it. Empty if there is no plugin there.
pub fn load(path: &Path, options: &Options) -> anyhow::Result<Vec<Plugin>> {
    let files = files(path)?;
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let host = Host::new(options)?;
    let mut plugins = runtime()?.block_on(async {
        let mut plugins = Vec::new();
        for (file, found) in files {
            let loaded = match host.loader.admit(&found, None).await {
                Ok(admitted) => Ok((Arc::new(admitted.entry), admitted.facts)),
                Err(error) => Err(format!("does not load: {error}")),
            };
            plugins.push(Plugin { file, loaded });
        }
        plugins
    });
    let claims = plugins.iter().filter_map(|plugin| Some((plugin.file.as_str(), plugin.name()?)));
    let owners = Owners::of(claims, &Owners::default());
    for plugin in &mut plugins {
        if let Some(refusal) = plugin.name().and_then(|name| owners.refusal(&plugin.file, name)) {
            plugin.loaded = Err(refusal);
        }
    }
    Ok(plugins)
}

/// What a command says and ends with where there is no plugin.
pub fn nothing(path: &Path) -> ExitCode {
    term::note(&format!("no plugins: there is no .wasm file in {}", path.display()));
    ExitCode::from(exit::NOTHING)
}

/// The catalog's slots, if these plugins were served.
pub fn slots(plugins: &[Plugin]) -> BTreeMap<String, Slot> {
    let serving = plugins.iter().filter_map(|plugin| plugin.loaded.as_ref().ok());
    serving.map(|(entry, _)| (entry.surface().name.clone(), Slot::Serving(Arc::clone(entry)))).collect()
}

impl Plugin {
    /// The facade's name, if it loads.
    fn name(&self) -> Option<&str> {
        self.loaded.as_ref().ok().map(|(entry, _)| entry.surface().name.as_str())
    }

    /// Why it would not be served, on one line.
    pub fn refusal(&self) -> Option<String> {
        self.loaded.as_ref().err().map(|why| printable(why).into_owned())
    }
}

fn files(path: &Path) -> anyhow::Result<BTreeMap<String, Found>> {
    ensure!(path.exists(), "there is no {}", path.display());
    if path.is_dir() {
        return scan(path).with_context(|| format!("failed to read {}", path.display()));
    }
    let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(BTreeMap::from([(name, Found::at(path)?)]))
}
