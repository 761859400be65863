//! Upstreams whose processes end: one call fails, and operators see what happened.

use std::fs;

use anyhow::{Context, Result};
use loggia_tests::{Client, Era, Folder, Served, eventually, signal};
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use super::fake::{end, fake, fake_at, fake_script, kill, serve, served, state_of};

/// Asks a fake upstream for its process.
async fn process(client: &Client) -> Result<u64> {
    let envelope = client.envelope("fake", json!({"action": "pid"})).await?;
    envelope["data"]["pid"].as_u64().with_context(|| envelope.to_string())
}

/// Begins a call that the upstream does not answer; returns once it runs.
async fn hold(served: &Served, client: &Client) -> Result<JoinHandle<Result<Value>>> {
    let caller = Client::http(&served.host, Era::Stateless).await?;
    let call = tokio::spawn(async move { caller.envelope("fake", json!({"action": "hold"})).await });
    eventually(async || {
        let counts =
            client.envelope("fake", json!({"action": "cancelled"})).await.map_err(|e| e.to_string())?;
        if counts["data"]["held"] == 1 { Ok(()) } else { Err(counts.to_string()) }
    })
    .await;
    Ok(call)
}

#[tokio::test]
async fn a_killed_child_costs_one_call() -> Result<()> {
    let (_folder, served) = served(&[]).await?;
    let client = Client::http(&served.host, Era::Stateless).await?;
    let child = process(&client).await?;
    let call = hold(&served, &client).await?;
    kill(child)?;
    let failed = call.await??;
    assert_eq!(failed["code"], "unavailable", "{failed}");
    let error = failed["error"].as_str().unwrap_or_default();
    assert!(error.contains("went away during the call: its process ended with signal: 9"), "{failed}");
    assert!(
        failed["hint"].as_str().unwrap_or_default().contains("The next call starts the upstream again"),
        "{failed}"
    );
    // The next call works, by another process.
    assert_ne!(process(&client).await?, child);
    assert_eq!(
        served.figure("loggia_calls_total{tool=\"fake\",action=\"hold\",outcome=\"unavailable\"}").await?,
        Some(1.0)
    );
    client.end().await?;
    end(served).await
}

/// Its process is asked to end once its calls have ended.
#[tokio::test]
async fn calls_of_an_upstream_have_the_drain_to_finish() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let settings = format!("drain = '1s'\n{}", fake("fake", "constant"));
    let served = Served::configured(&folder, &settings, &[]).await?;
    let client = Client::http(&served.host, Era::Stateless).await?;
    process(&client).await?;
    let call = hold(&served, &client).await?;
    signal(&served.host.child, Signal::TERM)?;
    let ended = call.await??;
    assert_eq!(ended["code"], "cancelled", "{ended}");
    Ok(())
}

#[tokio::test]
async fn a_lost_upstream_is_stale_until_it_returns() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let script = folder.beside("server").join("fake_server.py");
    fs::copy(fake_script(), &script)?;
    let served = Served::configured(&folder, &fake_at("fake", "constant", &script), &[]).await?;
    let client = Client::http(&served.host, Era::Stateless).await?;
    let child = process(&client).await?;
    fs::rename(&script, script.with_extension("gone"))?;
    kill(child)?;
    let is_lost = |ready: &Value| {
        let fake = state_of(ready, "upstream.fake");
        let why = fake["why"].as_str().unwrap_or_default();
        fake["state"] == "stale" && why.contains("its process ended with exit status: 2")
    };
    let (status, _) = served.readies(|_, ready| is_lost(ready)).await;
    assert_eq!(status, 200, "the plugin serves");
    served.figures("loggia_plugins{state=\"stale\"}", |count| count == 1.0).await;
    served.figures("loggia_upstream_up{upstream=\"fake\"}", |up| up == 0.0).await;
    let failed = client.envelope("fake", json!({"action": "echo"})).await?;
    assert_eq!(failed["code"], "unavailable", "{failed}");
    assert!(failed["hint"].as_str().unwrap_or_default().starts_with("It is started again"), "{failed}");
    fs::rename(script.with_extension("gone"), &script)?;
    serve(&served, &["fake"]).await;
    served.figures("loggia_plugins{state=\"stale\"}", |count| count == 0.0).await;
    served.figures("loggia_upstream_up{upstream=\"fake\"}", |up| up == 1.0).await;
    assert_ne!(process(&client).await?, child);
    client.end().await?;
    end(served).await
}

#[tokio::test]
async fn an_upstream_that_never_starts_fails() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let settings = [fake("fake", "dies"), fake("good", "normal")].concat();
    let served = Served::configured(&folder, &settings, &[]).await?;
    let why = |ready: &Value| state_of(ready, "upstream.fake")["why"].as_str().unwrap_or_default().to_owned();
    let (_, ready) = served.readies(|_, ready| why(ready).contains("exit status: 7")).await;
    assert_eq!(state_of(&ready, "upstream.fake")["state"], "failed", "{ready}");
    serve(&served, &["good"]).await;
    served.figures("loggia_plugins{state=\"failed\"}", |count| count == 1.0).await;
    // What it wrote before it ended is in the log.
    served.logs(|line| line.contains("cannot find its database")).await;
    let client = Client::http(&served.host, Era::Stateless).await?;
    let failed = client.envelope("fake", json!({"action": "echo"})).await?;
    assert_eq!(failed["code"], "unavailable", "{failed}");
    client.end().await?;
    end(served).await
}
