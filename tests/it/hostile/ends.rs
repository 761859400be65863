//! Ends of a guest's call, the information it can get and the state it leaves: only its own caller sees an error.

use std::{fs, time::Instant};

use anyhow::{Context, Result};
use loggia_tests::{Client, ERAS, Era, Folder, HttpHost, PATIENCE, Raw, eventually};
use serde_json::{Value, json};
use tempfile::NamedTempFile;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::{host::request, wat::Guest};

/// Little of everything, so that the tests are quick, and no rest.
const POLICY: &str = "[limits]\ncpu = \"200ms\"\nwall = \"10s\"\nmemory = \"16MiB\"\nbreaker-faults = 1000\n";

/// H01, H04, H07, H10, H15, H16.
#[tokio::test]
async fn each_fault_is_named_and_contained() -> Result<()> {
    let folder = Folder::with(&["misbehaves"]);
    let traps = [("traps", "unreachable"), ("divides", "(drop (i32.div_u (i32.const 1) (local.get $a)))")];
    for (name, dispatch) in traps {
        Guest { name, dispatch: dispatch.into(), ..Guest::default() }.put(&folder);
    }
    folder.write("misbehaves.toml", POLICY);
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    let mut told = Vec::new();
    let actions = ["spin", "hoard", "panic", "recurse", "leave", "sleep", "flood", "deluge"];
    let mut calls: Vec<(&str, Value)> =
        actions.iter().map(|action| ("misbehaves", json!({"action": action}))).collect();
    calls.push(("misbehaves", json!({"action": "leave", "code": 1})));
    calls.extend(traps.map(|(name, _)| (name, json!({"action": "go"}))));
    for (name, arguments) in calls {
        let failed = client.envelope(name, arguments.clone()).await?;
        assert_eq!(failed["ok"], false, "{arguments}: {failed}");
        let fine = client.envelope("misbehaves", json!({"action": "leak"})).await?;
        assert_eq!(fine["data"], json!({"kept": 1}), "after {arguments}: {fine}");
        told.push(failed);
    }
    insta::assert_json_snapshot!("ends", told);
    client.end().await
}

/// H16.
#[tokio::test]
async fn a_panics_message_is_reported_without_its_location() -> Result<()> {
    let folder = Folder::with(&["misbehaves"]);
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    let failed = client.envelope("misbehaves", json!({"action": "panic", "message": "out of milk"})).await?;
    let text = failed.to_string();
    assert!(text.contains("panicked: out of milk") && !text.contains(".rs"), "{text}");
    client.end().await
}

/// H45.
#[tokio::test]
async fn repeated_traps_open_the_breaker() -> Result<()> {
    const CALLS: u64 = 1000;
    let folder = Folder::with(&["misbehaves", "echo"]);
    folder.write("misbehaves.toml", "[limits]\nbreaker-rest = \"3s\"\n");
    let log = NamedTempFile::new()?;
    let stderr = log.reopen()?;
    let mut host = Raw::start_with(folder.path(), |command| {
        command.stderr(stderr);
    })
    .await?;
    let (began, mut faults, mut refused) = (Instant::now(), 0, 0);
    for id in 1..=CALLS {
        host.call(id, "misbehaves", &json!({"action": "panic"})).await?;
        if id % 10 == 0 {
            host.call(CALLS + id, "echo", &json!({"action": "add", "a": id, "b": 1})).await?;
        }
    }
    for _ in 0..CALLS + CALLS / 10 {
        let answer = host.answer().await?;
        let (id, told) = (answer["id"].as_u64().context("an id")?, &answer["result"]["structuredContent"]);
        match told["code"].as_str() {
            None => assert_eq!(told["data"], json!((id - CALLS + 1) as f64), "{told}"),
            Some("internal") => faults += 1,
            Some("unavailable") => {
                assert!(told["retry_after_ms"].as_u64().is_some_and(|ms| ms <= 3000), "{told}");
                refused += 1;
            }
            _ => panic!("{told}"),
        }
    }
    // If this took longer than the breaker's pause, one call was tried after each pause.
    let tries = began.elapsed().as_secs() / 3;
    // The eight calls that ran at the fifth failure ran to their end.
    assert!((5..=13 + tries).contains(&faults), "{faults} with {tries} tries");
    assert_eq!(faults + refused, CALLS);
    // A few lines for each that ran, and one for all that did not.
    let lines = |log: &str, text: &str| log.lines().filter(|line| line.contains(text)).count() as u64;
    let log = eventually(async || {
        let log = fs::read_to_string(log.path()).unwrap_or_default();
        let (panics, rests) = (lines(&log, "panicked: boom"), lines(&log, "`limits.breaker-faults`"));
        let told = panics == faults && (1..=1 + tries).contains(&rests);
        if told { Ok(log) } else { Err(format!("{faults} faults, {tries} tries: {log}")) }
    })
    .await;
    assert!(lines(&log, "") < 100 + 5 * tries, "{log}");
    // The breaker closes again after a successful call.
    let ids = std::cell::Cell::new(2 * CALLS);
    let host = tokio::sync::Mutex::new(host);
    let call = async |action: &str| -> Result<Value> {
        ids.set(ids.get() + 1);
        let mut host = host.lock().await;
        host.call(ids.get(), "misbehaves", &json!({"action": action})).await?;
        Ok(host.answer().await?["result"]["structuredContent"].take())
    };
    eventually(async || match call("leak").await {
        Ok(told) if told["ok"] == true => Ok(()),
        told => Err(format!("{told:?}")),
    })
    .await;
    assert_eq!(call("panic").await?["code"], "internal");
    assert_eq!(call("leak").await?["ok"], true);
    host.into_inner().finish().await?;
    Ok(())
}

