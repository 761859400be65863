//! Loads plugins without serving them, for commands that inspect them.

use std::{collections::BTreeMap, path::Path, process::ExitCode, sync::Arc};

use anyhow::{Context, ensure};
use loggia_gate::catalog::{CatalogEntry, CatalogSlot};
use loggia_text::printable;

use super::{common::io_runtime, exit, term};
use crate::{
    load::{
        AdmissionFacts, BlockedWorkflow, FacadeOffer, OfferMap, PluginFiles,
        assemble::{LoadCompleteness, assemble, file_claims},
        file_stem, find_plugin,
        names::NameOwners,
        scan_folder,
    },
    serve::{HostOptions, PluginHost},
};

/// A plugin file and the result of loading it.
pub struct LoadedPlugin {
    /// File name.
    pub file: String,
    /// The entry that would be served, or the reason why there is none.
    pub loaded: Result<(Arc<CatalogEntry>, AdmissionFacts), String>,
    /// Workflows that cannot run beside the other loaded plugins.
    pub blocked: Vec<BlockedWorkflow>,
}

/// Loads a file, or all files of a folder, as a server would. Empty if there is no plugin.
pub fn load_path(path: &Path, options: &HostOptions) -> anyhow::Result<Vec<LoadedPlugin>> {
    let files = find_files(path)?;
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let host = PluginHost::new(options)?;
    Ok(io_runtime()?.block_on(admit_all(&host, files)))
}

/// Loads all files of a folder into a host.
pub async fn load_folder(host: &PluginHost, folder: &Path) -> anyhow::Result<Vec<LoadedPlugin>> {
    Ok(admit_all(host, find_files(folder)?).await)
}

async fn admit_all(host: &PluginHost, files: BTreeMap<String, PluginFiles>) -> Vec<LoadedPlugin> {
    let mut offers: BTreeMap<String, FacadeOffer> = BTreeMap::new();
    let mut plugins = Vec::new();
    for (file, found) in files {
        let mut offer = FacadeOffer::default();
        let loaded = match host.admitter.admit(&found, None).await {
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
    // The name record is only read: inspecting a plugin must not claim its name.
    let owners = NameOwners::assign(file_claims(&map), &NameOwners::default(), &host.admitter.names());
    let mut assembly = assemble(&mut map, &owners, &BTreeMap::new(), LoadCompleteness::Complete);
    let plugins = plugins.into_iter().map(|(file, loaded)| {
        let refused = assembly.refused.remove(&file);
        let blocked = assembly.blocked.remove(&file).filter(|_| refused.is_none()).unwrap_or_default();
        let version = offers.remove(&file).and_then(|offer| offer.version);
        let loaded = match (loaded, version, refused) {
            (Err(why), _, _) | (Ok(_), _, Some(why)) => Err(why),
            (Ok(facts), Some(version), None) => Ok((version.entry, facts)),
            (Ok(_), None, None) => Err("does not load".to_owned()),
        };
        LoadedPlugin { file, loaded, blocked }
    });
    plugins.collect()
}

/// Reports that there is no plugin; returns the exit code.
pub fn report_no_plugins(path: &Path) -> ExitCode {
    term::note(&format!("no plugins: there is no .wasm or .workflow.yaml file in {}", path.display()));
    ExitCode::from(exit::NOTHING)
}

/// Builds the catalog slots of plugins.
pub fn catalog_slots(plugins: &[LoadedPlugin]) -> BTreeMap<String, CatalogSlot> {
    let serving = plugins.iter().filter_map(|plugin| plugin.loaded.as_ref().ok());
    serving
        .map(|(entry, _)| (entry.surface().name.clone(), CatalogSlot::Serving(Arc::clone(entry))))
        .collect()
}

impl LoadedPlugin {
    /// File name without its suffix, which names its policy.
    pub fn stem(&self) -> &str {
        file_stem(&self.file)
    }

    /// Reason for which it would not be served, on one line.
    pub fn refusal(&self) -> Option<String> {
        self.loaded.as_ref().err().map(|why| printable(why).into_owned())
    }
}

fn find_files(path: &Path) -> anyhow::Result<BTreeMap<String, PluginFiles>> {
    ensure!(path.exists(), "there is no {}", path.display());
    if path.is_dir() {
        return scan_folder(path).with_context(|| format!("failed to read {}", path.display()));
    }
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(BTreeMap::from([(name, find_plugin(path)?)]))
}
