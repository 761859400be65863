//! Loads plugins without serving them, for commands that inspect them.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use anyhow::{Context, ensure};
use loggia_gate::{
    catalog::{CatalogEntry, CatalogSlot},
    guard::{GuardRule, GuardState},
};
use loggia_load::{
    AdmissionFacts, BlockedWorkflow, ConfiguredSources, FacadeKind, FacadeOffer, FileKind, OfferMap,
    PluginFiles,
    assemble::{LoadCompleteness, assemble, file_claims},
    find_plugin,
    names::NameOwners,
    policy_stem, scan_folder,
};
use loggia_serve::{HostOptions, PluginHost, io_runtime};
use loggia_text::printable;

/// A plugin file and the result of loading it.
pub struct LoadedPlugin {
    /// File name.
    pub file: String,
    /// The entry that would be served, or the reason why there is none.
    pub loaded: Result<(Arc<CatalogEntry>, AdmissionFacts), String>,
    /// Workflows that cannot run beside the other loaded plugins.
    pub blocked: Vec<BlockedWorkflow>,
}

/// A guard of the settings, and whether it loads.
pub struct LoadedGuard {
    /// The calls at which it looks.
    pub rule: GuardRule,
    /// Whether it loads.
    pub is_ready: bool,
}

/// Loads a file, or all files of a folder, and the sources of the settings, as a server would. Empty if there is no
/// plugin.
///
/// # Errors
///
/// If there is no such path, or no host.
pub fn load_path(path: &Path, options: &HostOptions) -> anyhow::Result<Vec<LoadedPlugin>> {
    Ok(load_with_guards(path, options)?.0)
}

/// Loads plugins like [`load_path`], and the guards of the settings in the order in which they look at calls.
///
/// # Errors
///
/// As [`load_path`].
pub fn load_with_guards(
    path: &Path,
    options: &HostOptions,
) -> anyhow::Result<(Vec<LoadedPlugin>, Vec<LoadedGuard>)> {
    let files = find_files(path)?;
    if files.is_empty() && options.sources.is_empty() {
        return Ok((Vec::new(), Vec::new()));
    }
    let host = PluginHost::new(options)?;
    let folder = if path.is_dir() { path } else { path.parent().unwrap_or(Path::new("")) };
    Ok(io_runtime()?.block_on(async {
        let mut sources = host.start_sources(folder);
        let plugins = admit_all(&host, files, &mut sources).await;
        sources.stop().await;
        host.load_guards().await;
        let posts = host.gate.guards().map_or(&[][..], |roster| roster.posts());
        let guards = posts.iter().map(|post| LoadedGuard {
            rule: post.rule.clone(),
            is_ready: matches!(post.state(), GuardState::Ready(_)),
        });
        (plugins, guards.collect())
    }))
}

/// Loads all files of a folder into a host, and the sources of the settings, which run until the returned ones are dropped.
///
/// # Errors
///
/// If the folder cannot be read.
pub async fn load_folder(
    host: &PluginHost,
    folder: &Path,
) -> anyhow::Result<(Vec<LoadedPlugin>, ConfiguredSources)> {
    let files = find_files(folder)?;
    host.load_guards().await;
    let mut sources = host.start_sources(folder);
    let plugins = admit_all(host, files, &mut sources).await;
    Ok((plugins, sources))
}

/// Loads these files into a host without settings.
pub async fn load_files(host: &PluginHost, files: BTreeMap<String, PluginFiles>) -> Vec<LoadedPlugin> {
    let mut sources = host.start_sources(Path::new(""));
    let plugins = admit_all(host, files, &mut sources).await;
    sources.stop().await;
    plugins
}

async fn admit_all(
    host: &PluginHost,
    files: BTreeMap<String, PluginFiles>,
    sources: &mut ConfiguredSources,
) -> Vec<LoadedPlugin> {
    let mut offers: BTreeMap<String, FacadeOffer> = BTreeMap::new();
    for (file, found) in files.into_iter().filter(|(_, found)| !host.admitter.is_guard(&found.path)) {
        let mut offer = FacadeOffer::default();
        match host.admitter.admit(&found, None).await {
            Ok(admitted) => offer.accept(admitted),
            Err(error) => offer.reject(&error),
        }
        offers.insert(file, offer);
    }
    sources.settle().await;
    let mut map: OfferMap<'_> = offers.iter_mut().map(|(file, offer)| (file.as_str(), offer)).collect();
    map.append(&mut sources.offers_mut());
    // The name record is only read: inspecting a plugin must not claim its name.
    let owners = NameOwners::assign(file_claims(&map), &NameOwners::default(), &host.admitter.names());
    let mut assembly = assemble(&mut map, &owners, &BTreeMap::new(), LoadCompleteness::Complete);
    let plugins = map.into_iter().map(|(file, offer)| {
        let refused = assembly.refused.remove(file);
        let blocked = assembly.blocked.remove(file).filter(|_| refused.is_none()).unwrap_or_default();
        let loaded = match (&offer.error, &offer.version, refused) {
            (Some(error), ..) => Err(format!("does not load: {}", error.for_operator)),
            (None, _, Some(why)) => Err(why),
            (None, Some(version), None) => Ok((Arc::clone(&version.entry), version.facts.clone())),
            (None, None, None) => Err("does not load".to_owned()),
        };
        LoadedPlugin { file: file.to_owned(), loaded, blocked }
    });
    plugins.collect()
}

/// Builds the catalog slots of plugins.
pub fn catalog_slots(plugins: &[LoadedPlugin]) -> BTreeMap<String, CatalogSlot> {
    let serving = plugins.iter().filter_map(|plugin| plugin.loaded.as_ref().ok());
    serving
        .map(|(entry, _)| (entry.surface().name.clone(), CatalogSlot::Serving(Arc::clone(entry))))
        .collect()
}

impl LoadedPlugin {
    /// Stem of its policy: the file name without its suffix, or the name of an upstream.
    pub fn stem(&self) -> &str {
        policy_stem(&self.file)
    }

    /// Its kind. A file that is named explicitly is taken for a component.
    pub fn kind(&self) -> FacadeKind {
        FacadeKind::from_key(&self.file).map_or(FacadeKind::File(FileKind::Component), |(kind, _)| kind)
    }

    /// Reason for which it would not be served, on one line.
    pub fn refusal(&self) -> Option<String> {
        self.loaded.as_ref().err().map(|why| printable(why).into_owned())
    }
}

/// Finds a plugin's files, or those of all plugins in a folder, by file name.
///
/// # Errors
///
/// If there is no such file, or it cannot be read.
pub fn find_files(path: &Path) -> anyhow::Result<BTreeMap<String, PluginFiles>> {
    ensure!(path.exists(), "there is no {}", path.display());
    if path.is_dir() {
        return scan_folder(path).with_context(|| format!("failed to read {}", path.display()));
    }
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(BTreeMap::from([(name, find_plugin(path)?)]))
}
