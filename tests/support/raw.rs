//! A host on stdio at byte level: for input that no well-behaved client sends, and for many calls in flight.
//!
//! Checks that all of stdout follows the protocol: each line is one message of JSON-RPC 2.0, and each answer belongs to
//! one unanswered request.

use std::{collections::BTreeMap, path::Path, process::Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    process::{Child, ChildStdin, ChildStdout, Command},
    time::timeout,
};

use crate::{PATIENCE, binary, cache, state};

/// A host on stdio, killed with the value.
pub struct Raw {
    /// The process.
    pub child: Child,
    stdin: ChildStdin,
    /// Written part of an unfinished line.
    line: Vec<u8>,
    heard: Heard,
}

/// Output of the host.
struct Heard {
    stdout: BufReader<ChildStdout>,
    /// Received part of an unfinished line: dropping a pending read loses nothing.
    begun: Vec<u8>,
    /// Number of outstanding answers for each id, by the id's JSON.
    open: BTreeMap<String, usize>,
    messages: Vec<Value>,
}

/// Number of bytes of a line that are searched for its id, if it is written in pieces.
const LINE: usize = 4 << 10;

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"raw","version":"0"}}}"#;

impl Raw {
    /// Starts a host on a [`Folder`](crate::Folder)'s path and shakes hands with it.
    pub async fn start(folder: &Path) -> Result<Self> {
        Self::start_with(folder, |_| {}).await
    }

    /// Like [`Raw::start`], with further options.
    pub async fn start_with(folder: &Path, more: impl FnOnce(&mut Command)) -> Result<Self> {
        let mut raw = Self::unopened(folder, more)?;
        raw.ask(INITIALIZE.as_bytes()).await?;
        raw.send(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await?;
        Ok(raw)
    }

    /// Starts a host and sends it nothing.
    pub fn unopened(folder: &Path, more: impl FnOnce(&mut Command)) -> Result<Self> {
        let mut command = Command::new(binary());
        command
            .arg("serve")
            .arg(folder)
            .env("LOGGIA_CACHE", cache())
            .env("LOGGIA_STATE", state(folder))
            .env("LOGGIA_PIN", "open");
        command.stderr(Stdio::null());
        more(&mut command);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true).spawn()?;
        let stdin = child.stdin.take().context("stdin")?;
        let stdout = BufReader::new(child.stdout.take().context("stdout")?);
        let heard = Heard { stdout, begun: Vec::new(), open: BTreeMap::new(), messages: Vec::new() };
        Ok(Self { child, stdin, line: Vec::new(), heard })
    }

    /// Sends a line, or the end of one.
    pub async fn send(&mut self, line: &[u8]) -> Result<()> {
        self.write(line).await?;
        if let Some(id) = asked(&std::mem::take(&mut self.line)) {
            *self.heard.open.entry(id).or_default() += 1;
        }
        self.write_all(b"\n").await
    }

    /// Writes the beginning of a line.
    pub async fn write(&mut self, bytes: &[u8]) -> Result<()> {
        // An endless line is not stored.
        if self.line.len() < LINE {
            self.line.extend_from_slice(bytes);
        }
        self.write_all(bytes).await
    }

    async fn write_all(&mut self, bytes: &[u8]) -> Result<()> {
        self.stdin.write_all(bytes).await?;
        Ok(self.stdin.flush().await?)
    }

    /// Sends a call of a tool.
    pub async fn call(&mut self, id: u64, tool: &str, arguments: &Value) -> Result<()> {
        let params = json!({"name": tool, "arguments": arguments});
        let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
        self.send(call.to_string().as_bytes()).await
    }

    /// Takes a request back.
    pub async fn cancel(&mut self, id: u64) -> Result<()> {
        let told =
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
        self.send(told.to_string().as_bytes()).await
    }

    /// Returns the next answer, for any request.
    pub async fn answer(&mut self) -> Result<Value> {
        loop {
            let told = timeout(PATIENCE, self.heard.next()).await??.context("the host ended")?;
            if told.get("id").is_some() || told.get("error").is_some() {
                return Ok(told);
            }
        }
    }

    /// Sends a line and returns the next answer, for any request.
    pub async fn ask(&mut self, line: &[u8]) -> Result<Value> {
        self.send(line).await?;
        self.answer().await
    }

    /// Closes stdin, reads the remaining output, and waits for a successful exit; returns every message from the first.
    pub async fn finish(self) -> Result<Vec<Value>> {
        let Self { mut child, stdin, mut heard, .. } = self;
        drop(stdin);
        while timeout(PATIENCE, heard.next()).await??.is_some() {}
        let status = timeout(PATIENCE, child.wait()).await??;
        ensure!(status.success(), "a client that closes its end is no error: {status}");
        Ok(heard.messages)
    }
}

impl Heard {
    /// Returns the next message, or `None` at the end of output.
    async fn next(&mut self) -> Result<Option<Value>> {
        self.stdout.read_until(b'\n', &mut self.begun).await?;
        if self.begun.is_empty() {
            return Ok(None);
        }
        let bytes = std::mem::take(&mut self.begun);
        let line = std::str::from_utf8(&bytes).context("not UTF-8")?;
        let text = line.strip_suffix('\n').with_context(|| format!("half a line: {line:.200}"))?;
        let message: Value = serde_json::from_str(text).with_context(|| format!("not JSON: {text:.200}"))?;
        self.check(&message).with_context(|| format!("not a message: {text:.200}"))?;
        self.messages.push(message.clone());
        Ok(Some(message))
    }

    fn check(&mut self, message: &Value) -> Result<()> {
        ensure!(message["jsonrpc"] == "2.0", "not of JSON-RPC 2.0");
        let has = |member: &str| message.get(member).is_some();
        if has("method") {
            ensure!(message["method"].is_string() && !has("result") && !has("error"), "half a request");
            return Ok(());
        }
        ensure!(has("result") != has("error"), "neither a request nor an answer");
        if message["id"].is_null() {
            ensure!(has("error"), "an answer to nobody");
            return Ok(());
        }
        let open = self.open.get_mut(&message["id"].to_string()).filter(|open| **open > 0);
        *open.context("an answer to what was not asked, or was answered before")? -= 1;
        Ok(())
    }
}

/// Finds the id of a request, even if the rest is malformed.
fn asked(line: &[u8]) -> Option<String> {
    if let Ok(message) = serde_json::from_slice::<Value>(line) {
        return message.get("method").and(message.get("id")).map(Value::to_string);
    }
    let text = String::from_utf8_lossy(line);
    let (_, id) = text.split_once("\"id\":")?;
    let digits: String = id.chars().take_while(char::is_ascii_digit).collect();
    (!digits.is_empty()).then_some(digits)
}
