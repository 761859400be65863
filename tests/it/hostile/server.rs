//! Attacks by clients, web pages, the machine and the operator on a running host.

use std::{fs, path::Path, time::Duration};

use anyhow::{Context, Result};
use loggia_tests::{
    Client, ERAS, Era, Folder, HttpHost, PATIENCE, eventually, heard,
    lingers::{go, lingers, runs, wait},
    memory, plugin, signal, soon,
};
use rmcp::model::{CallToolRequestParams, SubscriptionFilter};
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"raw","version":"0"}}}"#;

/// Bytes to the host; the status of the answer, and all of it.
async fn send(host: &HttpHost, bytes: &[u8]) -> Result<(u16, String)> {
    let mut stream = TcpStream::connect(host.authority()).await?;
    stream.write_all(bytes).await?;
    answer(&mut stream).await
}

/// Reads until the host closes the connection.
async fn answer(stream: &mut TcpStream) -> Result<(u16, String)> {
    let mut bytes = Vec::new();
    // The host may close while unread input remains.
    drop(tokio::time::timeout(PATIENCE, stream.read_to_end(&mut bytes)).await?);
    let answer = String::from_utf8_lossy(&bytes).into_owned();
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).context("no status")?;
    Ok((status, answer))
}

/// A request with these headers, as bytes.
fn request(first: &str, headers: &str, body: &str) -> Vec<u8> {
    format!(
        "{first} HTTP/1.1\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         Connection: close\r\nContent-Length: {}\r\n{headers}\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// A call that needs no session.
fn call(host: &HttpHost, id: usize, more: &str) -> String {
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}, "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "0"}});
    let params = json!({"name": "echo", "arguments": {"action": "add", "a": id, "b": 1}, "_meta": meta});
    let body = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string();
    format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: echo\r\n{more}Content-Length: {}\r\n\r\n{body}",
        host.authority(),
        body.len()
    )
}

/// Checks that the host answers other clients.
async fn serves(host: &HttpHost) -> Result<()> {
    let (status, told) = send(host, call(host, 41, "Connection: close\r\n").as_bytes()).await?;
    anyhow::ensure!(status == 200 && told.contains("42"), "{told}");
    Ok(())
}

/// H33.
#[tokio::test]
async fn dns_rebinding_is_rejected() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let host = HttpHost::start(folder.path()).await?;
    let own = host.authority();
    let port = own.rsplit(':').next().unwrap_or_default();
    let from = |origin: &str| format!("Host: {own}\r\nOrigin: {origin}\r\n");
    let cases = [
        (format!("Host: {own}\r\n"), 200),
        (from(&format!("http://{own}")), 200),
        ("Host: localhost\r\n".to_owned(), 200),
        ("Host: evil.com\r\n".to_owned(), 403),
        (format!("Host: evil.com:{port}\r\n"), 403),
        (format!("Host: localhost.evil.com:{port}\r\n"), 403),
        (format!("Host: 127.0.0.1.evil.com:{port}\r\n"), 403),
        (format!("Host: evil.com@{own}\r\n"), 400),
        (format!("Host: {own}@evil.com\r\n"), 400),
        ("Host: \r\n".to_owned(), 400),
        (String::new(), 400),
        (format!("Host: {own}\r\nHost: evil.com\r\n"), 400),
        (format!("Host: evil.com\r\nHost: {own}\r\n"), 400),
        (format!("Host: {own}\r\nHost: {own}\r\n"), 400),
        (from("https://evil.com"), 403),
        (from(&format!("http://evil.com:{port}")), 403),
        (from(&format!("http://{own}.evil.com")), 403),
        (from(&format!("https://{own}")), 403),
        (from("http://localhost:1"), 403),
        (from("null"), 403),
        (from(&format!("http://{own}\r\nOrigin: https://evil.com")), 400),
        (from(&format!("https://evil.com\r\nOrigin: http://{own}")), 400),
    ];
    for (headers, expected) in cases {
        let (status, told) = send(&host, &request("POST /mcp", &headers, INITIALIZE)).await?;
        assert_eq!(status, expected, "{headers}: {told}");
        // GET and DELETE are treated alike: they need a session, but get no further.
        for first in ["GET /mcp", "DELETE /mcp"] {
            let (status, told) = send(&host, &request(first, &headers, "")).await?;
            let named = expected == 200;
            assert!(named || status == expected, "{first} {headers}: {told}");
            assert!(!named || (400..500).contains(&status) && status != 403, "{first} {headers}: {told}");
        }
    }
    // A target that names a server counts for more than any header.
    for (first, expected) in
        [("POST http://evil.com/mcp".to_owned(), 400), (format!("POST http://{own}/mcp"), 200)]
    {
        let (status, told) = send(&host, &request(&first, &format!("Host: {own}\r\n"), INITIALIZE)).await?;
        assert_eq!(status, expected, "{first}: {told}");
    }
    serves(&host).await
}

