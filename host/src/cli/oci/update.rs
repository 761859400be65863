//! `loggia update`.

use std::{collections::BTreeMap, path::PathBuf, process::ExitCode};

use anyhow::bail;
use loggia_load::file_stem;
use loggia_oci::{RegistryClient, TrustRule};
use loggia_policy::settings::Level;
use loggia_serve::HostOptions;
use loggia_telemetry::logs;
use loggia_text::printable;

use super::{
    fetch::find_trusted,
    install::InstallPlace,
    origins::{PluginOrigin, PluginOrigins},
    trust::read_rules,
};
use crate::cli::{
    common::{LoadOptions, MissingError, io_runtime},
    exit, term,
};

/// Replace plugins that came from a registry by what their tags name now.
///
/// Each must be signed as the [trust] tables of the settings (--config) require; without such tables you are asked, and without a
/// terminal the command to run is printed. A file that was changed since is not replaced. A running server has a version that changed
/// wait for `loggia approve`, as its `pin` mode says; `loggia diff` shows the difference.
///
/// Exits with 10 if a newer version does not load, and with 11 if no plugin of the folder, or none of the named, came from a registry.
#[derive(clap::Args)]
pub struct UpdateCommand {
    /// Plugins, by the names of their files without .wasm [default: all]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// List newer versions without pulling them
    #[arg(long)]
    check: bool,
    /// Plugin folder [default: that of the settings file, or plugins]
    #[arg(long, value_name = "DIR")]
    plugins: Option<PathBuf>,
    #[command(flatten)]
    common: LoadOptions,
}

impl UpdateCommand {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        logs::start_plain(Level::Error);
        let folder = self.common.plugin_folder(self.plugins.clone())?;
        let origins = self.choose(PluginOrigins::new(&folder).read()?)?;
        if origins.is_empty() {
            term::note(&format!("no plugin in {} came from a registry", folder.display()));
            return Ok(ExitCode::from(exit::NOTHING));
        }
        let rules = read_rules(self.common.settings()?.as_ref())?;
        let options = self.common.host_options()?;
        // One plugin that fails is no reason to leave the others old.
        let mut failures = Vec::new();
        for (file, origin) in &origins {
            if let Err(error) = self.update(
                InstallPlace { folder: folder.clone(), file: file.clone() },
                origin,
                &rules,
                &options,
            ) {
                term::print_error(&error.context(printable(file).into_owned()));
                failures.push(file);
            }
        }
        if !failures.is_empty() {
            bail!("{} of {} plugins were not updated", failures.len(), origins.len());
        }
        Ok(ExitCode::SUCCESS)
    }

    fn choose(
        &self,
        origins: BTreeMap<String, PluginOrigin>,
    ) -> anyhow::Result<BTreeMap<String, PluginOrigin>> {
        let names: Vec<_> = origins.keys().map(|file| file_stem(file).to_owned()).collect();
        if let Some(name) = self.names.iter().find(|name| !names.contains(name)) {
            bail!(MissingError(format!("`{}` came from no registry", printable(name))));
        }
        let is_chosen =
            |file: &str| self.names.is_empty() || self.names.iter().any(|name| name == file_stem(file));
        Ok(origins.into_iter().filter(|(file, _)| is_chosen(file)).collect())
    }

    fn update(
        &self,
        place: InstallPlace,
        origin: &PluginOrigin,
        rules: &[TrustRule],
        options: &HostOptions,
    ) -> anyhow::Result<()> {
        let name = file_stem(&place.file).to_owned();
        let Some(followed) = origin.followed()? else {
            term::note(&format!("{name}: follows no tag: it was added by its digest alone"));
            return Ok(());
        };
        let runtime = io_runtime()?;
        let newest = runtime.block_on(async { RegistryClient::new(followed.clone())?.resolve().await })?;
        if newest.digest == origin.manifest {
            term::note(&format!("{name}: is the newest, {}", newest.reference));
            return Ok(());
        }
        if self.check {
            term::print(&format!("{name}\t{}\t{}", origin.manifest, newest.reference));
            return Ok(());
        }
        place.check_unchanged(Some(origin))?;
        let found = runtime.block_on(async {
            let Some(trusted) = find_trusted(&followed, rules).await? else { return Ok(None) };
            let pulled = trusted.pull(origin.component.as_deref()).await?;
            anyhow::Ok(Some((trusted, pulled)))
        })?;
        drop(runtime);
        match found {
            None => term::note(&format!("{name}: was not updated")),
            Some((trusted, pulled)) => {
                place.install(&followed.to_string(), &trusted, origin.component.clone(), &pulled, options)?;
            }
        }
        Ok(())
    }
}
