//! Cancelled calls, observed in the guest, which writes a byte every millisecond while it runs.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use loggia_tests::{Client, ERAS, Era, Folder, HttpHost, PATIENCE, eventually};
use rmcp::{
    model::{CallToolRequest, CallToolRequestParams, ClientRequest},
    service::PeerRequestOptions,
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// Creates a folder whose plugin runs one call at a time, without an effective timeout: while a call runs, no other is
/// answered.
fn one_at_a_time() -> (Folder, PathBuf) {
    let folder = Folder::with(&["lingers"]);
    let data = folder.beside("data");
    let policy = format!(
        "[grants]\ndirs = [{{ path = {data:?}, at = \"/data\", access = \"read-write\" }}]\n\
         [limits]\nconcurrency = 1\nwall = \"10m\"\n"
    );
    folder.write("lingers.toml", &policy);
    (folder, data)
}

/// Waits until the guest writes.
async fn writes(file: &PathBuf) -> u64 {
    let length = || fs::metadata(file).map_or(0, |file| file.len());
    let begun = length();
    eventually(
        async || if length() > begun + 5 { Ok(length()) } else { Err(format!("{file:?} does not grow")) },
    )
    .await
}

/// Checks that the guest has stopped: another call gets the permit and sees no further writes.
async fn is_over(client: &Client, name: &str) -> Result<()> {
    let told = client
        .envelope("lingers", json!({"action": "watch", "file": format!("/data/{name}"), "n": 50}))
        .await?;
    let [before, after] = [0, 1].map(|at| told["data"][at].as_u64());
    anyhow::ensure!(before.is_some_and(|before| before > 5) && before == after, "{name}: {told}");
    Ok(())
}

fn call(action: &str, name: &str) -> Value {
    json!({"action": action, "file": format!("/data/{name}")})
}

/// Cancels a call of this action, which gets a file's name. A guest that polls for cancellation may write a last byte;
/// it has so little time that a busy machine may need another attempt. A guest that does not poll writes none.
async fn cancelled(
    data: &Path,
    action: &str,
    name: &str,
    client: &Client,
    cancel: impl AsyncFn(&str) -> Result<()>,
) -> Result<()> {
    for attempt in 1.. {
        let name = format!("{name}-{attempt}");
        cancel(&name).await?;
        is_over(client, &name).await?;
        let told = fs::read_to_string(data.join(&name))?.ends_with(".told");
        if told == (action == "heed") {
            break;
        }
        anyhow::ensure!(action == "heed" && attempt < 3, "{name}: told {told}");
    }
    Ok(())
}

/// By `notifications/cancelled`, or over HTTP by closing the stream, as the revision requires.
#[tokio::test]
async fn a_cancelled_call_stops_in_the_guest() -> Result<()> {
    let (folder, data) = one_at_a_time();
    let host = HttpHost::start(folder.path()).await?;
    for (era, http) in ERAS.into_iter().flat_map(|era| [(era, false), (era, true)]) {
        let client = match http {
            true => Client::http(&host, era).await?,
            false => Client::stdio(folder.path(), era).await?,
        };
        for action in ["tick", "heed"] {
            let name = format!("{action}-{era:?}-{http}");
            let taken_back = async |name: &str| {
                let arguments = call(action, name).as_object().cloned().unwrap_or_default();
                let request = CallToolRequestParams::new("lingers").with_arguments(arguments);
                let request = ClientRequest::CallToolRequest(CallToolRequest::new(request));
                let peer = client.service.peer();
                let under_way = peer.send_cancellable_request(request, PeerRequestOptions::default()).await?;
                writes(&data.join(name)).await;
                Ok(under_way.cancel(Some("enough".into())).await?)
            };
            cancelled(&data, action, &name, &client, taken_back).await?;
        }
        client.end().await?;
    }
    Ok(())
}

/// One request, of which the answer is not waited for.
async fn send(host: &HttpHost, headers: &str, body: &Value) -> Result<TcpStream> {
    let body = body.to_string();
    let mut stream = TcpStream::connect(host.authority()).await?;
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         Connection: close\r\nContent-Length: {}\r\n{headers}\r\n{body}",
        host.authority(),
        body.len()
    );
    stream.write_all(request.as_bytes()).await?;
    Ok(stream)
}