/// H47.
#[tokio::test]
async fn an_endless_body_is_truncated() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let host = HttpHost::start(folder.path()).await?;
    let process = host.child.id().context("the host ended")?;
    serves(&host).await?;
    let before = memory(process, "VmHWM")?;
    let own = format!("Host: {}\r\n", host.authority());
    // Five mebibytes that are announced, …
    let large = format!("{{\"x\": \"{}\"}}", "x".repeat(5 << 20));
    let mut stream = TcpStream::connect(host.authority()).await?;
    // A server may close on an oversized body while it is being sent.
    drop(stream.write_all(&request("POST /mcp", &own, &large)).await);
    if let Ok((status, told)) = answer(&mut stream).await {
        assert_eq!(status, 413, "{told}");
    }
    // … and endless chunks, as long as the host reads them.
    let mut stream = TcpStream::connect(host.authority()).await?;
    let head = format!(
        "POST /mcp HTTP/1.1\r\n{own}Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         Transfer-Encoding: chunked\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await?;
    let chunk = format!("10000\r\n{}\r\n", " ".repeat(0x10000));
    let mut taken = 0;
    let ends = async {
        let (mut reads, mut writes) = stream.split();
        let mut told = [0; 12];
        tokio::select! {
            read = reads.read_exact(&mut told) => read.map(|_| String::from_utf8_lossy(&told).into_owned()),
            error = async {
                loop {
                    if let Err(error) = writes.write_all(chunk.as_bytes()).await {
                        break error;
                    }
                    taken += 1;
                }
            } => Err(error),
        }
    };
    if let Ok(told) = tokio::time::timeout(PATIENCE, ends).await? {
        assert_eq!(told, "HTTP/1.1 413");
    }
    // The rest is in the kernel's buffers on both sides.
    assert!(taken < 1024, "{taken} chunks of 64 KiB were taken");
    let grown = memory(process, "VmHWM")?.saturating_sub(before);
    assert!(grown < 48 << 20, "{grown} bytes more");
    serves(&host).await
}

/// H47: until it times out, a silent or slow connection costs a descriptor and some kilobytes, and delays no one else.
/// `serving/connections.rs` tests its timeout and the connection limit.
#[tokio::test]
async fn silent_connections_block_nobody() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let host = HttpHost::start(folder.path()).await?;
    let process = host.child.id().context("the host ended")?;
    serves(&host).await?;
    let before = memory(process, "VmRSS")?;
    let mut kept = Vec::new();
    for n in 0..400 {
        let mut stream = TcpStream::connect(host.authority()).await?;
        match n % 4 {
            0 => {}
            1 => stream.write_all(b"POST /mcp HT").await?,
            2 => stream.write_all(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Slow: ").await?,
            // An announced body that never arrives.
            _ => {
                let head = format!(
                    "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Length: 4000000\r\n\r\n{{",
                    host.authority()
                );
                stream.write_all(head.as_bytes()).await?;
            }
        }
        kept.push(stream);
    }
    for era in ERAS {
        let client = Client::http(&host, era).await?;
        for n in 0..20 {
            let added = client.envelope("echo", json!({"action": "add", "a": n, "b": 1})).await?;
            assert_eq!(added["data"], json!(f64::from(n + 1)));
        }
        client.end().await?;
    }
    // One of them continues byte by byte and is answered like any other.
    let mut slow = TcpStream::connect(host.authority()).await?;
    for byte in call(&host, 1, "Connection: close\r\n").as_bytes() {
        slow.write_all(&[*byte]).await?;
        slow.flush().await?;
    }
    assert_eq!(answer(&mut slow).await?.0, 200);
    let grown = memory(process, "VmRSS")?.saturating_sub(before);
    assert!(grown < 96 << 20, "{grown} bytes more for {} connections", kept.len());
    Ok(())
}

