//! The baseline: the bench's tools on the official Rust SDK, no sandbox.
//!
//! `native` serves stdio, and with `--pipes` without the threads that the SDK's own stdio costs. `native --http
//! 127.0.0.1:PORT` serves streamable HTTP with the SDK's defaults, of which `--nodelay` sets TCP_NODELAY, `--json` drops
//! event streams from replies, `--stateless` drops sessions, and `--tuned` does all three.

use std::{error::Error, sync::Arc};

use axum::serve::ListenerExt;
use loggia_bench_tools as tools;
use rmcp::{
    ServerHandler, ServiceExt,
    handler::server::{router::tool::ToolRouter, wrapper::Parameters},
    tool, tool_handler, tool_router,
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
    },
};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::net::unix::pipe;

#[derive(Deserialize, JsonSchema)]
struct Input {
    input: String,
}

#[derive(Clone)]
struct Tools {
    tool_router: ToolRouter<Self>,
}

#[tool_router]
impl Tools {
    fn new() -> Self {
        Self { tool_router: Self::tool_router() }
    }

    #[tool(description = "Returns its input unchanged.")]
    async fn echo(&self, Parameters(args): Parameters<Input>) -> String {
        tools::echo(args.input)
    }

    #[tool(description = "Adds two members to a JSON object.")]
    async fn transform(&self, Parameters(args): Parameters<Input>) -> Result<String, String> {
        tools::transform(&args.input)
    }

    #[tool(description = "Build version of the plugin.")]
    async fn version(&self) -> String {
        tools::VERSION.to_owned()
    }

    #[tool(description = "Loops forever.")]
    async fn spin(&self) -> String {
        tools::spin()
    }

    #[tool(description = "Allocates without end.")]
    async fn hog(&self) -> String {
        tools::hog()
    }
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for Tools {}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().collect();
    let Some(at) = args.iter().position(|a| a == "--http") else {
        let service = if args.iter().any(|a| a == "--pipes") {
            let pipes = pipe::OpenOptions::new();
            let streams = (pipes.open_receiver("/proc/self/fd/0")?, pipes.open_sender("/proc/self/fd/1")?);
            Tools::new().serve(streams).await?
        } else {
            Tools::new().serve(rmcp::transport::stdio()).await?
        };
        service.waiting().await?;
        return Ok(());
    };
    let address = args.get(at + 1).ok_or("--http needs an address")?;
    let has = |flag: &str| args.iter().any(|a| a == flag || a == "--tuned");
    let nodelay = has("--nodelay");
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(!has("--stateless"))
        .with_json_response(has("--json"));
    let service =
        StreamableHttpService::new(|| Ok(Tools::new()), Arc::new(LocalSessionManager::default()), config);
    let listener = tokio::net::TcpListener::bind(address).await?.tap_io(move |stream| {
        if nodelay {
            let _ = stream.set_nodelay(true);
        }
    });
    axum::serve(listener, axum::Router::new().nest_service("/mcp", service)).await?;
    Ok(())
}
