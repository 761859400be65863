//! One client of a host.

use std::{sync::Arc, time::Duration};

use anyhow::{Context, Result, ensure};
use loggia_tests::{Client, ERAS, HttpHost};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::{host::Entrance, pipe::Pipe, random::Random};

/// A client that is connected.
pub enum Door {
    /// All clients of a host on stdio are one.
    Pipe(Arc<Pipe>),
    /// One of many.
    Http(Box<Client>),
}

impl Door {
    /// Connects a client.
    pub async fn open(entrance: &Entrance, random: &mut Random) -> Result<Self> {
        Ok(match entrance {
            Entrance::Stdio(pipe) => Self::Pipe(Arc::clone(pipe)),
            Entrance::Http(host) => Self::Http(Box::new(Client::http(host, *random.one(&ERAS)).await?)),
        })
    }

    /// Makes a call; its envelope.
    pub async fn call(&self, tool: &str, arguments: &Value) -> Result<Value> {
        let result = match self {
            Self::Pipe(pipe) => pipe.call(tool, arguments).await?,
            Self::Http(client) => {
                let result = client.call(tool, arguments.clone()).await.context("lost")?;
                serde_json::to_value(result)?
            }
        };
        let envelope = &result["structuredContent"];
        let failed = result["isError"] == true;
        ensure!(envelope["ok"] == !failed, "isError does not follow ok: {result:.300}");
        let text = result["content"][0]["text"].as_str().context("no text")?;
        ensure!(serde_json::from_str::<Value>(text)? == *envelope, "text and structuredContent differ");
        Ok(envelope.clone())
    }

    /// Starts a call and abandons it: by cancellation or by disconnecting.
    pub async fn give_up(self, tool: &str, arguments: &Value, after: Duration) -> Result<Option<Self>> {
        match &self {
            Self::Pipe(pipe) => {
                pipe.cancelled(tool, arguments, after).await?;
                Ok(Some(self))
            }
            Self::Http(client) => {
                drop(tokio::time::timeout(after, client.call(tool, arguments.clone())).await);
                Ok(None)
            }
        }
    }

    /// Goes, with a goodbye.
    pub async fn close(self) -> Result<()> {
        match self {
            Self::Pipe(_) => Ok(()),
            Self::Http(client) => client.end().await,
        }
    }
}

/// Starts a session and leaves without ending it, as most clients do.
pub async fn abandon(host: &HttpHost) -> Result<()> {
    let body = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"gone","version":"0"}}}"#;
    let mut stream = TcpStream::connect(host.authority()).await?;
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        host.authority(),
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    let answer = String::from_utf8_lossy(&answer).to_ascii_lowercase();
    ensure!(answer.contains("mcp-session-id"), "no session: {answer:.300}");
    Ok(())
}