/// H47.
#[tokio::test]
async fn pipelined_requests_are_answered_in_order() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let host = HttpHost::start(folder.path()).await?;
    let all: String =
        (0..64).map(|id| call(&host, id, if id == 63 { "Connection: close\r\n" } else { "" })).collect();
    let (_, told) = send(&host, all.as_bytes()).await?;
    let ids: Vec<usize> = told
        .match_indices(r#""jsonrpc":"2.0","id":"#)
        .filter_map(|(at, key)| told[at + key.len()..].split(',').next()?.parse().ok())
        .collect();
    assert_eq!(ids, (0..64).collect::<Vec<_>>(), "{told:.2000}");
    for (what, more) in [
        ("a thousand headers", (0..1000).map(|n| format!("X-{n}: 1\r\n")).collect::<String>()),
        ("a header of a mebibyte", format!("X-Long: {}\r\n", "x".repeat(1 << 20))),
        ("a header that is none", "X Y\r\n".to_owned()),
        ("two lengths", "Content-Length: 1\r\n".to_owned()),
        ("a length beside chunks", "Transfer-Encoding: chunked, x\r\n".to_owned()),
    ] {
        let mut stream = TcpStream::connect(host.authority()).await?;
        drop(stream.write_all(call(&host, 1, &format!("Connection: close\r\n{more}")).as_bytes()).await);
        if let Ok((status, told)) = answer(&mut stream).await {
            assert!((400..500).contains(&status), "{what}: {told:.300}");
        }
        serves(&host).await?;
    }
    Ok(())
}

/// Living child processes of a process.
fn children(process: u32) -> Vec<u32> {
    let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let children = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    children.flat_map(|line| line.split(' ').filter_map(|id| id.parse().ok()).collect::<Vec<_>>()).collect()
}

/// Tests whether a compilation runs or waits for another.
fn compiles(cache: &Path) -> bool {
    let engines = fs::read_dir(cache).into_iter().flatten().flatten();
    let mut files = engines.filter_map(|engine| fs::read_dir(engine.path()).ok()).flatten().flatten();
    files.any(|file| file.path().extension().is_some_and(|extension| extension == "lock"))
}

/// Waits until the host takes no more connections.
async fn refused(host: &HttpHost) {
    eventually(async || match TcpStream::connect(host.authority()).await {
        Err(_) => Ok(()),
        Ok(_) => Err("it still listens".to_owned()),
    })
    .await;
}

/// H51.
#[tokio::test]
async fn stopping_ends_streams_and_finishes_calls() -> Result<()> {
    for ends in [Signal::TERM, Signal::INT] {
        let (folder, compiled) = (Folder::with(&["lingers"]), tempfile::tempdir()?);
        let data = lingers(&folder, "lingers");
        let mut host = HttpHost::start_with(folder.path(), |command| {
            command.env("LOGGIA_CACHE", compiled.path());
        })
        .await?;
        let process = host.child.id().context("the host ended")?;
        let stateful = Client::http(&host, Era::Stateful).await?;
        let stateless = Client::http(&host, Era::Stateless).await?;
        let filter = SubscriptionFilter::builder().tools_list_changed().build();
        let mut listening = stateless.service.peer().listen(filter).await?;
        let caller = Client::http(&host, Era::Stateless).await?;
        caller.names_become(&["lingers"]).await;
        let call = tokio::spawn(async move { caller.envelope("lingers", wait("mark")).await });
        runs(&data, "mark").await;
        // A new plugin is being compiled.
        folder.put("files", &plugin("files"));
        eventually(async || match (compiles(compiled.path()), children(process)) {
            (true, compilers) if !compilers.is_empty() => Ok(()),
            other => Err(format!("nothing compiles: {other:?}")),
        })
        .await;
        let compilers = children(process);
        assert!(!call.is_finished(), "the call was to end after the signal");
        signal(&host.child, ends)?;
        // The signal was handled once new connections are refused.
        refused(&host).await;
        assert!(!call.is_finished(), "the call was cut off");
        go(&data, "gone")?;
        assert_eq!(soon("the call's end", call).await???["data"], "gone");
        // The list notification may arrive before the last message.
        let last = async {
            while let Some(_changed) = listening.next().await? {}
            anyhow::Ok(())
        };
        soon("the stream's end", last).await??;
        let status = tokio::time::timeout(Duration::from_secs(25), host.child.wait()).await??;
        assert_eq!(status.code(), Some(0), "{ends:?}");
        // No compilation continues for a stopped host.
        eventually(async || {
            let lives = |id: &&u32| {
                let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
                stat.contains("loggia") && !stat.contains(") Z ")
            };
            compilers.iter().find(lives).map_or(Ok(()), |id| Err(format!("{id} lives on")))
        })
        .await;
        drop(stateful);
    }
    Ok(())
}