#[tokio::test]
async fn closing_a_stream_ends_its_call() -> Result<()> {
    let (folder, data) = one_at_a_time();
    let host = HttpHost::start(folder.path()).await?;
    let headers = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: lingers\r\n";
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "progressToken": 1,
        "io.modelcontextprotocol/clientCapabilities": {}, "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "0"}});
    for action in ["tick", "heed"] {
        let closed = async |name: &str| {
            let params = json!({"name": "lingers", "arguments": call(action, name), "_meta": meta});
            let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
            let stream = send(&host, headers, &body).await?;
            writes(&data.join(name)).await;
            drop(stream);
            Ok(())
        };
        let client = Client::http(&host, Era::Stateless).await?;
        cancelled(&data, action, action, &client, closed).await?;
        client.end().await?;
    }
    Ok(())
}

/// Starts a session; returns the header with its id.
async fn session(host: &HttpHost) -> Result<String> {
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "0"}});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
    let mut answer = String::new();
    let mut stream = send(host, "", &body).await?;
    tokio::time::timeout(PATIENCE, stream.read_to_string(&mut answer)).await??;
    let id = answer.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).context("no session")?;
    let session = format!("Mcp-Session-Id: {}\r\n", id.trim());
    told(host, &session, json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await?;
    Ok(session)
}

/// Sends a notification in a session.
async fn told(host: &HttpHost, session: &str, body: Value) -> Result<()> {
    let mut answer = String::new();
    let mut stream = send(host, session, &body).await?;
    tokio::time::timeout(PATIENCE, stream.read_to_string(&mut answer)).await??;
    anyhow::ensure!(answer.starts_with("HTTP/1.1 202"), "{answer}");
    Ok(())
}

/// Session streams can be resumed, so only the client's notification cancels a call.
#[tokio::test]
async fn in_a_session_only_a_notification_cancels() -> Result<()> {
    let (folder, data) = one_at_a_time();
    let host = HttpHost::start(folder.path()).await?;
    let session = session(&host).await?;
    let params = json!({"name": "lingers", "arguments": call("tick", "file")});
    let body = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params});
    let stream = send(&host, &session, &body).await?;
    writes(&data.join("file")).await;
    drop(stream);
    for _ in 0..5 {
        writes(&data.join("file")).await;
    }
    let cancelled =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}});
    told(&host, &session, cancelled).await?;
    let client = Client::http(&host, Era::Stateful).await?;
    is_over(&client, "file").await?;
    client.end().await
}

/// A stopping host waits for running calls, not for connected clients.
#[tokio::test]
async fn a_stopping_host_awaits_calls_of_disconnected_clients() -> Result<()> {
    let (folder, data) = one_at_a_time();
    let mut host = HttpHost::start(folder.path()).await?;
    let session = session(&host).await?;
    let params = json!({"name": "lingers", "arguments": call("tick", "file")});
    let body = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params});
    let stream = send(&host, &session, &body).await?;
    writes(&data.join("file")).await;
    drop(stream);
    let end = || {
        let id = host.child.id().and_then(|id| Pid::from_raw(id.cast_signed())).context("the host ended")?;
        Ok::<_, anyhow::Error>(kill_process(id, Signal::TERM)?)
    };
    end()?;
    eventually(async || match TcpStream::connect(host.authority()).await {
        Err(_) => Ok(()),
        Ok(_) => Err("it still listens".to_owned()),
    })
    .await;
    // No client is connected, and the guest still runs.
    for _ in 0..20 {
        writes(&data.join("file")).await;
    }
    end()?;
    let status = tokio::time::timeout(PATIENCE, host.child.wait()).await??;
    assert_eq!(status.code(), Some(143), "told twice");
    Ok(())
}
