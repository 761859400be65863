//! One caller takes all that it can get; others are unaffected.

use std::time::Duration;

use anyhow::{Context, Result};
use loggia_tests::{
    Client, Era, Folder, HttpHost, Kind, Served, Token, eventually, fixture, heard,
    wire::{self, Line},
};
use rmcp::model::CallToolRequestParams;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};

/// Maximum duration of an answer that waits for no other call: far below the queue's timeout.
const PROMPT: Duration = Duration::from_secs(15);

/// Makes a call with a token; returns its envelope, which must arrive promptly.
async fn prompt(host: &HttpHost, by: &Token, tool: &str, arguments: Value) -> Result<Value> {
    let answer = timeout(PROMPT, wire::answered(host, &by.header(), tool, &arguments)).await;
    answer.with_context(|| format!("{tool} waits: {arguments}"))??.envelope()
}

/// Starts a run of `worker` that lasts an hour, without waiting for it.
fn for_an_hour() -> Value {
    json!({"action": "work", "steps": 60, "ms": 60_000, "wait": false})
}

/// H46, H71.
#[tokio::test]
async fn detached_runs_starve_no_other_caller() -> Result<()> {
    let folder = Folder::with(&["worker", "echo"]);
    for n in 1..=4 {
        folder.put(&format!("slow{n}"), &fixture("worker"));
        folder.write(&format!("slow{n}.toml"), &format!("[expose]\nname = \"slow{n}\"\n"));
    }
    let [ada, bob] = [Token::new("ada", &["*"]).await?, Token::new("bob", &["*"]).await?];
    let served = Served::configured(&folder, "[http.per-caller]\nrate = 0\n", &[&ada, &bob]).await?;
    let host = &served.host;
    let add = json!({"action": "add", "a": 1, "b": 2});
    let (mut begun, mut refused) = (Vec::new(), None);
    for n in 0..40 {
        let tool = ["worker", "slow1", "slow2", "slow3", "slow4"][n % 5];
        let told = prompt(host, &ada, tool, for_an_hour()).await?;
        match told["ok"].as_bool() {
            Some(true) => begun.push((tool, told["data"]["run"]["id"].clone())),
            _ => refused = Some(told),
        }
        // Calls of another caller are answered all along: of other tools and of the same one.
        assert_eq!(prompt(host, &bob, "echo", add.clone()).await?["data"], json!(3.0));
        assert_eq!(prompt(host, &bob, tool, json!({"action": "tell"})).await?["data"], "told");
    }
    // At her limit, the error reports the count and a remedy.
    assert_eq!(begun.len(), 10);
    let refused = refused.context("she was never refused")?;
    assert_eq!(refused["code"], "unavailable");
    assert!(refused["error"].as_str().is_some_and(|said| said.contains("10 runs of yours")), "{refused}");
    let hint = refused["hint"].as_str().unwrap_or_default();
    assert!(hint.contains("`run_status`") && hint.contains("`run_cancel`"), "{hint}");
    assert_eq!(refused["details"]["tools"], json!(["slow1", "slow2", "slow3", "slow4", "worker"]));
    // Her own calls that end within their request still work.
    assert_eq!(prompt(host, &ada, "echo", add).await?["data"], json!(3.0));
    // And another has runs of his own, which run.
    let own =
        prompt(host, &bob, "worker", json!({"action": "work", "steps": 1, "ms": 1, "wait": false})).await?;
    let status = json!({"action": "run_status", "run_id": own["data"]["run"]["id"], "wait": true});
    assert_eq!(prompt(host, &bob, "worker", status).await?["data"]["run"]["status"], "succeeded", "{own}");
    // Cancelling a run frees its place.
    let (tool, id) = begun.pop().context("begun")?;
    assert_eq!(prompt(host, &ada, tool, json!({"action": "run_cancel", "run_id": id})).await?["ok"], true);
    eventually(async || match prompt(host, &ada, tool, for_an_hour()).await {
        Ok(told) if told["ok"] == true => Ok(()),
        other => Err(format!("{other:?}")),
    })
    .await;
    Ok(())
}

