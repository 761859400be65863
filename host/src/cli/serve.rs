//! `loggia serve`.

use std::{
    io::{IsTerminal, stdin},
    net::SocketAddr,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use anyhow::{Context, bail, ensure};
use loggia_gate::access::{Origin, Rights};
use loggia_text::units;
use tokio_util::sync::CancellationToken;

use super::{
    common::{Common, UsageError, runtime},
    publishing::Publishing,
    settings, term,
};
use crate::{
    config::server::{Admin, Format, Http, Revision, Settings, Span},
    mcp::McpHandler,
    serve::{
        ENDPOINT_PATH, HostOptions, PluginHost, admin, auth,
        auth::{Authenticator, TokenReloader},
        http, signals, stdio,
    },
    telemetry::{logs, trail},
};

/// Serve a folder of plugins to an MCP client.
///
/// Without --http the client is the process that started this one: stdin and stdout carry the protocol. Plugins that
/// are added, replaced or removed while it runs are noticed; a new version that does not load leaves the old one
/// serving.
///
/// SIGTERM, SIGINT or SIGHUP lets calls that run come to an end first; a second SIGTERM or SIGINT stops at once, with exit code
/// 143 or 130. SIGUSR1 writes what the host holds to the log: memory, open descriptors, threads and tasks.
///
/// All that a server takes can stand in a file, of which docs/operators/config.md tells; what the command line says goes
/// before what the file says.
#[derive(clap::Args)]
pub struct Serve {
    /// The folder of <name>.wasm files, each with <name>.toml beside it if it needs anything. It may come later
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
    /// A settings file, loggia.toml: see `loggia config check`
    #[arg(long, value_name = "FILE", env = "LOGGIA_CONFIG")]
    config: Option<PathBuf>,
    /// Serve over HTTP instead of stdio, for example 127.0.0.1:8080 (port 0: any free one)
    #[arg(long, value_name = "ADDR")]
    http: Option<SocketAddr>,
    /// Serve callers without a token where other machines reach the server: on an address that is not loopback, behind a
    /// proxy (`http.hosts`), or where `[auth]` names no credential
    #[arg(long)]
    allow_anonymous: bool,
    /// Answer /healthz, /readyz and /metrics there, for example 127.0.0.1:9090. Without authentication: choose an address
    /// that only who runs the server reaches
    #[arg(long, value_name = "ADDR")]
    admin: Option<SocketAddr>,
    /// How long --http still takes connections after SIGTERM, while /readyz already says 503: as long as a load balancer takes to
    /// notice, such as 5s [default: 0s]
    #[arg(long, value_name = "TIME", value_parser = delay)]
    drain_delay: Option<Span>,
    /// Write logs for people or as a JSON object on a line each [default: human]
    #[arg(long, value_name = "FORM")]
    log_format: Option<Format>,
    /// The newest revision of MCP that clients are offered [default: the newest there is]
    #[arg(long, value_name = "REVISION")]
    max_protocol_version: Option<Revision>,
    #[command(flatten)]
    publishing: Publishing,
    #[command(flatten)]
    common: Common,
}

impl Serve {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        if self.log_format == Some(Format::Json) {
            logs::switch_to_json();
        }
        let file = self.file()?;
        let settings = self.settings(file.as_ref().map(|file| file.settings.clone()).unwrap_or_default())?;
        let authenticator = settings::authenticator(&settings, self.config.as_deref())?;
        let trail = settings.audit.file.as_deref().map(trail::open).transpose();
        logs::start(settings.log, trail.context("failed to open the audit file")?);
        if let Some(said) = settings::warning(&settings) {
            tracing::warn!("{said}");
        }
        let Some(folder) = settings.folder.clone() else {
            bail!(UsageError(
                "which folder of plugins? name it: `loggia serve plugins/`, or `folder` in the settings file"
                    .into()
            ));
        };
        ensure!(
            !folder.exists() || folder.is_dir(),
            "{} is a file: give the folder that holds it",
            folder.display()
        );
        if !folder.exists() {
            tracing::warn!(
                "there is no folder {} yet: plugins are served as soon as it is there",
                folder.display()
            );
        }
        let runtime = runtime()?;
        let options = self.options(&settings, file.as_ref().map(|file| file.path.as_path()))?;
        let host = PluginHost::new(&options)?;
        let served = runtime.block_on(async {
            match settings.http.clone() {
                None => over_stdio(&host, folder, &settings).await,
                Some(http) => {
                    let door = Door { http, authenticator, file };
                    over_http(&host, folder, door, &settings, |_| {}).await
                }
            }
        });
        // What still runs waits by the clocks of this runtime, so it ends first.
        drop(host);
        // A blocking read of stdin may never return.
        runtime.shutdown_background();
        served?;
        Ok(ExitCode::SUCCESS)
    }

    fn file(&self) -> anyhow::Result<Option<TokenReloader>> {
        let Some(file) = &self.config else { return Ok(None) };
        let path = std::path::absolute(file).with_context(|| format!("failed to find {}", file.display()))?;
        let settings = settings::read(file, |settings| {
            if self.log_format.unwrap_or(settings.log.format) == Format::Json {
                logs::switch_to_json();
            }
        })?;
        Ok(Some(TokenReloader { settings, path, read: settings::read_again }))
    }

    /// What the file says, and what the command line says instead.
    fn settings(&self, mut settings: Settings) -> anyhow::Result<Settings> {
        settings.folder = self.folder.clone().or(settings.folder);
        settings.max_protocol_version = self.max_protocol_version.or(settings.max_protocol_version);
        settings.publish = self.publishing.over(settings.publish);
        settings.log.format = self.log_format.unwrap_or(settings.log.format);
        if let Some(listen) = self.admin {
            settings.admin =
                Some(Admin { listen, hosts: settings.admin.map_or_else(Vec::new, |admin| admin.hosts) });
        }
        if let Some(listen) = self.http {
            settings.http = Some(Http { listen, ..settings.http.unwrap_or_default() });
        }
        if let Some(http) = &mut settings.http {
            http.allow_anonymous |= self.allow_anonymous;
            http.drain_delay = self.drain_delay.unwrap_or(http.drain_delay);
        }
        settings::check(&settings)?;
        Ok(settings)
    }

    fn options(&self, settings: &Settings, file: Option<&Path>) -> anyhow::Result<HostOptions> {
        let usual = self.common.options_with(settings.cache.clone(), settings.state.clone())?;
        Ok(HostOptions {
            settings: file.map(Path::to_owned),
            audit: settings.audit.file.clone(),
            keys: file.and_then(|file| auth::key_file(settings.auth(), file)),
            stack: self.common.wasm_stack.unwrap_or(settings.wasm_stack.bytes()),
            publisher: settings.publish.into(),
            quotas: settings.http.as_ref().map_or(usual.quotas, |http| http.per_caller.quotas()),
            ..usual
        })
    }
}

