//! Granted files within limits: number of open files and bytes written.

use std::{fs, os::unix::fs::MetadataExt, sync::Arc};

use anyhow::Result;
use loggia_tests::{Client, Era, HttpHost, binary, cache, state};
use serde_json::json;
use tokio::{process::Command, task::JoinSet};

use super::files::{granted, made};

/// H22.
#[tokio::test]
async fn no_call_opens_ten_thousand_files() -> Result<()> {
    let folder = granted("reaches", &[("data", "read")], "");
    fs::write(folder.beside("data").join("file"), "text")?;
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    let told =
        client.envelope("reaches", json!({"action": "open_many", "dir": "/data", "n": 10_000})).await?;
    assert_eq!(told["data"]["opened"], 64, "{told}");
    // They are closed with the call.
    let told = client.envelope("reaches", json!({"action": "open_many", "dir": "/data", "n": 64})).await?;
    assert_eq!(told["data"], json!({"opened": 64, "error": null}), "{told}");
    client.end().await
}

/// H22.
#[tokio::test]
async fn descriptor_heavy_calls_leave_room_for_clients() -> Result<()> {
    let folder = granted("lingers", &[("data", "read-write")], "[limits]\nbreaker-faults = 1000\n");
    folder.put("echo", &loggia_tests::fixture("echo"));
    let data = folder.beside("data");
    fs::write(data.join("file"), "text")?;
    let mut command = Command::new("sh");
    command
        .args(["-c", r#"ulimit -n 256; exec "$0" serve "$1" --http 127.0.0.1:0"#])
        .arg(binary())
        .arg(folder.path());
    command.env("LOGGIA_CACHE", cache()).env("LOGGIA_STATE", state(folder.path()));
    let host = HttpHost::spawn(&mut command).await?;
    let client = Arc::new(Client::http(&host, Era::Stateless).await?);
    let hold = |mark: String, n: usize| {
        let paths = json!({"action": "hold", "file": "/data/file", "n": n, "mark": format!("/data/{mark}"), "until": "/data/go"});
        let client = client.clone();
        async move { client.envelope("lingers", paths).await }
    };

    // A call that exceeds the limit ends, and releases all that it had open.
    for n in 0..20 {
        let told = hold(format!("greedy-{n}"), 10_000).await?;
        let hint = told["error"].as_str().unwrap_or_default();
        assert!(hint.contains("held more than") && hint.contains("handles at once"), "{told}");
    }
    // As many concurrent calls as a plugin may run, each near its limit.
    let mut holding = JoinSet::new();
    for n in 0..8 {
        let call = hold(format!("held-{n}"), 8);
        holding.spawn(call);
    }
    let others = async {
        for n in 0..8 {
            made(&data, &format!("held-{n}")).await;
        }
        for n in 0..10 {
            let client = Client::http(&host, Era::Stateful).await?;
            let told = client.envelope("echo", json!({"action": "add", "a": n, "b": 1})).await?;
            assert_eq!(told["data"], f64::from(n + 1), "{told}");
            client.end().await?;
        }
        fs::write(data.join("go"), "")?;
        anyhow::Ok(())
    };
    others.await?;
    for told in holding.join_all().await {
        assert_eq!(told?["data"], 8);
    }
    Ok(())
}

/// H23.
#[tokio::test]
async fn no_kind_of_write_fills_a_disk() -> Result<()> {
    const MOST: u64 = 16 << 20;
    // With practically unlimited time.
    for way in ["stream", "positions", "append", "again", "length", "dirs", "files", "symlinks", "links"] {
        let folder =
            granted("hoards", &[("data", "read-write")], "[limits]\ncpu = \"60s\"\nwall = \"10m\"\n");
        let data = folder.beside("data");
        let client = Client::stdio(folder.path(), Era::Stateful).await?;
        let told = client.envelope("hoards", json!({"action": "fill", "way": way, "bytes": 1 << 30})).await?;
        assert_eq!(told["data"], "quota", "{way}: {told}");
        let (mut bytes, mut entries) = (0, 0);
        for entry in fs::read_dir(&data)? {
            let meta = entry?.metadata()?;
            entries += 1;
            bytes += if meta.is_dir() { 0 } else { meta.blocks() * 512 };
            // A hole counts as written.
            assert!(meta.len() <= MOST, "{way}: a file of {} bytes", meta.len());
        }
        assert!(
            bytes <= MOST + (1 << 20) && entries <= MOST >> 12,
            "{way}: {bytes} bytes, {entries} entries"
        );
        assert!(
            bytes >= MOST / 2 || entries > 1000 || way == "again" || way == "length",
            "{way}: little was written"
        );
        client.end().await?;
    }
    Ok(())
}
