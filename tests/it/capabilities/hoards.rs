//! Memory that the host holds for a guest, outside of the guest's own, is limited too.

use std::process::Command as Blocking;

use anyhow::{Result, ensure};
use loggia_tests::{Client, Era, Folder};
use serde_json::{Value, json};

use super::{said, under};

#[tokio::test]
async fn unsent_requests_hold_little_memory() -> Result<()> {
    // Without any grant: the interface is linked for everybody.
    let bodies = under("hoards", "", json!({"action": "bodies", "n": 50})).await?;
    assert_eq!(bodies["data"], 50 * 2 * (16 << 10), "{bodies}");
    let heads = async |bytes: usize| -> Result<Value> {
        Ok(under("hoards", "", json!({"action": "heads", "n": 2, "bytes": bytes})).await?["data"].clone())
    };
    assert_eq!(heads(1 << 20).await?, 0);
    assert_eq!(heads(60).await?, 2 * 3 * 60, "method, host and path");
    Ok(())
}

/// H22.
#[tokio::test]
async fn listings_count_as_open_and_pipes_never_block() -> Result<()> {
    let folder = Folder::with(&["hoards"]);
    let data = folder.beside("data");
    ensure!(Blocking::new("mkfifo").arg(data.join("pipe")).status()?.success(), "no mkfifo");
    std::os::unix::fs::symlink("pipe", data.join("link"))?;
    std::fs::write(data.join("file"), "text")?;
    let policy = format!(
        "[grants]\ndirs = [{{ path = {data:?}, at = \"/data\", access = \"read\" }}]\n[limits]\ndescriptors = 5\n"
    );
    folder.write("hoards.toml", &policy);
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    let told = client.envelope("hoards", json!({"action": "listings", "n": 40})).await?;
    assert_eq!(told["data"], 5, "{told}");
    for (path, follow, expected) in [
        ("file", true, "\"opened\""),
        ("nothing", true, "no-entry"),
        ("pipe", true, "not-permitted"),
        ("link", true, "not-permitted"),
        ("link", false, "loop"),
    ] {
        let arguments = json!({"action": "open", "path": path, "follow": follow});
        let told = said(&client.envelope("hoards", arguments).await?);
        assert!(told.contains(expected), "{path} {follow}: {told}");
    }
    client.end().await
}

#[tokio::test]
async fn listings_hold_so_many_entries_together() -> Result<()> {
    let folder = Folder::with(&["hoards"]);
    let data = folder.beside("data");
    for n in 0..1998 {
        std::fs::write(data.join(n.to_string()), "")?;
    }
    let dir = format!("{{ path = {data:?}, at = \"/data\", access = \"read\" }}");
    folder.write("hoards.toml", &format!("[grants]\ndirs = [{dir}]\n"));
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    // 2,000 entries each, with the directory itself and the one above it; 100,000 in all.
    let told = client.envelope("hoards", json!({"action": "listings", "n": 60})).await?;
    assert_eq!(told["data"], 50, "{told}");
    client.end().await
}

#[tokio::test]
async fn the_store_reports_oversized_commits() -> Result<()> {
    let policy = "[grants]\nstore = true\n";
    let commit = async |n: usize| under("hoards", policy, json!({"action": "commit", "n": n})).await;
    assert_eq!(commit(2).await?["data"], 2);
    let told = said(&commit(3).await?);
    assert!(told.starts_with("invalid_params: the commit has 3145734 bytes, and may have 3145728"), "{told}");
    Ok(())
}
