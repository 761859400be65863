//! A host on stdio, spoken to in bytes: for what no well-behaved client sends, and for many calls in flight.

use std::{path::Path, process::Stdio};

use anyhow::{Context, Result};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout, Command},
};

use crate::{PATIENCE, binary, cache, state};

/// A host on stdio, killed with the value.
pub struct Raw {
    /// The process.
    pub child: Child,
    /// Its input.
    pub stdin: ChildStdin,
    /// What it writes.
    pub stdout: Lines<BufReader<ChildStdout>>,
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"raw","version":"0"}}}"#;

impl Raw {
    /// Starts a host on a [`Folder`](crate::Folder)'s path and shakes hands with it.
    pub async fn start(folder: &Path) -> Result<Self> {
        let mut child = Command::new(binary())
            .arg("serve")
            .arg(folder)
            .env("LOGGIA_CACHE", cache())
            .env("LOGGIA_STATE", state(folder))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()?;
        let stdin = child.stdin.take().context("stdin")?;
        let stdout = BufReader::new(child.stdout.take().context("stdout")?).lines();
        let mut raw = Self { child, stdin, stdout };
        raw.ask(INITIALIZE.as_bytes()).await?;
        raw.send(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await?;
        Ok(raw)
    }

    /// Sends a line.
    pub async fn send(&mut self, line: &[u8]) -> Result<()> {
        self.stdin.write_all(line).await?;
        self.stdin.write_all(b"\n").await?;
        Ok(self.stdin.flush().await?)
    }

    /// Sends a call of a tool.
    pub async fn call(&mut self, id: u64, tool: &str, arguments: &Value) -> Result<()> {
        let params = json!({"name": tool, "arguments": arguments});
        let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
        self.send(call.to_string().as_bytes()).await
    }

    /// The next answer, whoever it is for.
    pub async fn answer(&mut self) -> Result<Value> {
        loop {
            let line = tokio::time::timeout(PATIENCE, self.stdout.next_line()).await??;
            let told: Value = serde_json::from_str(&line.context("the host ended")?)?;
            if told.get("id").is_some() || told.get("error").is_some() {
                return Ok(told);
            }
        }
    }

    /// Sends a line; the next answer, whoever it is for.
    pub async fn ask(&mut self, line: &[u8]) -> Result<Value> {
        self.send(line).await?;
        self.answer().await
    }
}
