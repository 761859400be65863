//! Specifics of HTTP: access and shutdown.

use anyhow::{Context, Result};
use loggia_tests::{
    Folder, HttpHost, PATIENCE, binary, cache, scratch, signal,
    wire::{self, INITIALIZE},
};
use rustix::process::Signal;
use serde_json::json;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
    process::Command,
};

/// One raw request; the status of the answer, and the answer.
async fn post(host: &HttpHost, headers: &str, body: &str) -> Result<(u16, String)> {
    let mut stream = TcpStream::connect(host.authority()).await?;
    let length = body.len();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         Connection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
    );
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    tokio::time::timeout(PATIENCE, stream.read_to_string(&mut answer)).await??;
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).context("no status")?;
    Ok((status, answer))
}

#[tokio::test]
async fn the_address_it_listens_on_is_answered_to() -> Result<()> {
    let folder = Folder::with(&[]);
    let mut child = Command::new(binary())
        .args(["serve", "--http", "127.0.0.2:0"])
        .arg(folder.path())
        .env("LOGGIA_CACHE", cache())
        .env("LOGGIA_STATE", scratch())
        .stderr(std::process::Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let mut lines = BufReader::new(child.stderr.take().context("no stderr")?).lines();
    let said = tokio::time::timeout(PATIENCE, lines.next_line()).await??.context("no address")?;
    let url = said.strip_prefix("listening on ").context("no address")?.to_owned();
    let host = HttpHost { url, child };
    let own = host.authority();
    let (status, answer) =
        post(&host, &format!("Host: {own}\r\nOrigin: http://{own}\r\n"), INITIALIZE).await?;
    assert_eq!(status, 200, "{answer}");
    Ok(())
}

#[tokio::test]
async fn sessions_are_bounded_and_the_idlest_makes_room() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let host = HttpHost::configured(&folder, "[http]\nsessions = 16").await?;
    let own = format!("Host: {}\r\n", host.authority());
    // One with an open stream, and then more than the limit.
    let mut listening = wire::listened(&host, &wire::session(&host, "", INITIALIZE).await?).await?;
    let mut ids = Vec::new();
    for _ in 0..20 {
        let (status, answer) = post(&host, &own, INITIALIZE).await?;
        assert_eq!(status, 200, "{answer}");
        let id =
            answer.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).context("no session")?;
        ids.push(id.trim().to_owned());
    }
    let ping = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;
    let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    // The first was evicted, and is restored.
    for id in [&ids[0], &ids[19]] {
        let headers = format!("{own}Mcp-Session-Id: {id}\r\n");
        assert_eq!(post(&host, &headers, initialized).await?.0, 202);
    }
    let headers = format!("{own}Mcp-Session-Id: {}\r\n", ids[19]);
    let (status, answer) = post(&host, &headers, ping).await?;
    assert_eq!(status, 200, "{answer}");
    // Its stream is still open.
    folder.remove("echo.wasm");
    listening.until("notifications/tools/list_changed").await?;
    Ok(())
}

#[tokio::test]
async fn a_small_answer_is_one_plain_body() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let host = HttpHost::start(folder.path()).await?;
    let headers = format!(
        "Host: {}\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: echo\r\n",
        host.authority()
    );
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}});
    let arguments = json!({"action": "add", "a": 1, "b": 2});
    let params = json!({"_meta": meta, "name": "echo", "arguments": arguments});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
    let (status, answer) = post(&host, &headers, &call).await?;
    let (head, body) = answer.split_once("\r\n\r\n").context("no body")?;
    let head = head.to_ascii_lowercase();
    assert!(status == 200 && head.contains("content-type: application/json"), "{answer}");
    assert!(head.contains(&format!("content-length: {}", body.len())), "{answer}");
    Ok(())
}

#[tokio::test]
async fn an_address_that_others_can_reach_is_refused() -> Result<()> {
    let folder = Folder::with(&[]);
    let output = Command::new(binary())
        .args(["serve", "--http", "0.0.0.0:0"])
        .arg(folder.path())
        .env("LOGGIA_CACHE", cache())
        .env("LOGGIA_STATE", scratch())
        .output()
        .await?;
    assert_eq!(output.status.code(), Some(1));
    insta::assert_snapshot!(
        String::from_utf8_lossy(&output.stderr),
        @"error: 0.0.0.0:0 can be reached from other machines without authentication: configure callers (`auth.tokens`, by `loggia token new`, or `auth.oauth`), or listen on a loopback address such as 127.0.0.1:0 behind an authenticating proxy; --allow-anonymous serves unauthenticated callers"
    );
    Ok(())
}

#[tokio::test]
async fn a_signal_stops_a_stdio_host() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let started = async |program: &str, arguments: &[&str]| {
        let mut child = Command::new(program)
            .args(arguments)
            .arg(binary())
            .arg("serve")
            .arg(folder.path())
            .env("LOGGIA_CACHE", cache())
            .env("LOGGIA_STATE", scratch())
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let mut stdin = child.stdin.take().context("no stdin")?;
        stdin.write_all(format!("{INITIALIZE}\n").as_bytes()).await?;
        let mut stdout = BufReader::new(child.stdout.take().context("no stdout")?).lines();
        tokio::time::timeout(PATIENCE, stdout.next_line()).await??.context("no answer")?;
        anyhow::Ok((child, stdin, stdout))
    };
    // The last is of a terminal that closes; a runner under nohup would let it be ignored.
    for end in [Signal::TERM, Signal::INT, Signal::HUP] {
        let (mut child, _stdin, _stdout) = started("env", &["--default-signal=HUP"]).await?;
        signal(&child, end)?;
        if end == Signal::HUP {
            // The shell sends it after the kernel: a second one does not insist.
            signal(&child, end)?;
        }
        let status = tokio::time::timeout(PATIENCE, child.wait()).await??;
        assert_eq!(status.code(), Some(0), "{end:?}");
    }
    // Its parent may want it to outlive the terminal.
    let (mut child, mut stdin, mut stdout) =
        started("sh", &["-c", "trap '' HUP; exec \"$@\"", "nohup"]).await?;
    signal(&child, Signal::HUP)?;
    stdin.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\n").await?;
    let told = tokio::time::timeout(PATIENCE, stdout.next_line()).await??.context("it ended")?;
    assert!(told.contains("\"id\":2"), "{told}");
    drop(stdin);
    let status = tokio::time::timeout(PATIENCE, child.wait()).await??;
    assert_eq!(status.code(), Some(0));
    Ok(())
}
