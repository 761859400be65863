//! `loggia import openapi`.

use std::{
    fs::{self, File},
    io::{Read, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, anyhow, bail, ensure};
use loggia_api::{ApiDescription, ImportOptions, ImportedApi, import_openapi};
use loggia_system::file::{FileReaders, temporary_in};
use loggia_text::{printable, units::format_bytes};
use loggia_workbench::scaffold::plugin_name;

use super::fetch::fetch;
use crate::cli::{common::io_runtime, term};

/// Maximum size of a document.
pub const MAX_BYTES: usize = 32 << 20;

/// Write <name>.api.toml from an OpenAPI document (3.0 or 3.1, JSON or YAML).
///
/// The file pins the operations of the API. Put it into the plugin folder: Loggia serves it as one facade whose actions
/// are the operations, and sends requests to the API's own servers only. Credentials come from the policy, <name>.toml.
#[derive(clap::Args)]
pub struct OpenapiCommand {
    /// OpenAPI document
    #[arg(value_name = "FILE|URL")]
    location: String,
    /// Name of the facade
    #[arg(long, value_parser = parse_name)]
    name: String,
    /// Folder for <name>.api.toml
    #[arg(long, value_name = "DIR", default_value = "plugins")]
    out: PathBuf,
    /// Base URL of the operations, instead of the servers of the document
    #[arg(long, value_name = "URL")]
    server: Option<String>,
    /// Import only operations with this tag; may be repeated
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Replace an existing <name>.api.toml
    #[arg(long)]
    force: bool,
}

fn parse_name(text: &str) -> Result<String, String> {
    match plugin_name(Path::new(text))? {
        name if name == text => Ok(text.to_owned()),
        _ => Err(format!("`{text}` is a path: write the name alone")),
    }
}

impl OpenapiCommand {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let file = self.out.join(format!("{}.api.toml", self.name));
        // It may have been edited.
        if !self.force && file.symlink_metadata().is_ok() {
            bail!("{} already exists; --force replaces it", file.display());
        }
        let description = read_api(&ImportOptions {
            name: self.name.clone(),
            location: self.location.clone(),
            server: self.server,
            tags: self.tags,
        })?;
        fs::create_dir_all(&self.out).with_context(|| format!("failed to create {}", self.out.display()))?;
        write_file(&self.out, &file, &description.render())
            .with_context(|| format!("failed to write {}", file.display()))?;
        term::note(&format!("wrote {}: {} operations", file.display(), description.operations.len()));
        Ok(ExitCode::SUCCESS)
    }
}

/// Reads the document at the location of the options, and describes its API. Prints its problems.
///
/// # Errors
///
/// If it cannot be read, or is no OpenAPI document.
pub fn read_api(options: &ImportOptions) -> anyhow::Result<ApiDescription> {
    let location = &options.location;
    let shown = || printable(location).into_owned();
    let is_url = ["http://", "https://"].iter().any(|scheme| location.starts_with(scheme));
    let bytes = if is_url {
        io_runtime()?
            .block_on(fetch(location, MAX_BYTES))
            .with_context(|| format!("failed to fetch {}", shown()))?
    } else {
        read_document(Path::new(location)).with_context(|| format!("failed to read {}", shown()))?
    };
    let ImportedApi { description, problems } =
        import_openapi(&bytes, options).map_err(|error| anyhow!("{}: {error}", shown()))?;
    for problem in &problems {
        term::note(&format!("warning: {}", printable(problem)));
    }
    Ok(description)
}

fn read_document(file: &Path) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(file)?.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    ensure!(bytes.len() <= MAX_BYTES, "it is larger than {}", format_bytes(MAX_BYTES as u64));
    Ok(bytes)
}

/// Writes a file atomically, so that a serving host never reads a part.
fn write_file(folder: &Path, file: &Path, text: &str) -> anyhow::Result<()> {
    let mut beside = temporary_in(folder, ".loggia-", FileReaders::Everyone)?;
    beside.write_all(text.as_bytes())?;
    beside.persist(file)?;
    Ok(())
}