/// H72.
#[tokio::test]
async fn unanswered_questions_starve_no_other_caller() -> Result<()> {
    let folder = Folder::with(&["worker"]);
    folder.write("worker.toml", "[grants]\nelicit = true\n");
    let [ada, bob] = [Token::new("ada", &["*"]).await?, Token::new("bob", &["*"]).await?];
    let served = Served::configured(&folder, "[http.per-caller]\nrate = 0\n", &[&ada, &bob]).await?;
    // The person never answers.
    let thinks = || Kind::person([]);
    let mut adas = Client::http_by(&served.host, Era::Stateful, thinks(), &ada).await?;
    let mut bobs = Client::http_by(&served.host, Era::Stateful, thinks(), &bob).await?;
    let clean = || {
        CallToolRequestParams::new("worker")
            .with_arguments(json!({"action": "clean"}).as_object().cloned().unwrap_or_default())
    };
    let mut waiting = Vec::new();
    for _ in 0..4 {
        let peer = adas.service.peer().clone();
        waiting.push(tokio::spawn(async move { peer.call_tool(clean()).await }));
        heard("ada's question", &mut adas.questions).await?;
    }
    // The fifth is refused at once, …
    let fifth = timeout(PROMPT, adas.service.call_tool(clean())).await??;
    let told = fifth.structured_content.context("an envelope")?;
    assert_eq!(told["code"], "unavailable");
    assert_eq!(told["error"], "busy: 4 calls of yours wait for an answer already");
    // … and another caller's person is asked.
    let peer = bobs.service.peer().clone();
    let asked = tokio::spawn(async move { peer.call_tool(clean()).await });
    heard("bob's question", &mut bobs.questions).await?;
    asked.abort();
    waiting.iter().for_each(tokio::task::JoinHandle::abort);
    Ok(())
}

/// H72.
#[tokio::test]
async fn nested_calls_starve_no_other_caller() -> Result<()> {
    let folder = Folder::with(&["relays", "misbehaves"]);
    folder.write("relays.toml", "[grants]\ninvoke = [\"misbehaves:*\"]\n[limits]\nwall = \"10m\"\n");
    folder.write("misbehaves.toml", "[limits]\nwall = \"10m\"\n");
    let [ada, bob] = [Token::new("ada", &["*"]).await?, Token::new("bob", &["*"]).await?];
    let served = Served::configured(&folder, "[http.per-caller]\nrate = 0\n", &[&ada, &bob]).await?;
    let host = &served.host;
    // More than the permits for nested calls.
    let many = json!({"action": "read", "facade": "misbehaves", "what": "sleep", "times": 12});
    let mut line = Line::open(host.authority()).await?;
    line.write(wire::call(host, &ada.header(), 1, "relays", &many)).await?;
    served.figures("loggia_calls_in_flight{tool=\"misbehaves\"}", |calls| calls >= 7.0).await;
    // Another's call finds one.
    let one = json!({"action": "read", "facade": "misbehaves", "what": "env"});
    let told = prompt(host, &bob, "relays", one).await?;
    assert_eq!(told["ok"], true, "{told}");
    assert_eq!(served.figure("loggia_calls_in_flight{tool=\"misbehaves\"}").await?, Some(7.0));
    Ok(())
}

/// H85.
#[tokio::test]
async fn repeated_progress_does_not_flood_the_client() -> Result<()> {
    let folder = Folder::with(&["pesters"]);
    folder.write("pesters.toml", "[limits]\nwall = \"2s\"\ncpu = \"2s\"\n");
    let mut client = Client::stdio(folder.path(), Era::Stateful).await?;
    client.names_become(&["pesters"]).await;
    let begun = Instant::now();
    // rmcp's client gives each call a token for its progress.
    let told = client.envelope("pesters", json!({"action": "ask", "what": "done"})).await?;
    let took = begun.elapsed();
    assert_eq!(told["ok"], false, "it never ends by itself");
    let mut notes = Vec::new();
    while let Ok(note) = client.progress.try_recv() {
        notes.push(note.progress);
    }
    // One in 20 ms, and the last one.
    let most = took.as_millis() / 20 + 2;
    assert!(!notes.is_empty() && notes.len() as u128 <= most, "{} notes in {took:?}", notes.len());
    client.end().await?;
    Ok(())
}

/// H85: the last progress message is delivered, however soon it follows another.
#[tokio::test]
async fn the_last_progress_precedes_the_answer() -> Result<()> {
    let folder = Folder::with(&["worker"]);
    for era in [Era::Stateful, Era::Stateless] {
        let mut client = Client::stdio(folder.path(), era).await?;
        client.names_become(&["worker"]).await;
        let told = client.envelope("worker", json!({"action": "work", "steps": 500, "ms": 0})).await?;
        assert_eq!(told["ok"], true, "{told}");
        let mut last = heard("progress", &mut client.progress).await?;
        while last.progress < 500.0 {
            last = heard("the last progress", &mut client.progress).await?;
        }
        assert_eq!((last.progress, last.total), (500.0, Some(500.0)));
        client.end().await?;
    }
    Ok(())
}
