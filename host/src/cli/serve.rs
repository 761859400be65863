//! `loggia serve`.

use std::{net::SocketAddr, path::PathBuf, process::ExitCode};

use anyhow::{Context, bail, ensure};
use tokio_util::sync::CancellationToken;

use super::{Common, publishing::Publishing, runtime, term};
use crate::{
    config::server::{Format, Log},
    gate::Origin,
    mcp::Handler,
    serve::{Host, Options, admin, http, signals, stdio},
    telemetry::logs,
};

/// Serve a folder of plugins to an MCP client.
///
/// Without --http the client is the process that started this one: stdin and stdout carry the protocol. Plugins that
/// are added, replaced or removed while it runs are noticed; a new version that does not load leaves the old one
/// serving.
///
/// SIGTERM or SIGINT lets calls that run come to an end first; a second one stops at once. SIGUSR1 writes what the host
/// holds to the log: memory, open descriptors, threads and tasks.
#[derive(clap::Args)]
pub struct Serve {
    /// The folder of <name>.wasm files, each with <name>.toml beside it if it needs anything. It may come later
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Serve over HTTP instead of stdio, for example 127.0.0.1:8080 (port 0: any free one)
    #[arg(long, value_name = "ADDR")]
    http: Option<SocketAddr>,
    /// Answer /healthz, /readyz and /metrics there, for example 127.0.0.1:9090. Without authentication: choose an address
    /// that only who runs the server reaches
    #[arg(long, value_name = "ADDR")]
    admin: Option<SocketAddr>,
    /// Write logs for people or as a JSON object on a line each
    #[arg(long, value_name = "FORM", value_enum, default_value = "human")]
    log_format: Format,
    #[command(flatten)]
    publishing: Publishing,
    #[command(flatten)]
    common: Common,
}

impl Serve {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        logs::start(Log { format: self.log_format, ..Log::default() });
        ensure!(
            !self.folder.exists() || self.folder.is_dir(),
            "{} is a file: give the folder that holds it",
            self.folder.display()
        );
        if !self.folder.exists() {
            tracing::warn!(
                "there is no folder {} yet: plugins are served as soon as it is there",
                self.folder.display()
            );
        }
        let runtime = runtime()?;
        let options = Options { publisher: self.publishing.publisher(), ..self.common.options() };
        let host = Host::new(&options)?;
        let served = runtime.block_on(async {
            match self.http {
                None => over_stdio(&host, self.folder, self.admin).await,
                Some(address) => over_http(&host, self.folder, address, self.admin, |_| {}).await,
            }
        });
        // What still runs waits by the clocks of this runtime, so it ends first.
        drop(host);
        // A blocking read of stdin may never return.
        runtime.shutdown_background();
        served?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Answers who runs the server, until the process ends: the runtime's end is its own.
async fn administer(
    host: &Host,
    address: Option<SocketAddr>,
    stop: &CancellationToken,
) -> anyhow::Result<()> {
    let Some(address) = address else { return Ok(()) };
    let listener = tokio::net::TcpListener::bind(address)
        .await
        .with_context(|| format!("failed to listen on {address}: choose another with --admin ADDR"))?;
    let address = listener.local_addr()?;
    let serving = admin::serve(listener, admin::State::new(host, Vec::new()), stop.clone());
    tokio::spawn(async move {
        if let Err(error) = serving.await {
            tracing::error!("the admin listener ended: {error}");
        }
    });
    term::note(&format!("admin on http://{address}"));
    Ok(())
}

async fn over_stdio(host: &Host, folder: PathBuf, admin: Option<SocketAddr>) -> anyhow::Result<()> {
    host.tell_vitals()?;
    let streams = stdio::take().context("failed to take over stdout")?;
    let stop = signals::shutdown()?;
    administer(host, admin, &stop).await?;
    host.follow(folder, stop.clone());
    let handler = Handler::new(host.gate.clone(), Origin::local(), stop.clone());
    if let Err(said) = stdio::serve(handler, streams, stop).await {
        bail!("the client did not speak MCP: {said}");
    }
    Ok(())
}

/// Serves a folder over HTTP until told to stop; says where as soon as clients can connect.
pub async fn over_http(
    host: &Host,
    folder: PathBuf,
    address: SocketAddr,
    admin: Option<SocketAddr>,
    ready: impl FnOnce(SocketAddr),
) -> anyhow::Result<()> {
    ensure!(
        address.ip().is_loopback(),
        "{address} can be reached from other machines, and this version has no authentication: use a loopback \
         address such as 127.0.0.1:{}",
        address.port()
    );
    host.tell_vitals()?;
    let listener = tokio::net::TcpListener::bind(address)
        .await
        .with_context(|| format!("failed to listen on {address}: choose another with --http ADDR"))?;
    let address = listener.local_addr()?;
    let stop: CancellationToken = signals::shutdown()?;
    administer(host, admin, &stop).await?;
    host.follow(folder, stop.clone());
    let handler = Handler::new(host.gate.clone(), Origin::anonymous(), stop.clone());
    term::note(&format!("listening on http://{address}{}", http::PATH));
    ready(address);
    http::serve(handler, listener, stop).await?;
    Ok(())
}