/// H51.
#[tokio::test]
async fn a_second_signal_stops_at_once() -> Result<()> {
    let folder = Folder::with(&["misbehaves"]);
    folder.write("misbehaves.toml", "[limits]\nwall = \"10m\"\n");
    let mut host = HttpHost::start(folder.path()).await?;
    let mut client = Client::http(&host, Era::Stateless).await?;
    let peer = client.service.peer().clone();
    let call = tokio::spawn(async move {
        let Value::Object(arguments) = json!({"action": "sleep"}) else { unreachable!() };
        peer.call_tool(CallToolRequestParams::new("misbehaves").with_arguments(arguments)).await
    });
    // Another connection's answer would not prove that this call has arrived.
    heard("progress", &mut client.progress).await?;
    signal(&host.child, Signal::TERM)?;
    // A signal may be handled late; once the first was, new connections are refused.
    refused(&host).await;
    signal(&host.child, Signal::TERM)?;
    let status = tokio::time::timeout(PATIENCE, host.child.wait()).await??;
    assert_eq!(status.code(), Some(143), "128 and the number of SIGTERM");
    assert!(tokio::time::timeout(PATIENCE, call).await??.is_err());
    Ok(())
}

/// H55: a stopped process and a suspended machine look the same from within: threads pause, and the clocks of epochs
/// and timers jump.
#[tokio::test]
async fn calls_after_a_pause_keep_their_time() -> Result<()> {
    let folder = Folder::with(&["misbehaves", "version_one"]);
    // Shorter than the gap, and longer than a call takes.
    folder.write("misbehaves.toml", "[limits]\ncpu = \"3s\"\nwall = \"5m\"\n");
    folder.write("version_one.toml", "[limits]\ncpu = \"1s\"\nwall = \"5s\"\n");
    let host = HttpHost::start(folder.path()).await?;
    let mut client = Client::http(&host, Era::Stateless).await?;
    let peer = client.service.peer().clone();
    let begin = |tool: &'static str, arguments: Value| {
        let Value::Object(arguments) = arguments else { unreachable!() };
        let (peer, call) = (peer.clone(), CallToolRequestParams::new(tool).with_arguments(arguments));
        tokio::spawn(async move { peer.call_tool(call).await })
    };
    let looping = begin("misbehaves", json!({"action": "spin"}));
    let waiting = begin("version", json!({"action": "get", "after_ms": 1000}));
    heard("progress", &mut client.progress).await?;
    signal(&host.child, Signal::STOP)?;
    // The pause itself is under test: there is no condition to wait for.
    tokio::time::sleep(Duration::from_secs(6)).await;
    signal(&host.child, Signal::CONT)?;
    let new: Vec<_> = (0..16).map(|_| begin("version", json!({"action": "get", "after_ms": 100}))).collect();
    for call in new {
        let result = soon("a new call's end", call).await???;
        let told = result.structured_content.unwrap_or_default();
        assert_eq!((&told["ok"], &told["data"]), (&json!(true), &json!("one")), "{told}");
    }
    // Wall time passed for the waiting call, CPU time for neither: the loop ends by its own computation.
    let told =
        soon("the end of the call that waited", waiting).await???.structured_content.unwrap_or_default();
    assert!(told["ok"] == true || told["code"] == "timed_out", "{told}");
    // On a busy machine that takes it up to its wall.
    let told = tokio::time::timeout(PATIENCE * 5, looping).await???.structured_content.unwrap_or_default();
    assert!(told.to_string().contains("limits.cpu"), "{told}");
    client.end().await
}
