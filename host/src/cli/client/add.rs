//! `loggia client add`.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, bail, ensure};
use loggia_clients::{
    ClientRow, ConfigScope, EditFault, FileSyntax, ServerTarget, SystemFolders, TokenOrigin, put_entry,
    read_config, render_entry, render_snippet,
};
use loggia_server::ENDPOINT_PATH;
use serde_json::{Map, Value};
use url::Url;

use super::{
    change::{ConfigChange, read_file},
    options::{ClientName, EntryOptions},
};
use crate::cli::{common::UsageError, exit, settings, term};

/// Add Loggia to the configuration of an MCP client.
///
/// Writes the client's own file. Other entries, comments and order stay as they are. Shows the change and asks before
/// it writes; scripts must pass --yes.
///
/// With --plugins or --config, the client starts the server over stdio. With --url, it connects to a server that runs.
/// Tokens are not written: the entry names the environment variable that holds it.
#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("server").required(true).multiple(true))]
pub struct AddCommand {
    #[command(flatten)]
    client: ClientName,
    #[command(flatten)]
    entry: EntryOptions,
    /// Plugin folder that the client's server serves
    #[arg(long, value_name = "DIR", group = "server")]
    plugins: Option<PathBuf>,
    /// Settings file of the client's server
    #[arg(long, value_name = "FILE", group = "server")]
    config: Option<PathBuf>,
    /// Address of a server that runs, such as http://127.0.0.1:8080/mcp
    #[arg(long, value_name = "URL", group = "server", conflicts_with_all = ["plugins", "config"])]
    url: Option<String>,
    /// Environment variable with the token for --url. The client has to be started with it
    #[arg(long, value_name = "NAME", requires = "url", conflicts_with = "token_file")]
    token_env: Option<String>,
    /// File with the token for --url, for clients that pass no variables to servers: Claude Desktop, Zed
    #[arg(long, value_name = "FILE", requires = "url")]
    token_file: Option<PathBuf>,
    /// Whose configuration: the user's, or that of the project in the current folder
    #[arg(long, value_name = "SCOPE", default_value = "user")]
    scope: ConfigScope,
    /// Print the entry and the name of the file, and change nothing
    #[arg(long)]
    print: bool,
    /// Replace another entry of the same name without asking
    #[arg(long)]
    replace: bool,
    /// Create the file although the client does not seem to be installed
    #[arg(long)]
    create: bool,
    /// Skip the confirmation
    #[arg(long)]
    yes: bool,
}

