//! Raw HTTP requests, for input that no well-behaved client sends, and raw responses.

use anyhow::{Context, Result};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

use crate::{HttpHost, PATIENCE};

/// The begin of a session.
pub const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"raw","version":"0"}}}"#;
/// Second message of the handshake.
pub const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// An answer.
#[derive(Debug)]
pub struct Told {
    /// 200, …
    pub status: u16,
    /// The head, in lower case.
    pub head: String,
    /// Body, including chunk frames.
    pub body: String,
}

impl Told {
    fn parse(answer: &str) -> Result<Self> {
        let (head, body) =
            answer.split_once("\r\n\r\n").with_context(|| format!("no head: {answer:.300?}"))?;
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).context("no status")?;
        Ok(Self { status, head: lowercase(head), body: body.to_owned() })
    }

    /// A field of the head.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| Some(line.strip_prefix(name)?.strip_prefix(':')?.trim()))
    }

    /// Message in the body: plain, or the last event of a stream.
    pub fn message(&self) -> Result<Value> {
        let last = self.body.lines().rev().find_map(|line| line.strip_prefix("data: {"));
        let text = last.map_or_else(|| self.body.clone(), |rest| format!("{{{rest}"));
        serde_json::from_str(&text).with_context(|| format!("{}\n\n{:.300}", self.head, self.body))
    }

    /// The envelope of a call's result.
    pub fn envelope(&self) -> Result<Value> {
        Ok(self.message()?["result"]["structuredContent"].clone())
    }
}

/// Sends bytes to a server and reads the response until the connection closes.
pub async fn send(authority: &str, bytes: &[u8]) -> Result<Told> {
    let mut line = Line::open(authority).await?;
    // The server may refuse the rest with a reason.
    drop(line.stream.write_all(bytes).await);
    line.rest().await
}

/// Builds a POST request with further headers, each with its line end; only `Host` is set already.
pub fn post(host: &HttpHost, headers: &str, body: &str) -> String {
    message(&format!("Host: {}\r\n{headers}", host.authority()), body)
}

/// Like [`post`], without a host unless `headers` has one.
pub fn message(headers: &str, body: &str) -> String {
    format!(
        "POST /mcp HTTP/1.1\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         Content-Length: {}\r\n{headers}\r\n{body}",
        body.len()
    )
}

/// A request without a session; `more` are its parameters.
pub fn request(id: usize, method: &str, more: Value) -> String {
    let mut params = json!({"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}, "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "0"}}});
    if let (Some(params), Value::Object(more)) = (params.as_object_mut(), more) {
        params.extend(more);
    }
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}

/// The headers that go with it.
pub fn named(method: &str, name: &str) -> String {
    let name = if name.is_empty() { String::new() } else { format!("Mcp-Name: {name}\r\n") };
    format!("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n{name}")
}

/// A call without a session.
pub fn call(host: &HttpHost, headers: &str, id: usize, tool: &str, arguments: &Value) -> String {
    let body = request(id, "tools/call", json!({"name": tool, "arguments": arguments}));
    post(host, &format!("{}{headers}", named("tools/call", tool)), &body)
}

/// The same request with weights in `Accept`: the server then leaves a call to rmcp, which logs it.
pub fn weighted(request: &str) -> String {
    request.replacen("Accept: application/json,", "Accept: application/json;q=0.9,", 1)
}

/// Sends a message; the answer.
pub async fn ask(host: &HttpHost, headers: &str, body: &str) -> Result<Told> {
    send(host.authority(), post(host, &format!("{headers}Connection: close\r\n"), body).as_bytes()).await
}

/// Makes a call without a session; the answer.
pub async fn answered(host: &HttpHost, headers: &str, tool: &str, arguments: &Value) -> Result<Told> {
    let headers = format!("{headers}Connection: close\r\n");
    send(host.authority(), call(host, &headers, 1, tool, arguments).as_bytes()).await
}

/// The call of a tool in a session, which names the session by its headers.
pub fn in_session(id: usize, tool: &str, arguments: &Value) -> String {
    let params = json!({"name": tool, "arguments": arguments});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
}

