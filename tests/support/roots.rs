//! A stdio client that names roots.

use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};
use tokio::process::Command;

use crate::Raw;

/// A client of 2025-11-25 that names these roots when it is asked.
pub struct RootsClient {
    raw: Raw,
    /// Result of `roots/list`.
    roots: Value,
    /// Number of times that it was asked.
    pub asked: usize,
    last_id: u64,
}

/// The result of `roots/list` with these directories.
pub fn roots(dirs: &[&Path]) -> Value {
    let root = |dir: &&Path| json!({"uri": format!("file://{}", dir.display())});
    json!({"roots": dirs.iter().map(root).collect::<Vec<_>>()})
}

impl RootsClient {
    /// Starts a host on a [`Folder`](crate::Folder)'s path, and shakes hands with it.
    pub async fn start(folder: &Path, roots: Value) -> Result<Self> {
        Self::start_with(folder, roots, |_| {}).await
    }

    /// Like [`RootsClient::start`], with further options.
    pub async fn start_with(folder: &Path, roots: Value, more: impl FnOnce(&mut Command)) -> Result<Self> {
        let mut raw = Raw::unopened(folder, more)?;
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {"roots": {"listChanged": true}},
            "clientInfo": {"name": "editor", "version": "0"}});
        let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
        raw.ask(hello.to_string().as_bytes()).await?;
        raw.send(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await?;
        Ok(Self { raw, roots, asked: 0, last_id: 0 })
    }

    /// Changes the roots, and announces it.
    pub async fn change(&mut self, roots: Value) -> Result<()> {
        self.roots = roots;
        self.raw.send(br#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#).await
    }

    /// Calls a tool; returns the envelope.
    pub async fn envelope(&mut self, tool: &str, arguments: Value) -> Result<Value> {
        self.last_id += 1;
        self.raw.call(self.last_id, tool, &arguments).await?;
        loop {
            let message = self.raw.answer().await?;
            if message["method"] == "roots/list" {
                self.asked += 1;
                let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": self.roots});
                self.raw.send(answer.to_string().as_bytes()).await?;
            } else if message["id"] == self.last_id {
                return Ok(message["result"]["structuredContent"].clone());
            }
        }
    }

    /// Ends the client; the host must exit successfully.
    pub async fn end(self) -> Result<()> {
        self.raw.finish().await.map(drop)
    }
}
