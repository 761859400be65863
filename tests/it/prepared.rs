//! Instances that are made before the call that uses them.

use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use loggia_tests::{Client, Era, Folder, PATIENCE, Raw, Served, wire};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    time::timeout,
};

use crate::hostile::wat::{Guest, REPLY};

/// Takes some milliseconds.
const SPIN: &str = "(local $i i32)
    (loop $again
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (br_if $again (i32.lt_u (local.get $i) (i32.const 3000000))))";

/// Writes a character into the answer, which is `gone` otherwise.
fn write(at: u32, character: &str) -> String {
    let text = REPLY + 8;
    format!("(i32.store8 (i32.add (i32.load (i32.const {text})) (i32.const {at})) {character})")
}

fn prepared(guest: &Guest) -> String {
    format!("loggia_calls_prepared_total{{tool=\"{}\"}}", guest.name)
}

async fn call(client: &Client, guest: &Guest) -> Result<Value> {
    Ok(client.envelope(guest.name, json!({"action": "go"})).await?["data"].take())
}

/// A guest whose start takes half of the memory that it may have; its calls count themselves, and ask for more than the other half.
fn counting(name: &'static str, start: &str) -> Guest {
    let refused = "(i32.eq (memory.grow (i32.const 600)) (i32.const -1))";
    Guest {
        name,
        fields: format!(
            "(global $calls (mut i32) (i32.const 48))
            (func $start {start} (drop (memory.grow (i32.const 500)))) (start $start)"
        ),
        dispatch: format!(
            "(global.set $calls (i32.add (global.get $calls) (i32.const 1))) {} (if {refused} (then {}))",
            write(1, "(global.get $calls)"),
            write(2, "(i32.const 45)")
        ),
        ..Guest::default()
    }
}

#[tokio::test]
async fn prepared_instances_are_fresh_and_limited() -> Result<()> {
    let guest = counting("slow", SPIN);
    let folder = Folder::with(&[]);
    guest.put(&folder);
    let served = Served::start(&folder, |_| {}).await?;
    let client = Client::http(&served.host, Era::Stateless).await?;
    let mut calls = 0;
    while served.figure(&prepared(&guest)).await?.unwrap_or_default() < 3.0 {
        assert_eq!(call(&client, &guest).await?, "1-ne");
        calls += 1;
        ensure!(calls < 100, "no instance was prepared");
    }
    client.end().await
}

#[tokio::test]
async fn quick_instances_are_prepared_for_a_client_on_stdio() -> Result<()> {
    let (guest, traps) =
        (counting("quick", ""), Guest { dispatch: "unreachable".to_owned(), ..counting("traps", "") });
    let folder = Folder::with(&[]);
    guest.put(&folder);
    traps.put(&folder);
    let mut raw = Raw::start_with(folder.path(), |command| {
        command.args(["--admin", "127.0.0.1:0"]).stderr(Stdio::piped());
    })
    .await?;
    let mut log = BufReader::new(raw.child.stderr.take().context("stderr")?).lines();
    let admin = timeout(PATIENCE, log.next_line()).await??.context("no address")?;
    let admin = admin.strip_prefix("admin on http://").context("no address")?.to_owned();
    tokio::spawn(async move { while let Ok(Some(_)) = log.next_line().await {} });
    let mut calls = 0;
    loop {
        for guest in [&guest, &guest, &traps] {
            calls += 1;
            raw.call(calls, guest.name, &json!({"action": "go"})).await?;
        }
        for _ in 0..3 {
            let answer = raw.answer().await?;
            let result = &answer["result"]["structuredContent"];
            // Every third call is one of `traps`.
            let has_trapped = answer["id"].as_u64().context("no id")?.is_multiple_of(3);
            ensure!(if has_trapped { result["ok"] == false } else { result["data"] == "1-ne" }, "{answer}");
        }
        let page = wire::send(&admin, format!("GET /metrics HTTP/1.1\r\nHost: {admin}\r\n\r\n").as_bytes())
            .await?
            .body;
        let figure = |guest| {
            page.lines().find_map(|line| line.strip_prefix(&*prepared(guest))?.trim().parse::<f64>().ok())
        };
        if figure(&guest).is_some_and(|count| count >= 3.0) && figure(&traps).is_none() {
            break;
        }
        ensure!(calls < 300, "no instance was prepared: {page}");
    }
    raw.finish().await.map(drop)
}

#[tokio::test]
async fn guests_whose_start_asks_the_host_are_not_prepared() -> Result<()> {
    let import = r#"(import "wasi:clocks/monotonic-clock@0.2.0"
            (instance $clock (export "now" (func (result u64)))))
        (core func $now (canon lower (func $clock "now")))
        (core instance $clock-i (export "now" (func $now)))"#;
    let guest = Guest {
        name: "asking",
        imports: r#"(import "clock" "now" (func $now (result i64)))"#.to_owned(),
        with: r#"(with "clock" (instance $clock-i))"#.to_owned(),
        items: import.to_owned(),
        fields: format!("(func $start {SPIN} (drop (call $now))) (start $start)"),
        ..Guest::default()
    };
    let folder = Folder::with(&[]);
    guest.put(&folder);
    let served = Served::start(&folder, |_| {}).await?;
    let client = Client::http(&served.host, Era::Stateless).await?;
    for _ in 0..12 {
        assert_eq!(call(&client, &guest).await?, "gone");
    }
    assert_eq!(served.figure(&prepared(&guest)).await?, None);
    client.end().await
}
