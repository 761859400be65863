//! Instances that are made before the call that uses them.

use anyhow::{Result, ensure};
use loggia_tests::{Client, Era, Folder, Served};
use serde_json::{Value, json};

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

#[tokio::test]
async fn prepared_instances_are_fresh_and_limited() -> Result<()> {
    // Its start takes half of the memory that it may have; its calls count themselves, and ask for more than the other half.
    let refused = "(i32.eq (memory.grow (i32.const 600)) (i32.const -1))";
    let guest = Guest {
        name: "slow",
        fields: format!(
            "(global $calls (mut i32) (i32.const 48))
            (func $start {SPIN} (drop (memory.grow (i32.const 500)))) (start $start)"
        ),
        dispatch: format!(
            "(global.set $calls (i32.add (global.get $calls) (i32.const 1))) {} (if {refused} (then {}))",
            write(1, "(global.get $calls)"),
            write(2, "(i32.const 45)")
        ),
        ..Guest::default()
    };
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