/// Headers in lowercase, except for ids of sessions, which are case-sensitive.
fn lowercase(head: &str) -> String {
    let lines = head.lines().map(|line| match line.split_once(": ") {
        Some((name, id)) if name.eq_ignore_ascii_case("mcp-session-id") => format!("mcp-session-id: {id}"),
        _ => line.to_ascii_lowercase(),
    });
    lines.collect::<Vec<_>>().join("\r\n")
}

/// Starts a session; returns the header with its id.
pub async fn session(host: &HttpHost, headers: &str, initialize: &str) -> Result<String> {
    let told = ask(host, headers, initialize).await?;
    let id = told.header("mcp-session-id").with_context(|| format!("no session: {told:?}"))?;
    let session = format!("{headers}Mcp-Session-Id: {id}\r\n");
    let told = ask(host, &session, INITIALIZED).await?;
    anyhow::ensure!(told.status == 202, "{told:?}");
    Ok(session)
}

/// Opens a session's notification stream and reads the response headers.
pub async fn listened(host: &HttpHost, session: &str) -> Result<Line> {
    let mut line = Line::open(host.authority()).await?;
    let own = host.authority();
    line.write(format!("GET /mcp HTTP/1.1\r\nHost: {own}\r\nAccept: text/event-stream\r\n{session}\r\n"))
        .await?;
    let told = line.head().await?;
    anyhow::ensure!(told.status == 200, "{told:?}");
    Ok(line)
}

/// One connection.
pub struct Line {
    /// Socket.
    pub stream: TcpStream,
    /// Received but unread text.
    heard: String,
}

impl Line {
    /// Connects.
    pub async fn open(authority: &str) -> Result<Self> {
        Ok(TcpStream::connect(authority).await?.into())
    }

    /// Sends bytes.
    pub async fn write(&mut self, bytes: impl AsRef<[u8]>) -> Result<()> {
        Ok(self.stream.write_all(bytes.as_ref()).await?)
    }

    /// Reads up to and including this text.
    pub async fn until(&mut self, text: &str) -> Result<String> {
        timeout(2 * PATIENCE, self.read_until(text))
            .await
            .context("something came again and again, but not that")?
    }

    async fn read_until(&mut self, text: &str) -> Result<String> {
        loop {
            if let Some(at) = self.heard.find(text) {
                return Ok(self.heard.drain(..at + text.len()).collect());
            }
            let mut bytes = [0; 4096];
            let read = timeout(PATIENCE, self.stream.read(&mut bytes)).await.context("nothing came")??;
            anyhow::ensure!(read > 0, "the connection ended; {text:?} did not come: {}", self.heard);
            self.heard.push_str(&String::from_utf8_lossy(&bytes[..read]));
        }
    }

    /// Reads the headers of the next response; its body follows.
    pub async fn head(&mut self) -> Result<Told> {
        Told::parse(&self.until("\r\n\r\n").await?)
    }

    /// The next answer that has a length.
    pub async fn answer(&mut self) -> Result<Told> {
        let head = self.head().await?;
        let length: usize = head.header("content-length").with_context(|| head.head.clone())?.parse()?;
        while self.heard.len() < length {
            let mut bytes = [0; 4096];
            let read = timeout(PATIENCE, self.stream.read(&mut bytes)).await??;
            anyhow::ensure!(read > 0, "half an answer: {}", self.heard);
            self.heard.push_str(&String::from_utf8_lossy(&bytes[..read]));
        }
        Ok(Told { body: self.heard.drain(..length).collect(), ..head })
    }

    /// Reads the next event with a message.
    pub async fn event(&mut self) -> Result<Value> {
        self.until("data: {").await?;
        let rest = self.until("\n").await?;
        Ok(serde_json::from_str(&format!("{{{}", rest.trim_end()))?)
    }

    /// Reads until the server closes the connection, and parses a response.
    pub async fn rest(self) -> Result<Told> {
        Told::parse(&self.end().await?)
    }

    /// Reads until the server closes the connection.
    pub async fn end(mut self) -> Result<String> {
        let mut bytes = Vec::new();
        // The server may close while unread input remains.
        drop(timeout(PATIENCE, self.stream.read_to_end(&mut bytes)).await.context("it stays open")?);
        Ok(self.heard + &String::from_utf8_lossy(&bytes))
    }
}

impl From<TcpStream> for Line {
    fn from(stream: TcpStream) -> Self {
        Self { stream, heard: String::new() }
    }
}
