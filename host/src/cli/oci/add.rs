//! `loggia add`.

use std::{path::PathBuf, process::ExitCode};

use anyhow::ensure;
use loggia_oci::ArtifactReference;
use loggia_policy::settings::Level;
use loggia_telemetry::logs;

use super::{fetch::find_trusted, install::InstallPlace, origins::PluginOrigins, trust::read_rules};
use crate::cli::{
    common::{LoadOptions, io_runtime},
    term,
};

/// Add a plugin from an OCI registry to the plugin folder.
///
/// The artifact must be signed by a [trust] table of the settings (--config) that covers its repository; if there are no such tables,
/// name its digest. The plugin is loaded once before its file is written. It is granted what the policy beside it grants, at first
/// nothing. A running server serves it, or has it wait for `loggia approve`, like any other file of the folder.
///
/// Credentials are those of `docker login`. Plugins of wassette and applications of Spin are understood.
///
/// Exits with 10 if the plugin does not load.
#[derive(clap::Args)]
pub struct AddCommand {
    /// The artifact
    #[arg(value_name = "oci://HOST/REPOSITORY[:TAG][@sha256:DIGEST]")]
    reference: ArtifactReference,
    /// Plugin folder [default: that of the settings file, or plugins]
    #[arg(long, value_name = "DIR")]
    plugins: Option<PathBuf>,
    /// Name of the file, without .wasm [default: the last part of the repository]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Component of an application that has more than one
    #[arg(long, value_name = "ID")]
    component: Option<String>,
    #[command(flatten)]
    common: LoadOptions,
}

impl AddCommand {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        logs::start_plain(Level::Error);
        let folder = self.common.plugin_folder(self.plugins)?;
        let name = self.name.as_deref().unwrap_or(self.reference.name());
        let place = InstallPlace::new(folder, name)?;
        let known = PluginOrigins::new(&place.folder).read()?.remove(&place.file);
        place.check_unchanged(known.as_ref())?;
        if let Some(origin) = &known {
            let from: ArtifactReference = origin.from.parse()?;
            ensure!(
                from.path() == self.reference.path(),
                "{} came from {}: remove it first, or choose another name with --name",
                place.file,
                from.path()
            );
        }
        let rules = read_rules(self.common.settings()?.as_ref())?;
        let found = io_runtime()?.block_on(async {
            let Some(trusted) = find_trusted(&self.reference, &rules).await? else { return Ok(None) };
            let pulled = trusted.pull(self.component.as_deref()).await?;
            anyhow::Ok(Some((trusted, pulled)))
        })?;
        let Some((trusted, pulled)) = found else {
            term::note("nothing was added");
            return Ok(ExitCode::SUCCESS);
        };
        let options = self.common.host_options()?;
        place.install(&self.reference.to_string(), &trusted, self.component, &pulled, &options)?;
        Ok(ExitCode::SUCCESS)
    }
}