fn delay(text: &str) -> Result<Span, String> {
    const MOST: Duration = Duration::from_secs(60 * 60);
    let delay = units::parse_duration(text)?;
    if delay > MOST { Err("must be 0s to 1h".to_owned()) } else { Ok(Span(delay)) }
}

/// Answers who runs the server, until the process ends: the runtime's end is its own. Once `stop` is cancelled it is not ready.
async fn administer(
    host: &PluginHost,
    settings: &Settings,
    authenticator: Option<Authenticator>,
    stop: &CancellationToken,
) -> anyhow::Result<()> {
    let Some(Admin { listen, hosts }) = settings.admin.clone() else { return Ok(()) };
    let listener = tokio::net::TcpListener::bind(listen)
        .await
        .with_context(|| format!("failed to listen on {listen}: choose another with --admin ADDR"))?;
    let address = listener.local_addr()?;
    let serving = admin::serve(listener, admin::AdminState::new(host, hosts, authenticator), stop.clone());
    tokio::spawn(async move {
        if let Err(error) = serving.await {
            tracing::error!("the admin listener ended: {error}");
        }
    });
    term::note(&format!("admin on http://{address}"));
    Ok(())
}

/// What a person is told who starts a server for a client in a terminal.
const WAITS: &str = "waiting for an MCP client on stdin, which is a terminal here: MCP clients start this command themselves, \
                     and --http 127.0.0.1:8080 serves over HTTP. Ctrl-D or Ctrl-C ends it";

async fn over_stdio(host: &PluginHost, folder: PathBuf, settings: &Settings) -> anyhow::Result<()> {
    host.log_vitals_on_signal()?;
    if stdin().is_terminal() {
        term::note(WAITS);
    }
    let streams = stdio::take().context("failed to take over stdout")?;
    let stop = signals::shutdown()?;
    administer(host, settings, None, &stop).await?;
    host.watch_folder(folder, stop.clone());
    let handler = McpHandler::new(host.gate.clone(), Origin::local(), stop.clone());
    let handler = handler.with_newest_revision(settings.max_protocol_version);
    if let Err(said) = stdio::serve(handler, streams, settings.drain.0, stop).await {
        bail!("the client did not speak MCP: {said}");
    }
    Ok(())
}

/// Where callers come in, and how they say who they are.
pub struct Door {
    /// The listener.
    pub http: Http,
    /// None where they need not.
    pub authenticator: Option<Authenticator>,
    /// The settings file, whose tokens may change.
    pub file: Option<TokenReloader>,
}

/// Serves a folder over HTTP until told to stop; says where as soon as clients can connect.
pub async fn over_http(
    host: &PluginHost,
    folder: PathBuf,
    Door { http, authenticator, file }: Door,
    settings: &Settings,
    ready: impl FnOnce(SocketAddr),
) -> anyhow::Result<()> {
    host.log_vitals_on_signal()?;
    let address = http.listen;
    let listener = tokio::net::TcpListener::bind(address)
        .await
        .with_context(|| format!("failed to listen on {address}: choose another with --http ADDR"))?;
    let address = listener.local_addr()?;
    let told: CancellationToken = signals::shutdown()?;
    let stop = signals::delayed(&told, http.drain_delay.0);
    if let Some(authenticator) = &authenticator {
        authenticator.start();
    }
    if let Some(file) = file {
        tokio::spawn(file.run(authenticator.clone()));
    }
    administer(host, settings, authenticator.clone(), &told).await?;
    host.watch_folder(folder, stop.clone());
    // Should a request ever come through without its caller's name.
    let nobody = match &authenticator {
        None => Origin::anonymous(),
        Some(_) => Origin::named("nobody", Rights::of([])),
    };
    let handler = McpHandler::new(host.gate.clone(), nobody, stop.clone());
    let handler = handler.with_newest_revision(settings.max_protocol_version);
    term::note(&format!("listening on http://{address}{}", ENDPOINT_PATH));
    ready(address);
    let serving = http::HttpServer { handler, http, authenticator, drain: settings.drain.0 };
    http::serve(serving, listener, stop).await?;
    Ok(())
}