impl AddCommand {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let (client, name) = (self.client.row(), &self.entry.name);
        let folders = SystemFolders::of_process()?;
        let Some(file) = folders.config_file(client, self.scope) else {
            bail!(UsageError(format!(
                "{} reads no configuration of projects: use --scope user",
                client.title
            )));
        };
        let entry = render_entry(client, name, &self.target()?).map_err(UsageError)?;
        if self.print {
            term::note(&format!("add to {}:", file.display()));
            term::print(render_snippet(client, name, &entry)?.trim_end());
            return Ok(ExitCode::SUCCESS);
        }
        let before = read_file(&file)?;
        ensure!(
            before.is_some()
                || self.create
                || self.scope == ConfigScope::Project
                || folders.is_installed(client),
            "{} does not seem to be installed: there is no {}; --create creates the file, and --print prints the entry",
            client.title,
            file.display()
        );
        let text = before.clone().unwrap_or_default();
        let known = find_entry(client, &file, &text, name)?;
        if known.as_ref().and_then(Value::as_object) == Some(&entry) {
            term::note(&format!("nothing to change: `{name}` is in {}", file.display()));
            return Ok(ExitCode::SUCCESS);
        }
        ensure!(
            known.is_none() || self.replace || !self.yes,
            "{} has another entry `{name}`: --replace replaces it, and --name chooses another name",
            file.display()
        );
        let after = put_or_explain(client, &file, &text, name, &entry)?;
        let change = ConfigChange { file, before, after };
        let confirmed = self.yes || (self.replace && known.is_some());
        let retry = if known.is_some() { "--replace" } else { "--yes" };
        if !change.confirm_and_write(confirmed, &format!("loggia client add {} … {retry}", client.name))? {
            return Ok(ExitCode::from(exit::FAILED));
        }
        let did = if known.is_some() { "replaced" } else { "added" };
        term::note(&format!("{did} `{name}` in {}", change.file.display()));
        term::note(&format!("next: {}", client.next));
        term::note(&format!("`loggia client doctor {}` checks it", client.name));
        Ok(ExitCode::SUCCESS)
    }

    /// What the client is to reach, with absolute paths: a client starts servers in a folder of its own.
    fn target(&self) -> anyhow::Result<ServerTarget> {
        if let Some(url) = &self.url {
            return Ok(ServerTarget::Http { url: checked_url(url)?, token: self.token()? });
        }
        let mut args = vec!["serve".to_owned()];
        if let Some(folder) = &self.plugins {
            ensure!(
                folder.is_dir(),
                "there is no folder {}: --plugins names the folder with the .wasm files",
                folder.display()
            );
            args.push(absolute(folder)?);
        }
        if let Some(config) = &self.config {
            let read = settings::read_and_check(config)?;
            if let Some(http) = read.http {
                bail!(
                    "{} serves over HTTP: start it, and use --url http://{}{ENDPOINT_PATH}",
                    config.display(),
                    http.listen
                );
            }
            ensure!(
                read.folder.is_some() || self.plugins.is_some(),
                "{} has no `folder`: pass --plugins DIR too",
                config.display()
            );
            args.extend(["--config".to_owned(), absolute(config)?]);
        }
        let command = std::env::current_exe().context("the path of this executable is unknown")?;
        Ok(ServerTarget::Stdio { command: text(&command)?, args })
    }

    fn token(&self) -> anyhow::Result<TokenOrigin> {
        Ok(match (&self.token_env, &self.token_file) {
            (Some(name), _) => {
                let is_name = !name.starts_with(|c: char| c.is_ascii_digit())
                    && !name.is_empty()
                    && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
                if !is_name {
                    // It may be the token itself.
                    bail!(UsageError(
                        "--token-env takes the name of an environment variable, not a token".into()
                    ));
                }
                TokenOrigin::Variable(name.clone())
            }
            (None, Some(file)) => {
                ensure!(file.is_file(), "there is no file {}", file.display());
                TokenOrigin::File(absolute(file)?)
            }
            (None, None) => TokenOrigin::None,
        })
    }
}

fn checked_url(text: &str) -> anyhow::Result<String> {
    let url = Url::parse(text).map_err(|error| UsageError(format!("--url: {error}")))?;
    let problem = if !matches!(url.scheme(), "http" | "https") {
        "must begin with http:// or https://"
    } else if !url.username().is_empty() || url.password().is_some() {
        "must not hold credentials: use --token-env"
    } else {
        return Ok(text.to_owned());
    };
    bail!(UsageError(format!("--url {problem}")))
}

fn absolute(path: &Path) -> anyhow::Result<String> {
    text(&std::path::absolute(path).with_context(|| format!("failed to resolve {}", path.display()))?)
}

fn text(path: &Path) -> anyhow::Result<String> {
    let text = path.to_str().with_context(|| format!("{} is not valid Unicode", path.display()))?;
    Ok(text.to_owned())
}

/// Returns the entry of a name in a client's file.
///
/// # Errors
///
/// If the file is not of its format.
pub fn find_entry(client: &ClientRow, file: &Path, text: &str, name: &str) -> anyhow::Result<Option<Value>> {
    let whole = read_config(client.syntax, text)
        .with_context(|| format!("{} cannot be read; nothing was changed", file.display()))?;
    Ok(whole.get(client.key).and_then(|servers| servers.get(name)).cloned())
}

/// Puts an entry into a file's text, or says what to paste.
fn put_or_explain(
    client: &ClientRow,
    file: &Path,
    text: &str,
    name: &str,
    entry: &Map<String, Value>,
) -> anyhow::Result<String> {
    match put_entry(client.syntax, text, client.key, name, entry) {
        Ok(after) => Ok(after),
        Err(error @ EditFault::Syntax(_)) => {
            Err(error).with_context(|| format!("{} cannot be read; nothing was changed", file.display()))
        }
        Err(error) => {
            let indent = if client.syntax == FileSyntax::Yaml { "merge" } else { "add" };
            bail!(
                "nothing was changed in {}: {error}. To {indent} it yourself:\n{}",
                file.display(),
                render_snippet(client, name, entry)?.trim_end()
            )
        }
    }
}
