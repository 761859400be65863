//! Plugins that are loaded without being served, for the commands that look at them.

use std::{collections::BTreeMap, path::Path, process::ExitCode, sync::Arc};

use anyhow::{Context, ensure};
use loggia_gate::catalog::{Entry, Slot};
use loggia_text::printable;

use super::{common::runtime, exit, term};
use crate::{
    load::{
        BlockedWorkflow, Facts, Found, Offer, OfferMap,
        assemble::{Completeness, assemble, claims},
        found_at,
        names::Owners,
        scan, stem,
    },
    serve::{HostOptions, PluginHost},
};

/// One file, and what came of it.
pub struct Plugin {
    /// Its name.
    pub file: String,
    /// What would be served; or why nothing would be.
    pub loaded: Result<(Arc<Entry>, Facts), String>,
    /// Its workflows that cannot run beside the plugins that were loaded with it.
    pub blocked: Vec<BlockedWorkflow>,
}

/// Loads a file, or all of a folder, as a host would that serves it. Empty if there is no plugin there.
pub fn load(path: &Path, options: &HostOptions) -> anyhow::Result<Vec<Plugin>> {
    let files = files(path)?;
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let host = PluginHost::new(options)?;
    Ok(runtime()?.block_on(loaded(&host, files)))
}

/// Loads all of a folder into a host that there is.
pub async fn of_folder(host: &PluginHost, folder: &Path) -> anyhow::Result<Vec<Plugin>> {
    Ok(loaded(host, files(folder)?).await)
}

async fn loaded(host: &PluginHost, files: BTreeMap<String, Found>) -> Vec<Plugin> {
    let mut offers: BTreeMap<String, Offer> = BTreeMap::new();
    let mut plugins = Vec::new();
    for (file, found) in files {
        let mut offer = Offer::default();
        let loaded = match host.loader.admit(&found, None).await {
            Ok(admitted) => {
                let facts = admitted.facts.clone();
                offer.accept(admitted);
                Ok(facts)
            }
            Err(error) => {
                offer.reject(&error);
                Err(format!("does not load: {error}"))
            }
        };
        offers.insert(file.clone(), offer);
        plugins.push((file, loaded));
    }
    let mut map: OfferMap<'_> = offers.iter_mut().map(|(file, offer)| (file.as_str(), offer)).collect();
    // The record of names is read and never written: to look takes no name.
    let owners = Owners::of(claims(&map), &Owners::default(), &host.loader.names());
    let mut assembly = assemble(&mut map, &owners, &BTreeMap::new(), Completeness::Complete);
    let plugins = plugins.into_iter().map(|(file, loaded)| {
        let refused = assembly.refused.remove(&file);
        let blocked = assembly.blocked.remove(&file).filter(|_| refused.is_none()).unwrap_or_default();
        let version = offers.remove(&file).and_then(|offer| offer.version);
        let loaded = match (loaded, version, refused) {
            (Err(why), _, _) | (Ok(_), _, Some(why)) => Err(why),
            (Ok(facts), Some(version), None) => Ok((version.entry, facts)),
            (Ok(_), None, None) => Err("does not load".to_owned()),
        };
        Plugin { file, loaded, blocked }
    });
    plugins.collect()
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
    Ok(BTreeMap::from([(name, found_at(path)?)]))
}
