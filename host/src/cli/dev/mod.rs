//! `loggia dev`.
//!
//! | file | concept |
//! |---|---|
//! | `sources.rs` | saves of plugin sources |
//! | `out.rs` | what is made of them |

mod out;
mod sources;

use std::{
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, bail};

use self::{out::Out, sources::Sources};
use super::{
    common::{Common, UsageError, runtime},
    publishing::Publishing,
    serve::{Door, over_http},
    term,
};
use crate::{
    build::{self, BuildError},
    config::server::{Http, Settings},
    serve::{ENDPOINT_PATH, HostOptions, PluginHost},
    telemetry::logs::{self, Level},
};

/// Build plugin sources, serve them over HTTP, rebuild and reload on save.
///
/// Prints the configuration for the usual clients. Policy files (<name>.toml in a crate's folder) apply as they do
/// when served, and workflow files (<name>.workflow.yaml) beside the crates are served too. A plugin may not be granted
/// the folder that plugins are in, but one beside it: what a policy grants as ../data is made where it is missing, at
/// DIR/data.
#[derive(clap::Args)]
pub struct Dev {
    /// A plugin crate, or a folder of them
    #[arg(value_name = "PATH", default_value = ".")]
    path: PathBuf,
    /// Where to listen (port 0: any free one)
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080")]
    http: SocketAddr,
    /// Where the built plugins go: into the folder `plugins` there
    #[arg(long, value_name = "DIR", default_value = "target/loggia")]
    out: PathBuf,
    #[command(flatten)]
    publishing: Publishing,
    #[command(flatten)]
    common: Common,
}

impl Dev {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        if !self.http.ip().is_loopback() {
            let (address, port) = (self.http, self.http.port());
            bail!(UsageError(format!(
                "{address} can be reached from other machines, which is not for development: use a loopback address \
                 such as 127.0.0.1:{port}"
            )));
        }
        logs::start_plain(Level::Info);
        build::ensure_target()?;
        let path =
            fs::canonicalize(&self.path).with_context(|| format!("there is no {}", self.path.display()))?;
        let out = Out::make(&self.out).with_context(|| format!("failed to make {}", self.out.display()))?;
        // Before the first build, so that nothing saved during it is missed.
        let sources =
            Sources::watch(path.clone(), out.folder().to_owned()).context("failed to watch the sources")?;
        term::note(&format!("building the plugins under {} …", path.display()));
        match out.build(&path) {
            // Most likely another folder was meant, or Rust is missing: no save would mend it.
            Err(error @ (BuildError::Nothing(_) | BuildError::Tool(..))) => return Err(error.into()),
            built => tell(built),
        }
        let (building, shown) = (out.clone(), out.plugins().to_owned());
        std::thread::Builder::new().name("loggia-dev".into()).spawn(move || {
            while sources.wait() {
                tracing::info!("building …");
                tell(building.build(&path));
            }
        })?;
        let runtime = runtime()?;
        let options = HostOptions { publisher: self.publishing.publisher(), ..self.common.options()? };
        let host = PluginHost::new(&options)?;
        let settings = Settings::default();
        let door =
            Door { http: Http { listen: self.http, ..Http::default() }, authenticator: None, file: None };
        let served =
            runtime.block_on(over_http(&host, out.plugins().to_owned(), door, &settings, move |address| {
                term::out(&clients(address, &shown));
            }));
        runtime.shutdown_background();
        served?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Tells of a build that failed; it ends nothing, since the next save may mend it.
fn tell(built: Result<bool, BuildError>) {
    match built {
        Ok(true) => {}
        Ok(false) => tracing::error!("not all plugins could be built; what was built before keeps serving"),
        Err(error) => {
            tracing::error!("{:#}; what was built before keeps serving", anyhow::Error::new(error));
        }
    }
}

/// What to tell each client, ready to be copied.
fn clients(address: SocketAddr, out: &Path) -> String {
    let url = format!("http://{address}{}", ENDPOINT_PATH);
    let exe = std::env::current_exe().unwrap_or_else(|_| "loggia".into());
    let (exe, out) = (exe.display(), out.display());
    format!(
        r#"
Claude Code      claude mcp add --transport http loggia {url}
VS Code          .vscode/mcp.json
                 {{"servers": {{"loggia": {{"type": "http", "url": "{url}"}}}}}}
Cursor           ~/.cursor/mcp.json
                 {{"mcpServers": {{"loggia": {{"url": "{url}"}}}}}}
Codex            ~/.codex/config.toml
                 [mcp_servers.loggia]
                 url = "{url}"
Claude Desktop   claude_desktop_config.json (starts its own host on the same folder)
                 {{"mcpServers": {{"loggia": {{"command": "{exe}", "args": ["serve", "{out}"]}}}}}}
"#
    )
}
