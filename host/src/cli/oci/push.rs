//! `loggia push`.

use std::{fs, path::PathBuf, process::ExitCode};

use anyhow::{Context, anyhow, ensure};
use loggia_oci::{ArtifactLayout, ArtifactReference, PackedArtifact, RegistryClient, SigningKey};
use loggia_policy::settings::Level;
use loggia_telemetry::logs;

use super::trial::load_alone;
use crate::cli::{
    common::{LoadOptions, UsageError, io_runtime},
    term,
};

/// Push a plugin to an OCI registry, and print its reference with the digest.
///
/// The plugin must load. The same plugin has the same digest, whenever it is pushed. Its policy is not pushed: what it may do, each
/// operator decides.
///
/// Credentials are those of `docker login`. Exits with 10 if the plugin does not load.
#[derive(clap::Args)]
pub struct PushCommand {
    /// Plugin file
    #[arg(value_name = "FILE.wasm")]
    file: PathBuf,
    /// Where to, with a tag
    #[arg(value_name = "oci://HOST/REPOSITORY:TAG")]
    reference: ArtifactReference,
    /// Sign it with this private key in PEM, in cosign's format. With a key of cosign, sign with `cosign sign --key` instead
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// Layout of the artifact
    #[arg(long, value_name = "LAYOUT", default_value = "wasm")]
    layout: LayoutWord,
    #[command(flatten)]
    common: LoadOptions,
}

/// Layout of the artifact.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum LayoutWord {
    /// As wassette, wkg and act pull it
    Wasm,
    /// An application of Spin with one component
    Spin,
}

impl PushCommand {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        logs::start_plain(Level::Error);
        ensure!(
            self.reference.tag().is_some() && self.reference.digest().is_none(),
            UsageError(format!("name a tag and no digest, as in oci://{}:1.0", self.reference.path()))
        );
        ensure!(
            self.file.extension().is_some_and(|ending| ending == "wasm"),
            UsageError(format!("{} is not a plugin: pass a .wasm file", self.file.display()))
        );
        let key = self.key.map(|file| {
            let pem =
                fs::read(&file).with_context(|| format!("failed to read the key {}", file.display()))?;
            SigningKey::from_pem(&pem).map_err(|why| anyhow!("{} {why}", file.display()))
        });
        let key = key.transpose()?;
        let component =
            fs::read(&self.file).with_context(|| format!("failed to read {}", self.file.display()))?;
        let file = self.file.file_name().context("the path has no file name")?.to_string_lossy();
        let policy = self.file.with_extension("toml");
        let plugin = load_alone(&file, &component, &policy, &self.common.host_options()?)?;
        let (entry, _) = plugin.loaded.as_ref().map_err(|why| anyhow!("{why}"))?;
        let surface = entry.surface();
        let layout = match self.layout {
            LayoutWord::Wasm => ArtifactLayout::Wasm,
            LayoutWord::Spin => ArtifactLayout::Spin,
        };
        let packed = PackedArtifact::pack(layout, component.into(), &surface.name, &surface.version)?;
        let client = RegistryClient::new(self.reference.clone())?;
        let pushed = io_runtime()?.block_on(async {
            let pushed = client.push(&packed).await?;
            if let Some(key) = &key {
                client.push_signature(key, &packed.digest()).await?;
            }
            anyhow::Ok(pushed)
        });
        let pushed = pushed.with_context(|| format!("failed to push {}", self.reference))?;
        term::print(&pushed.to_string());
        Ok(ExitCode::SUCCESS)
    }
}
