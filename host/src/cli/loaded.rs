//! Plugins that are loaded without being served, for the commands that look at them.

use std::{collections::BTreeMap, path::Path, process::ExitCode, sync::Arc};

use anyhow::{Context, ensure};
use loggia_gate::catalog::{Entry, Slot};
use loggia_text::printable;

use super::{exit, runtime, term};
use crate::{
    reload::{Admitted, BlockedWorkflow, Claim, Composed, Facts, Found, Owners, scan, settle, stem},
    serve::{Host, Options},
};

/// One file, and what came of it.
pub struct Plugin {
    /// Its name.
    pub file: String,
    /// What would be served; or why nothing would be.
    pub loaded: Result<(Arc<Entry>, Facts), String>,
    /// Of workflows.
    composed: Option<Arc<Composed>>,
    /// Whether its policy gives it its name.
    name_given: bool,
    /// Its workflows that cannot run beside the plugins that were loaded with it.
    pub blocked: Vec<BlockedWorkflow>,
}

/// Loads a file, or all of a folder, as a host would that serves it. Empty if there is no plugin there.
pub fn load(path: &Path, options: &Options) -> anyhow::Result<Vec<Plugin>> {
    let files = files(path)?;
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let host = Host::new(options)?;
    Ok(runtime()?.block_on(loaded(&host, files)))
}

/// Loads all of a folder into a host that there is.
pub async fn of_folder(host: &Host, folder: &Path) -> anyhow::Result<Vec<Plugin>> {
    Ok(loaded(host, files(folder)?).await)
}

async fn loaded(host: &Host, files: BTreeMap<String, Found>) -> Vec<Plugin> {
    let mut plugins = Vec::new();
    for (file, found) in files {
        let (loaded, composed, name_given) = match host.loader.admit(&found, None).await {
            Ok(Admitted { entry, composed, grants, facts }) => {
                (Ok((Arc::new(entry), facts)), composed, grants.name_given)
            }
            Err(error) => (Err(format!("does not load: {error}")), None, false),
        };
        plugins.push(Plugin { file, loaded, composed, name_given, blocked: Vec::new() });
    }
    // The record of names is read and never written: to look takes no name.
    let owners = Owners::of(plugins.iter().map(Plugin::claim), &Owners::default(), &host.loader.names());
    for plugin in &mut plugins {
        if let Some(refusal) = plugin.name().and_then(|name| owners.refusal(&plugin.file, name)) {
            plugin.loaded = Err(refusal);
            plugin.composed = None;
        }
    }
    let slots = slots(&plugins);
    let workflows = plugins.iter_mut().filter_map(|plugin| {
        let (entry, _) = plugin.loaded.as_mut().ok()?;
        Some((&**plugin.composed.as_ref()?, entry))
    });
    let beside = settle(workflows.collect(), slots);
    for plugin in &mut plugins {
        plugin.blocked =
            plugin.composed.as_ref().map(|composed| composed.blocked(&beside)).unwrap_or_default();
    }
    plugins
}

/// What a command says and ends with where there is no plugin.
pub fn nothing(path: &Path) -> ExitCode {
    term::note(&format!("no plugins: there is no .wasm or .workflow.yaml file in {}", path.display()));
    ExitCode::from(exit::NOTHING)
}

/// The catalog's slots, if these plugins were served.
pub fn slots(plugins: &[Plugin]) -> BTreeMap<String, Slot> {
    let serving = plugins.iter().filter_map(|plugin| plugin.loaded.as_ref().ok());
    serving.map(|(entry, _)| (entry.surface().name.clone(), Slot::Serving(Arc::clone(entry)))).collect()
}

impl Plugin {
    /// Its file's name without the ending: that of its policy.
    pub fn stem(&self) -> &str {
        stem(&self.file)
    }

    /// The name that it claims. One that does not load keeps that of its file.
    fn claim(&self) -> Claim<'_> {
        let name = self.name().unwrap_or(self.stem());
        Claim { file: &self.file, name, given: self.name_given, loads: self.loaded.is_ok() }
    }

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
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(BTreeMap::from([(name, Found::at(path)?)]))
}