/// H49.
#[tokio::test]
async fn a_plugin_without_grants_sees_nothing() -> Result<()> {
    for era in ERAS {
        let folder = Folder::with(&["reaches", "misbehaves"]);
        let client = Client::stdio_with(folder.path(), era, |command| {
            command.env("SECRET", "canary");
        })
        .await?;
        let told = client.envelope("reaches", json!({"action": "surroundings"})).await?;
        assert_eq!(told["data"], json!([{}, []]), "{told}");
        let told = client.envelope("reaches", json!({"action": "dirs"})).await?;
        assert_eq!(told["data"], json!([]), "{told}");
        for path in ["/etc/passwd", "/proc/self/environ", "/proc/1/environ", "/", ".", "../../etc/passwd"] {
            let read = client.envelope("misbehaves", json!({"action": "read", "path": path})).await?;
            assert_eq!(read["ok"], false, "{path}: {read}");
        }
        client.end().await?;
    }
    Ok(())
}

/// H49.
#[tokio::test]
async fn a_callers_token_reaches_no_plugin() -> Result<()> {
    let folder = Folder::with(&["reaches"]);
    folder.write("reaches.toml", "[grants]\ncaller = true\n");
    let host = HttpHost::start(folder.path()).await?;
    let headers =
        "Authorization: Bearer canary\r\nCookie: token=canary\r\nX-Api-Key: canary\r\nConnection: close\r\n";
    for (action, expected) in [
        ("surroundings", "[{},[]]"),
        ("whoami", "{\"ok\":true,\"action\":\"whoami\"}"),
        ("dirs", "\"data\":[]"),
    ] {
        let mut stream = TcpStream::connect(host.authority()).await?;
        let asked = request(&host, "reaches", &json!({"action": action}), headers);
        stream.write_all(asked.as_bytes()).await?;
        let mut answer = String::new();
        tokio::time::timeout(PATIENCE, stream.read_to_string(&mut answer)).await??;
        assert!(answer.contains(expected) && !answer.contains("canary"), "{action}: {answer}");
    }
    Ok(())
}

/// H49.
#[tokio::test]
async fn plugins_cannot_see_each_others_directories() -> Result<()> {
    let folder = Folder::with(&["misbehaves", "reaches"]);
    let (one, other) = (folder.beside("one"), folder.beside("other"));
    fs::write(one.join("secret"), "canary")?;
    for (name, dir) in [("misbehaves", &one), ("reaches", &other)] {
        let dir = format!("{{ path = {dir:?}, at = \"/data\", access = \"read\" }}");
        folder.write(&format!("{name}.toml"), &format!("[grants]\ndirs = [{dir}]\n"));
    }
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    let own = client.envelope("misbehaves", json!({"action": "read", "path": "/data/secret"})).await?;
    assert_eq!(own["data"], "canary");
    let real = one.join("secret").display().to_string();
    for path in ["/data/secret", "/data/../one/secret", "../one/secret", "/one/secret", &real] {
        let told = client.envelope("reaches", json!({"action": "read_file", "path": path})).await?;
        assert!(told["ok"] == false && !told.to_string().contains("canary"), "{path}: {told}");
    }
    client.end().await
}

/// H49.
#[tokio::test]
async fn calls_share_no_memory() -> Result<()> {
    // Counts nonzero values in untouched memory, in a global and in a table; then fills all three.
    let fields = "(global $kept (mut i32) (i32.const 0)) (table $kept 100 funcref)
        (func $any) (elem declare func $any)";
    let dispatch = "
        (drop (memory.grow (i32.const 512)))
        (local.set $a (global.get $kept))
        (loop $next
            (local.set $a (i32.add (local.get $a) (i32.eqz (ref.is_null (table.get $kept (local.get $b))))))
            (table.set $kept (local.get $b) (ref.func $any))
            (br_if $next (i32.lt_u (local.tee $b (i32.add (local.get $b) (i32.const 1))) (i32.const 100))))
        (local.set $b (i32.const 8192))
        (loop $next
            (local.set $a (i32.add (local.get $a) (i64.ne (i64.load (local.get $b)) (i64.const 0))))
            (local.set $b (i32.add (local.get $b) (i32.const 8)))
            (br_if $next (i32.lt_u (local.get $b) (i32.shl (memory.size) (i32.const 16)))))
        (memory.fill (i32.const 8192) (i32.const 0xab) (i32.sub (local.get $b) (i32.const 8192)))
        (global.set $kept (i32.const 1))
        (if (local.get $a) (then unreachable))";
    let folder = Folder::new();
    for name in ["one", "other"] {
        let (fields, dispatch) = (fields.to_owned(), dispatch.to_owned());
        Guest { name, fields, dispatch, ..Guest::default() }.put(&folder);
    }
    let mut host = Raw::start(folder.path()).await?;
    // Some concurrently and many in sequence, so that instance slots are reused by the same plugin and by the other.
    for round in 0..10u64 {
        for call in 1..=6 {
            let name = ["one", "other"][(call % 2) as usize];
            host.call(round * 6 + call, name, &json!({"action": "go"})).await?;
        }
        for _ in 0..6 {
            let told = host.answer().await?;
            assert_eq!(told["result"]["structuredContent"]["data"], "gone", "{told}");
        }
    }
    host.finish().await?;
    Ok(())
}
