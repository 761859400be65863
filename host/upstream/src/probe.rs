//! One look at a server: does it answer, and which tools does it list? For diagnosis, not for service.

use std::sync::Arc;

use serde_json::Value;
use tokio::time::timeout;

use crate::{
    connection::{EndpointAnswer, UpstreamLink, ask_endpoint},
    runtimes::UpstreamRuntimes,
    spec::{HttpSpec, UpstreamSpec},
    watch::keep_secrets,
};

/// Time for a connection to end after a look.
const STOP: std::time::Duration = std::time::Duration::from_secs(5);
/// Bytes of a tool's name that are kept.
const NAME: usize = 256;

/// What a server says to a client that connects. Untrusted texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerLook {
    /// Its name, for people if it has one.
    pub title: String,
    /// Its version.
    pub version: String,
    /// Names of its tools.
    pub tools: Vec<String>,
}

/// Connects to a server as a client does, lists its tools, and ends the connection.
///
/// # Errors
///
/// Why it cannot be used: a fragment about the server, such as "its process ended with exit status: 1".
pub async fn look_at_server(spec: UpstreamSpec, runtimes: &UpstreamRuntimes) -> Result<ServerLook, String> {
    keep_secrets(&spec);
    let limit = spec.limits.connect;
    let link = UpstreamLink::new(Arc::new(spec), runtimes.clone());
    let looked = timeout(limit, async {
        let connection = link.connection().await.map_err(|outage| outage.reason)?;
        let tools = connection.list_tools(limit).await?;
        let names = tools.iter().filter_map(|tool| tool.get("name").and_then(Value::as_str));
        let names = names.map(|name| loggia_text::sanitise_line(name, NAME)).collect();
        let profile = connection.profile();
        Ok(ServerLook { title: profile.title.clone(), version: profile.version.clone(), tools: names })
    });
    let looked =
        looked.await.unwrap_or_else(|_| Err(format!("it did not answer within {} s", limit.as_secs())));
    link.stop();
    let _ = timeout(STOP, link.ended()).await;
    looked
}

/// Sends the first request of a client to an address, and returns what came back, whatever it is.
pub async fn look_at_endpoint(spec: &HttpSpec) -> EndpointAnswer {
    ask_endpoint(spec).await
}
