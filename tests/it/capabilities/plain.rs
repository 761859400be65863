//! Environment, configuration, callers, other facades, clocks, randomness and logs. `asks.rs` tests questions,
//! `invoke.rs` calls to other facades.

use std::process::Stdio;

use anyhow::{Context, Result};
use loggia_tests::{Client, Era, Folder, binary, cache, state};
use serde_json::{Value, json};
use tokio::process::Command;

use super::{said, under};

const INVOKE: &str = "invoke = [\"worker:tell\"]";
const NO_INVOKE: &str = "denied: access denied: the policy does not let `reaches` call `worker`";

#[tokio::test]
async fn each_capability_needs_its_grant() -> Result<()> {
    let of_worker = |action: &str| json!({"action": action, "facade": "worker", "what": "tell"});
    let cases = [
        ("env = { REGION = \"eu\" }", json!({"action": "env", "name": "REGION"}), "null", "\"eu\""),
        ("config = { on = [true] }", json!({"action": "config", "key": "on"}), "null", "[true]"),
        ("config = { n = 5 }", json!({"action": "required_config", "key": "n"}), "`n`", "5"),
        ("caller = true", json!({"action": "whoami"}), "null", "\"caller_"),
        (INVOKE, json!({"action": "facades"}), "does not let `reaches` call other", r#"{"worker":["tell"]}"#),
        (INVOKE, of_worker("lookup"), NO_INVOKE, "\"params\":{"),
        (INVOKE, of_worker("check"), NO_INVOKE, "null"),
        (INVOKE, of_worker("call"), NO_INVOKE, "\""),
    ];
    for (grant, arguments, without, with) in cases {
        for (policy, expected) in [(String::new(), without), (format!("[grants]\n{grant}\n"), with)] {
            let folder = Folder::with(&["reaches", "worker"]);
            folder.write("reaches.toml", &policy);
            let client = Client::stdio(folder.path(), Era::Stateful).await?;
            let told = said(&client.envelope("reaches", arguments.clone()).await?);
            assert!(told.contains(expected), "{arguments} under {policy:?}: {told}");
            client.end().await?;
        }
    }
    Ok(())
}

#[tokio::test]
async fn the_environment_holds_only_granted_variables() -> Result<()> {
    let granted =
        "[grants]\nenv = { A = \"1\", B = \"${LOGGIA_CACHE:-none}\", C = \"${NO_SUCH_VARIABLE:-c}\" }\n";
    let told = under("reaches", granted, json!({"action": "surroundings"})).await?;
    let expected = json!([{"A": "1", "B": cache(), "C": "c"}, []]);
    assert_eq!(told["data"], expected, "{told}");
    let told = under("reaches", "", json!({"action": "surroundings"})).await?;
    assert_eq!(told["data"], json!([{}, []]), "{told}");
    Ok(())
}

#[tokio::test]
async fn clocks_advance_and_random_values_differ() -> Result<()> {
    let folder = Folder::with(&["reaches"]);
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    let clock = client.envelope("reaches", json!({"action": "clock"})).await?;
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed()?.as_millis() as u64;
    let told = clock["data"]["now"].as_u64().context("a time")?;
    assert!(told <= now && now - told < 600_000, "{clock}");
    let monotonic: [u64; 2] = serde_json::from_value(clock["data"]["monotonic"].clone())?;
    assert!(monotonic[0] <= monotonic[1], "{clock}");
    let random = || client.envelope("reaches", json!({"action": "random", "n": 32}));
    let (one, other) = (random().await?, random().await?);
    assert_ne!(one["data"], other["data"]);
    client.end().await
}

/// H18.
#[tokio::test]
async fn a_plugins_log_size_and_rate_are_limited() -> Result<()> {
    let cases = [
        ("", 5, 10, 5, ""),
        ("[limits]\nlog-rate = 3\n", 50, 10, 3, "lines dropped: too many (`limits.log-rate`)"),
        ("[limits]\nlogs = \"1KiB\"\n", 50, 200, 3, "bytes of output dropped (`limits.logs`)"),
    ];
    for (policy, lines, bytes, logged, said) in cases {
        let folder = Folder::with(&["reaches"]);
        folder.write("reaches.toml", policy);
        let output = Command::new(binary())
            .args([
                "call",
                "reaches",
                "log",
                &format!("lines={lines}"),
                &format!("bytes={bytes}"),
                "--plugins",
            ])
            .arg(folder.path())
            .env("LOGGIA_CACHE", cache())
            .env("LOGGIA_STATE", state(folder.path()))
            .env("LOGGIA_LOG", "info")
            .stdin(Stdio::null())
            .output()
            .await?;
        let log = String::from_utf8_lossy(&output.stderr);
        assert_eq!(log.matches(" xxxx").count(), logged, "{policy:?}: {log}");
        assert!(log.contains(said), "{policy:?}: {log}");
    }
    Ok(())
}

#[tokio::test]
async fn a_policy_is_taken_up_while_it_serves() -> Result<()> {
    let folder = Folder::with(&["reaches"]);
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    let told = async || -> Result<Value> {
        Ok(client.envelope("reaches", json!({"action": "env", "name": "A"})).await?["data"].clone())
    };
    assert_eq!(told().await?, Value::Null);
    for (policy, expected) in [
        ("[grants]\nenv = { A = \"1\" }\n", json!("1")),
        ("[grants]\nenv = { A = \"2\" }\n", json!("2")),
        ("", Value::Null),
    ] {
        folder.write("reaches.toml", policy);
        loggia_tests::eventually(async || match told().await {
            Ok(told) if told == expected => Ok(()),
            other => Err(format!("{other:?}")),
        })
        .await;
    }
    // A policy that is broken changes nothing.
    folder.write("reaches.toml", "[grants]\nenv = { A = \"3\" }\n");
    loggia_tests::eventually(async || match told().await {
        Ok(told) if told == "3" => Ok(()),
        other => Err(format!("{other:?}")),
    })
    .await;
    folder.write("reaches.toml", "[grants]\nenvy = { A = \"4\" }\n");
    folder.write("other.wasm", "no wasm");
    loggia_tests::eventually(async || match client.envelope("other", json!({})).await {
        Ok(_) => Ok(()),
        Err(error) => Err(error.to_string()),
    })
    .await;
    assert_eq!(told().await?, "3");
    client.end().await
}

#[tokio::test]
async fn the_operator_names_facades() -> Result<()> {
    let folder = Folder::with(&["reaches", "worker"]);
    folder.write("reaches.toml", "[grants]\ninvoke = [\"jobs:*\"]\n[expose]\nname = \"arms\"\n");
    folder.write("worker.toml", "[expose]\nname = \"jobs\"\n");
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    client.names_become(&["arms", "jobs"]).await;
    let told = client.envelope("arms", json!({"action": "call", "facade": "jobs", "what": "tell"})).await?;
    assert_eq!(told["ok"], true, "{told}");
    let told = client.envelope("arms", json!({"action": "call", "facade": "worker", "what": "tell"})).await?;
    assert_eq!(told["error"], "access denied: the policy does not let `arms` call `worker`");
    client.end().await
}
