//! What the kernel says of a host's process, and a request in bytes.

use std::fs;

use anyhow::{Context, Result};
use loggia_tests::HttpHost;
use serde_json::{Value, json};
use tokio::process::Child;

fn id(child: &Child) -> Result<u32> {
    child.id().context("the host ended")
}

/// A figure of `/proc/<id>/status`.
fn status(child: &Child, key: &str) -> Result<u64> {
    let text = fs::read_to_string(format!("/proc/{}/status", id(child)?))?;
    let line =
        text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':')).context("no such figure")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}

/// How many threads it has.
pub fn threads(child: &Child) -> Result<u64> {
    status(child, "Threads")
}

/// How many descriptors it has open.
pub fn descriptors(child: &Child) -> Result<usize> {
    Ok(fs::read_dir(format!("/proc/{}/fd", id(child)?))?.count())
}

/// A call that needs no session.
pub fn request(host: &HttpHost, tool: &str, arguments: &Value, headers: &str) -> String {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "0"},
    });
    let params = json!({"_meta": meta, "name": tool, "arguments": arguments});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
    format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nAccept: application/json, \
         text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {tool}\r\n\
         {headers}Content-Length: {}\r\n\r\n{body}",
        host.authority(),
        body.len()
    )
}
