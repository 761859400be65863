//! `loggia upstream import`.

use std::{
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, bail};
use loggia_text::printable;
use loggia_upstream::{ImportedUpstream, ImportedUpstreams, import_clients, render_toml};

use crate::cli::{exit, replace_file::replace_file, settings, term};

/// Write [upstream.NAME] tables from the configuration of an MCP client.
///
/// Reads `.mcp.json` (Claude Code), `claude_desktop_config.json`, Cursor's and Windsurf's `mcp.json`, and VS Code's
/// `mcp.json` and `settings.json`. Prints the tables, or adds them to a settings file. Exits with 10 if a server cannot
/// be imported.
#[derive(clap::Args)]
pub struct ImportCommand {
    /// Configuration file of the client
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Import only this server; may be repeated
    #[arg(long = "only", value_name = "NAME")]
    only: Vec<String>,
    /// Settings file to which the tables are added, instead of printing them
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl ImportCommand {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let text = settings::read_text(&self.file)
            .with_context(|| format!("failed to read {}", self.file.display()))?;
        let ImportedUpstreams { mut upstreams, problems } =
            import_clients(&text).map_err(|problem| anyhow::anyhow!("{}: {problem}", self.file.display()))?;
        for name in &self.only {
            if !upstreams.iter().any(|upstream| is_named(upstream, name)) {
                bail!("{} has no server `{}` that can be imported", self.file.display(), printable(name));
            }
        }
        if !self.only.is_empty() {
            upstreams.retain(|upstream| self.only.iter().any(|name| is_named(upstream, name)));
        }
        for problem in problems.iter().filter(|_| self.only.is_empty()) {
            term::note(&format!("warning: {}", printable(problem)));
        }
        let toml = render_toml(&upstreams);
        match &self.config {
            None => term::print(toml.trim_end()),
            Some(file) => {
                add_to_file(file, &upstreams, &toml)?;
                let names: Vec<&str> = upstreams.iter().map(|upstream| upstream.spec.name.as_str()).collect();
                term::note(&format!("added to {}: {}", file.display(), names.join(", ")));
                for note in upstreams.iter().flat_map(|upstream| &upstream.notes) {
                    term::note(&printable(note));
                }
            }
        }
        let is_complete = problems.is_empty() || !self.only.is_empty();
        Ok(if is_complete { ExitCode::SUCCESS } else { ExitCode::from(exit::REFUSED) })
    }
}

fn is_named(upstream: &ImportedUpstream, name: &str) -> bool {
    upstream.original == name || upstream.spec.name == name
}

/// Adds tables to a settings file, atomically.
fn add_to_file(file: &Path, upstreams: &[ImportedUpstream], toml: &str) -> anyhow::Result<()> {
    let failed = || format!("failed to add the upstreams to {}", file.display());
    let text = match settings::read_text(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return fs::write(file, toml).with_context(failed);
        }
        text => text.with_context(failed)?,
    };
    let text = append_tables(&text, upstreams, toml).with_context(failed)?;
    replace_file(file, &text).with_context(failed)
}

/// Appends tables to the text of a `loggia.toml`.
fn append_tables(text: &str, upstreams: &[ImportedUpstream], toml: &str) -> anyhow::Result<String> {
    let file: toml::Table = text.parse()?;
    let known = |name: &str| file.get("upstream").and_then(|known| known.get(name)).is_some();
    if let Some(taken) = upstreams.iter().find(|upstream| known(&upstream.spec.name)) {
        bail!("it already has [upstream.{}]; remove it, or import others by --only", taken.spec.name);
    }
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    let gap = if text.is_empty() { "" } else { "\n" };
    let text = format!("{text}{end}{gap}{toml}");
    if text.parse::<toml::Table>().is_err() {
        bail!("its `upstream` is inline; write each upstream as a table [upstream.NAME]");
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLIENT: &str =
        r#"{"mcpServers": {"Git Hub": {"command": "npx", "args": ["-y", "server-github"]}}}"#;

    #[test]
    fn tables_are_appended_once() {
        let ImportedUpstreams { upstreams, .. } = import_clients(CLIENT).unwrap();
        let toml = render_toml(&upstreams);
        let first = append_tables("folder = \"plugins\"", &upstreams, &toml).unwrap();
        assert!(
            first.starts_with("folder = \"plugins\"\n\n") && first.contains("[upstream.git-hub]"),
            "{first}"
        );
        let again = append_tables(&first, &upstreams, &toml).unwrap_err();
        assert_eq!(
            again.to_string(),
            "it already has [upstream.git-hub]; remove it, or import others by --only"
        );
        let inline = append_tables("upstream = { a = { command = \"x\" } }", &upstreams, &toml).unwrap_err();
        assert!(inline.to_string().starts_with("its `upstream` is inline"), "{inline}");
    }

    #[test]
    fn a_settings_file_is_created() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("loggia.toml");
        let ImportedUpstreams { upstreams, .. } = import_clients(CLIENT).unwrap();
        add_to_file(&file, &upstreams, &render_toml(&upstreams)).unwrap();
        let settings = settings::read_and_check(&file).unwrap();
        assert_eq!(settings.upstream["git-hub"].command.as_deref(), Some("npx"));
    }
}
