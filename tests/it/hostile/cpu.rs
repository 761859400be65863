//! Guests that use up the host's time.

use std::{
    fs,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use loggia_tests::{Client, Era, Folder, HttpHost, PATIENCE, Raw, eventually, heard};
use rmcp::model::CallToolRequestParams;
use serde_json::{Value, json};
use tempfile::NamedTempFile;
use tokio::{io::AsyncWriteExt, net::TcpStream, time::timeout};

use super::{
    host::{descriptors, request, threads},
    wat::{Chance, Guest},
};

/// Little time on a processor, much on the wall; and no rest, or most calls would not run.
const POLICY: &str = "[limits]\ncpu = \"100ms\"\nwall = \"10m\"\nbreaker-faults = 1000\n";

fn arguments(value: Value) -> serde_json::Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

/// H01.
#[tokio::test]
async fn other_calls_are_answered_while_guests_loop() -> Result<()> {
    let folder = Folder::with(&["misbehaves", "echo"]);
    folder.write("misbehaves.toml", "[limits]\ncpu = \"1500ms\"\nwall = \"5m\"\nbreaker-faults = 1000\n");
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    let peer = client.service.peer().clone();
    let spin = || {
        let call =
            CallToolRequestParams::new("misbehaves").with_arguments(arguments(json!({"action": "spin"})));
        let peer = peer.clone();
        tokio::spawn(async move { peer.call_tool(call).await })
    };
    let loops: Vec<_> = (0..8).map(|_| spin()).collect();
    let begun = Instant::now();
    for n in 0..20 {
        let added = client.envelope("echo", json!({"action": "add", "a": n, "b": 1})).await?;
        assert_eq!(added["data"], json!(f64::from(n + 1)));
    }
    // Eight loops, each with its CPU budget: calls queued behind them would have waited for those.
    assert!(!loops.iter().any(|call| call.is_finished()), "a loop ended first, after {:?}", begun.elapsed());
    for call in loops {
        // With others computing, it takes them long to use up their budget.
        let told =
            timeout(PATIENCE * 5, call).await???.structured_content.context("no structured content")?;
        assert_eq!(told["code"], "timed_out", "{told}");
        assert_eq!(told["error"], "timed out: the plugin `misbehaves` used up its CPU time of 1500ms");
        assert!(
            told["hint"].as_str().is_some_and(|hint| hint.contains("`limits.cpu` (now 1500ms)")),
            "{told}"
        );
    }
    client.end().await
}

/// H02.
#[tokio::test]
async fn a_guest_looping_at_start_is_refused() -> Result<()> {
    let spin = "(loop $again (br $again))".to_owned();
    let start = format!("(func $spin {spin}) (start $spin)");
    let guests = [
        Guest { name: "starts", fields: start, ..Guest::default() },
        Guest { name: "describes", describe: spin, ..Guest::default() },
    ];
    let folder = Folder::with(&["echo"]);
    for guest in &guests {
        guest.put(&folder);
    }
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    for guest in guests {
        let told = client.envelope(guest.name, json!({"action": "go"})).await?;
        assert_eq!(told["code"], "unavailable", "{told}");
        assert!(told.to_string().contains("it failed to describe itself"), "{told}");
    }
    let added = client.envelope("echo", json!({"action": "add", "a": 1, "b": 2})).await?;
    assert_eq!(added["data"], 3.0, "{added}");
    client.end().await
}

/// H03.
#[tokio::test]
async fn endless_host_calls_are_charged_to_guests() -> Result<()> {
    let folder = Folder::with(&["pesters"]);
    folder.write("pesters.toml", POLICY);
    let mut host = Raw::start(folder.path()).await?;
    let asked = ["clock", "pollable", "chance", "line", "progress", "config", "facades", "yield"];
    for (id, what) in (1..).zip(asked) {
        host.call(id, "pesters", &json!({"action": "ask", "what": what})).await?;
        let told = host.answer().await?["result"]["structuredContent"].take();
        let error = "timed out: the plugin `pesters` used up its CPU time of 100ms";
        assert_eq!(told["error"], error, "{what}: {told}");
    }
    host.finish().await?;
    Ok(())
}

/// H18.
#[tokio::test]
async fn an_unread_log_blocks_no_call() -> Result<()> {
    let folder = Folder::with(&["misbehaves", "echo"]);
    let (client, _unread) = Client::stdio_unread(folder.path()).await?;
    for _ in 0..8 {
        let printed = client.envelope("misbehaves", json!({"action": "print"})).await?;
        assert_eq!(printed["ok"], true, "{printed}");
    }
    let fine = client.envelope("echo", json!({"action": "add", "a": 1, "b": 2})).await?;
    assert_eq!(fine["data"], 3.0);
    client.end().await
}

/// H04.
#[tokio::test]
async fn a_sleeping_guest_times_out() -> Result<()> {
    let folder = Folder::with(&["misbehaves"]);
    folder.write("misbehaves.toml", "[limits]\nwall = \"2s\"\nconcurrency = 1\nbreaker-faults = 1000\n");
    let mut host = Raw::start(folder.path()).await?;
    let mut ids = 1..;
    let mut call = async |host: &mut Raw, action: &str| -> Result<Value> {
        let id = ids.next().context("an id")?;
        host.call(id, "misbehaves", &json!({"action": action})).await?;
        Ok(host.answer().await?["result"]["structuredContent"].take())
    };
    // Initialise lazily created state with a first call.
    for action in ["leak", "sleep"] {
        call(&mut host, action).await?;
    }
    let base = (threads(&host.child)?, descriptors(&host.child)?);
    for _ in 0..3 {
        let slept = call(&mut host, "sleep").await?;
        assert_eq!(slept["error"], "timed out: `misbehaves` did not answer within 2s", "{slept}");
        // One call at a time: this one would wait while the sleeper holds its permit.
        let fine = call(&mut host, "leak").await?;
        assert_eq!(fine["ok"], true, "{fine}");
    }
    eventually(async || {
        let now = (threads(&host.child).unwrap_or(0), descriptors(&host.child).unwrap_or(0));
        if now.0 <= base.0 && now.1 <= base.1 { Ok(()) } else { Err(format!("{now:?}, at first {base:?}")) }
    })
    .await;
    host.finish().await?;
    Ok(())
}

/// H05.
#[tokio::test]
async fn work_on_much_memory_at_once_is_interrupted() -> Result<()> {
    const PAGES: u32 = 960;
    let bytes = PAGES << 16;
    let grow = format!("(drop (memory.grow (i32.const {})))", PAGES - 1);
    let fill = format!("(memory.fill (i32.const 65536) (i32.const 7) (i32.const {}))", bytes - 65536);
    let half = bytes / 2;
    let copy = format!("(memory.copy (i32.const {half}) (i32.const 65536) (i32.const {}))", half - 65536);
    // In straight code there is no back edge at which a loop could be interrupted.
    let forms =
        |work: &str| [format!("{grow} (loop $again {work} (br $again))"), grow.clone() + &work.repeat(2000)];
    let folder = Folder::new();
    let names = ["fills", "fills_on", "copies", "copies_on"];
    for (name, dispatch) in names.into_iter().zip([fill, copy].iter().flat_map(|work| forms(work))) {
        Guest { name, dispatch, ..Guest::default() }.put(&folder);
        folder.write(&format!("{name}.toml"), POLICY);
    }
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    for name in names {
        let told = client.envelope(name, json!({"action": "go"})).await?;
        let error = format!("timed out: the plugin `{name}` used up its CPU time of 100ms");
        assert_eq!(told["error"], error, "{told}");
    }
    client.end().await
}

/// Actions that are cancelled.
const VICTIMS: [&str; 4] = ["spin", "sleep", "print", "leak"];

/// Far fewer permits than cancelled calls, a queue for all of them, and timeouts that never expire.
const THREE: &str = "[limits]\ncpu = \"60s\"\nwall = \"10m\"\nconcurrency = 3\nqueue = 1024\n";

/// Panics in the host's log.
fn panics(log: &NamedTempFile) -> Result<Vec<String>> {
    let log = fs::read_to_string(log.path())?;
    Ok(log.lines().filter(|line| line.contains("panicked")).map(str::to_owned).collect())
}

/// H06.
#[tokio::test]
async fn cancellation_at_any_moment_leaks_nothing() -> Result<()> {
    let folder = Folder::with(&["misbehaves"]);
    folder.write("misbehaves.toml", THREE);
    let log = NamedTempFile::new()?;
    let stderr = log.reopen()?;
    let mut host = Raw::start_with(folder.path(), |command| {
        command.stderr(stderr);
    })
    .await?;
    let mut chance = Chance(6);
    for id in 1..=200 {
        let action = VICTIMS[chance.below(4)];
        host.call(id, "misbehaves", &json!({"action": action})).await?;
        tokio::time::sleep(Duration::from_micros(chance.below(4000) as u64)).await;
        host.cancel(id).await?;
    }
    // Two that keep running, and a third that gets the last permit: all three permits were released.
    for id in [301, 302] {
        host.call(id, "misbehaves", &json!({"action": "sleep"})).await?;
    }
    host.call(303, "misbehaves", &json!({"action": "env"})).await?;
    let told = loop {
        let told = host.answer().await?;
        if told["id"] == 303 {
            break told;
        }
    };
    assert_eq!(told["result"]["structuredContent"]["data"], json!([]), "{told}");
    for id in [301, 302] {
        host.cancel(id).await?;
    }
    host.finish().await?;
    assert_eq!(panics(&log)?, [""; 0]);
    Ok(())
}

/// H06.
#[tokio::test]
async fn disconnects_at_any_moment_leak_nothing() -> Result<()> {
    let folder = Folder::with(&["misbehaves"]);
    folder.write("misbehaves.toml", THREE);
    let host = HttpHost::start(folder.path()).await?;
    let mut chance = Chance(7);
    for _ in 0..100 {
        let request = request(&host, "misbehaves", &json!({"action": VICTIMS[chance.below(4)]}), "");
        let mut stream = TcpStream::connect(host.authority()).await?;
        stream.write_all(request.as_bytes()).await?;
        tokio::time::sleep(Duration::from_micros(chance.below(4000) as u64)).await;
    }
    let mut client = Client::http(&host, Era::Stateless).await?;
    let sleep = || {
        let call =
            CallToolRequestParams::new("misbehaves").with_arguments(arguments(json!({"action": "sleep"})));
        let peer = client.service.peer().clone();
        tokio::spawn(async move { peer.call_tool(call).await })
    };
    let sleepers = [sleep(), sleep()];
    for _ in &sleepers {
        heard("progress", &mut client.progress).await?;
    }
    let told = client.envelope("misbehaves", json!({"action": "env"})).await?;
    assert_eq!(told["data"], json!([]), "{told}");
    assert!(!sleepers.iter().any(tokio::task::JoinHandle::is_finished));
    sleepers.iter().for_each(tokio::task::JoinHandle::abort);
    client.end().await
}

/// H06.
#[tokio::test]
async fn the_host_exits_cleanly_when_clients_leave() -> Result<()> {
    let folder = Folder::with(&["misbehaves"]);
    folder.write("misbehaves.toml", THREE);
    let log = NamedTempFile::new()?;
    for action in ["spin", "sleep"] {
        let stderr = log.reopen()?;
        let mut host = Raw::start_with(folder.path(), |command| {
            command.stderr(stderr);
        })
        .await?;
        for id in 1..=6 {
            host.call(id, "misbehaves", &json!({"action": action})).await?;
        }
        host.finish().await?;
        assert_eq!(panics(&log)?, [""; 0]);
    }
    Ok(())
}
