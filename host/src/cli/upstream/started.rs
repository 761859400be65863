//! Upstreams that are started only to be inspected.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::Context;
use futures_util::future::join_all;
use loggia_load::to_specs;
use loggia_upstream::{UpstreamEvent, UpstreamFacade, UpstreamRuntimes, UpstreamServer, UpstreamSpec};
use tokio::runtime::Handle;

use crate::cli::{common::io_runtime, settings};

/// The settings file in which upstreams are defined.
#[derive(clap::Args)]
pub struct SettingsOption {
    /// Settings file
    #[arg(long, value_name = "FILE", env = "LOGGIA_CONFIG", default_value = "loggia.toml")]
    config: PathBuf,
}

/// An upstream that was started, with its tools or the reason why there are none.
pub struct StartedUpstream {
    pub spec: UpstreamSpec,
    pub tools: Result<Arc<UpstreamFacade>, String>,
}

impl SettingsOption {
    /// Path of the file.
    pub fn path(&self) -> &Path {
        &self.config
    }

    /// Reads the upstreams of the settings.
    pub fn specs(&self) -> anyhow::Result<Vec<UpstreamSpec>> {
        let file = &self.config;
        anyhow::ensure!(
            !matches!(file.try_exists(), Ok(false)),
            "there is no {}: --config FILE names another",
            file.display()
        );
        let settings = settings::read_and_check(file)?;
        Ok(to_specs(&settings.upstream))
    }
}

/// Starts upstreams concurrently, waits for their tools, and stops them.
pub fn inspect(specs: Vec<UpstreamSpec>) -> anyhow::Result<Vec<StartedUpstream>> {
    let runtime = io_runtime().context("failed to start")?;
    let inspected = specs.into_iter().map(|spec| inspect_one(spec, runtime.handle()));
    Ok(runtime.block_on(join_all(inspected)))
}

async fn inspect_one(spec: UpstreamSpec, runtime: &Handle) -> StartedUpstream {
    let server = UpstreamServer::start(spec.clone(), &UpstreamRuntimes::single(runtime));
    let mut events = server.events();
    let tools = loop {
        let event = events.borrow_and_update().clone();
        match event {
            UpstreamEvent::Ready(facade) => break Ok(facade),
            UpstreamEvent::Unavailable(reason) => break Err(reason),
            UpstreamEvent::Starting => {}
        }
        if events.changed().await.is_err() {
            break Err("it ended".to_owned());
        }
    };
    server.stop().await;
    StartedUpstream { spec, tools }
}
