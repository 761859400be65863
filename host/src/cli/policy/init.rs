//! `loggia policy init`.

use std::{
    fs::Permissions,
    io::{ErrorKind, Write},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, anyhow, bail};
use loggia_text::printable;

use super::draft::draft;
use crate::{
    cli::{
        common::{Common, UsageError, runtime},
        exit, term,
    },
    load::found_at,
    serve::PluginHost,
    telemetry::{logs, logs::Level},
};

/// Write a first policy for a plugin: what it asks for, with its reasons, all commented out.
///
/// The file grants nothing until you remove the `#` before what you grant. A policy that is there already stays as it
/// is, unless --force is given.
///
/// Ends with 10 if the plugin does not load.
#[derive(clap::Args)]
pub struct Init {
    /// The plugin; its policy is written beside it, as <name>.toml
    #[arg(value_name = "FILE.wasm")]
    file: PathBuf,
    /// Replace the policy that is there
    #[arg(long)]
    force: bool,
    /// Print it instead of writing a file
    #[arg(long)]
    stdout: bool,
    #[command(flatten)]
    common: Common,
}

impl Init {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        logs::start_plain(Level::Error);
        if self.file.extension().is_none_or(|ending| ending != "wasm") {
            bail!(UsageError(format!("{} is no plugin: name a .wasm file", self.file.display())));
        }
        let path = self.file.with_extension("toml");
        // Before the plugin is compiled, which may take a while.
        if !self.stdout && !self.force && path.symlink_metadata().is_ok() {
            bail!(exists(&path));
        }
        let mut found =
            found_at(&self.file).with_context(|| format!("failed to read {}", self.file.display()))?;
        // What a policy says that is there already does not matter, not even whether it can be used.
        found.policy = None;
        let host = PluginHost::new(&self.common.options()?)?;
        let admitted = match runtime()?.block_on(host.loader.admit(&found, None)) {
            Ok(admitted) => admitted,
            Err(error) => {
                let said = format!("{} does not load: {error}", self.file.display());
                term::error(&anyhow!("{}", printable(&said)));
                return Ok(ExitCode::from(exit::REFUSED));
            }
        };
        let name = self.file.file_stem().unwrap_or_default().to_string_lossy();
        let text = draft(admitted.entry.surface(), &name);
        if self.stdout {
            term::out(text.trim_end());
        } else {
            write(&path, &text, self.force)?;
            term::out(&format!("wrote {}; it grants nothing until you edit it", path.display()));
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn exists(path: &Path) -> String {
    format!("{} is there already: --force replaces it, --stdout prints instead", path.display())
}

/// Writes the file, whole or not at all: beside, and then renamed; over another only by force, though that came to be
/// a moment ago.
fn write(path: &Path, text: &str, force: bool) -> anyhow::Result<()> {
    let failed = || format!("failed to write {}", path.display());
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // As any file that a person makes: for whom the umask allows.
    let mut beside = tempfile::Builder::new()
        .prefix(".policy")
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder)
        .with_context(failed)?;
    beside.write_all(text.as_bytes()).with_context(failed)?;
    let written = if force { beside.persist(path) } else { beside.persist_noclobber(path) };
    match written {
        Ok(_) => Ok(()),
        Err(error) if error.error.kind() == ErrorKind::AlreadyExists => bail!(exists(path)),
        Err(error) => Err(error.error).with_context(failed),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_policy_is_replaced_by_force_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.toml");
        write(&path, "one", false).unwrap();
        let said = write(&path, "two", false).unwrap_err().to_string();
        assert!(said.contains("is there already"), "{said}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "one");
        write(&path, "two", true).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left there");
    }
}
