//! Shutdown of a server: first its listener and readiness, then calls, then streams. `hostile/server.rs` covers more of
//! H51.

use std::{fs, process::Stdio};

use anyhow::{Context, Result};
use loggia_tests::{
    Client, Era, Folder, PATIENCE, Served, binary, cache, eventually,
    lingers::{go, lingers, runs, wait},
    plugin, signal, state,
    wire::{self, INITIALIZE, INITIALIZED, Line},
};
use rmcp::model::SubscriptionFilter;
use rustix::process::Signal;
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, BufReader},
    process::Command,
    time::timeout,
};

async fn ends(served: &mut Served) -> Result<Option<i32>> {
    Ok(timeout(PATIENCE, served.host.child.wait()).await??.code())
}

/// H51.
#[tokio::test]
async fn draining_answers_calls_and_closes_streams() -> Result<()> {
    let (folder, compiled) = (Folder::with(&["lingers", "echo"]), tempfile::tempdir()?);
    let data = lingers(&folder, "lingers");
    let mut served = Served::configured_with(&folder, "drain = '30s'\n[http]\n", &[], |command| {
        command.env("LOGGIA_CACHE", compiled.path());
    })
    .await?;
    let host = &served.host;
    // A session's stream, a `subscriptions/listen` stream, a call in a session and one without, a call that no client
    // awaits, a connection without a request.
    let session = wire::session(host, "", INITIALIZE).await?;
    let own = host.authority().to_owned();
    let stream = wire::listened(host, &session).await?;
    let listener = Client::http(host, Era::Stateless).await?;
    let filter = SubscriptionFilter::builder().tools_list_changed().build();
    let mut listening = listener.service.peer().listen(filter).await?;
    let mut stateless = Line::open(&own).await?;
    stateless.write(wire::call(host, "", 1, "lingers", &wait("mark"))).await?;
    runs(&data, "mark").await;
    let mut stateful = Line::open(&own).await?;
    stateful.write(wire::post(host, &session, &wire::in_session(2, "lingers", &wait("second")))).await?;
    runs(&data, "second").await;
    let idle = Line::open(&own).await?;
    // A new plugin, which is being compiled.
    folder.put("files", &plugin("files"));
    let compiles = || {
        let engines = fs::read_dir(compiled.path()).into_iter().flatten().flatten();
        let mut files = engines.filter_map(|engine| fs::read_dir(engine.path()).ok()).flatten().flatten();
        files.any(|file| file.path().extension().is_some_and(|extension| extension == "lock"))
    };
    eventually(async || if compiles() { Ok(()) } else { Err("nothing compiles".to_owned()) }).await;

    signal(&host.child, Signal::TERM)?;
    let (status, told) = served.readies(|_, told| told["draining"] == true).await;
    assert_eq!((status, &told["ready"]), (503, &json!(false)), "{told}");
    // New connections are refused.
    eventually(async || match Line::open(&own).await {
        Err(_) => Ok(()),
        Ok(_) => Err("it still listens".to_owned()),
    })
    .await;
    assert_eq!(served.get("/healthz").await?.0, 200);
    assert_eq!(served.figure("loggia_calls_in_flight{tool=\"lingers\"}").await?, Some(2.0));
    // The calls end, and are answered.
    go(&data, "gone")?;
    assert_eq!(stateless.answer().await?.envelope()?["data"], "gone");
    assert_eq!(stateful.head().await?.status, 200);
    // As JSON, or as an event if the call took longer than a second.
    stateful.until(r#""data":"gone"},"isError":false}"#).await?;
    // The streams end as streams end that were not cut off: with the last chunk.
    let last = stream.end().await?;
    assert!(last.ends_with("0\r\n\r\n"), "{last:?}");
    let last = async {
        while let Some(_changed) = listening.next().await? {}
        anyhow::Ok(())
    };
    timeout(PATIENCE, last).await??;
    assert_eq!(idle.end().await?, "");
    assert_eq!(ends(&mut served).await?, Some(0));
    Ok(())
}

/// H51. Over both lifecycles, the client learns that its call was cancelled.
#[tokio::test]
async fn calls_beyond_the_drain_are_cancelled() -> Result<()> {
    let folder = Folder::with(&["lingers"]);
    let data = lingers(&folder, "lingers");
    let mut served = Served::configured(&folder, "drain = '1s'\n[http]\n", &[]).await?;
    let host = &served.host;
    let session = wire::session(host, "", INITIALIZE).await?;
    let mut stateless = Line::open(host.authority()).await?;
    stateless.write(wire::call(host, "", 1, "lingers", &wait("mark"))).await?;
    runs(&data, "mark").await;
    let mut stateful = Line::open(host.authority()).await?;
    stateful.write(wire::post(host, &session, &wire::in_session(2, "lingers", &wait("second")))).await?;
    runs(&data, "second").await;
    signal(&host.child, Signal::TERM)?;
    for line in [stateless, stateful] {
        let response = line.end().await?;
        assert!(response.contains(r#""code":"cancelled""#), "{response}");
    }
    assert_eq!(ends(&mut served).await?, Some(0));
    Ok(())
}

/// H51.
#[tokio::test]
async fn a_stdio_client_learns_that_its_call_was_cancelled() -> Result<()> {
    let folder = Folder::with(&["lingers"]);
    let data = lingers(&folder, "lingers");
    let mut host = Command::new(binary())
        .arg("serve")
        .arg(folder.path())
        .arg("--config")
        .arg(Served::settings(&folder, "drain = '1s'\n", &[])?)
        .env("LOGGIA_CACHE", cache())
        .env("LOGGIA_STATE", state(folder.path()))
        .env("LOGGIA_PIN", "open")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()?;
    let mut input = host.stdin.take().context("no stdin")?;
    let output = host.stdout.take().context("no stdout")?;
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "lingers", "arguments": wait("mark")}});
    input.write_all(format!("{INITIALIZE}\n{INITIALIZED}\n{call}\n").as_bytes()).await?;
    runs(&data, "mark").await;
    signal(&host, Signal::TERM)?;
    let mut responses = String::new();
    timeout(PATIENCE, BufReader::new(output).read_to_string(&mut responses)).await??;
    assert!(responses.contains(r#""code":"cancelled""#), "{responses}");
    Ok(())
}

/// H51: nothing to wait for, nothing waited for.
#[tokio::test]
async fn an_idle_server_stops_before_the_drain_ends() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let mut served = Served::configured(&folder, "drain = '1h'\n[http]\n", &[]).await?;
    let session = wire::session(&served.host, "", INITIALIZE).await?;
    let call = wire::in_session(2, "echo", &json!({"action": "add", "a": 1, "b": 2}));
    let told = wire::ask(&served.host, &session, &call).await?;
    assert_eq!(told.envelope().context("an answer")?["data"], 3.0);
    signal(&served.host.child, Signal::TERM)?;
    assert_eq!(ends(&mut served).await?, Some(0));
    Ok(())
}
