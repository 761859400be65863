//! `loggia serve`.

use std::{net::SocketAddr, path::PathBuf, process::ExitCode};

use anyhow::{Context, bail, ensure};
use tokio_util::sync::CancellationToken;

use super::{Common, publishing::Publishing, runtime, term};
use crate::{
    gate::Origin,
    mcp::Handler,
    serve::{Host, Options, http, signals, stdio},
    telemetry::logs::{self, Level},
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
    #[command(flatten)]
    publishing: Publishing,
    #[command(flatten)]
    common: Common,
}

impl Serve {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        logs::at(Level::Info);
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
                None => over_stdio(&host, self.folder).await,
                Some(address) => over_http(&host, self.folder, address, |_| {}).await,
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

async fn over_stdio(host: &Host, folder: PathBuf) -> anyhow::Result<()> {
    host.tell_vitals()?;
    let streams = stdio::take().context("failed to take over stdout")?;
    let stop = signals::shutdown()?;
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
    host.follow(folder, stop.clone());
    let handler = Handler::new(host.gate.clone(), Origin::anonymous(), stop.clone());
    term::note(&format!("listening on http://{address}{}", http::PATH));
    ready(address);
    http::serve(handler, listener, stop).await?;
    Ok(())
}
