//! Kernel figures of a host's process, and a raw request.

use std::{fs, time::Duration};

use anyhow::{Context, Result};
use loggia_tests::HttpHost;
use serde_json::{Value, json};
use tokio::process::Child;

pub fn id(child: &Child) -> Result<u32> {
    child.id().context("the host ended")
}

/// The children that a host has now.
pub fn children(child: &Child) -> Result<Vec<u32>> {
    let parent = u64::from(id(child)?);
    let processes = fs::read_dir("/proc")?.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    Ok(processes.filter(|process| figure(*process, "PPid").is_ok_and(|found| found == parent)).collect())
}

/// The OOM score of a process: 1000 is killed first.
pub fn oom_score(process: u32) -> Result<i64> {
    Ok(fs::read_to_string(format!("/proc/{process}/oom_score_adj"))?.trim().parse()?)
}

fn status(child: &Child, key: &str) -> Result<u64> {
    figure(id(child)?, key)
}

/// A figure of `/proc/<process>/status`.
pub fn figure(process: u32, key: &str) -> Result<u64> {
    let text = fs::read_to_string(format!("/proc/{process}/status"))?;
    let line =
        text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':')).context("no such figure")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}

/// Number of threads.
pub fn threads(child: &Child) -> Result<u64> {
    status(child, "Threads")
}

/// The CPU time that it has used, all of its threads together.
pub fn cpu(child: &Child) -> Result<Duration> {
    let text = fs::read_to_string(format!("/proc/{}/stat", id(child)?))?;
    let (_, fields) = text.rsplit_once(") ").context("no name")?;
    // In user code and in the kernel; Linux counts in hundredths of a second here.
    let ticks: u64 = fields.split(' ').skip(11).take(2).map_while(|ticks| ticks.parse::<u64>().ok()).sum();
    Ok(Duration::from_millis(ticks * 10))
}

/// Number of open descriptors.
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
