//! A plugin that misbehaves spoils its own call, and nothing else.

use std::time::{Duration, Instant};

use anyhow::Result;
use loggia_tests::{Client, Era, Folder};
use serde_json::{Value, json};

/// Little of everything, so that the tests are quick.
const POLICY: &str = r#"
[limits]
cpu = "200ms"
wall = "2s"
memory = "16MiB"
"#;

fn folder() -> Folder {
    let folder = Folder::with(&["misbehaves", "echo"]);
    folder.write("misbehaves.toml", POLICY);
    folder
}

#[tokio::test]
async fn each_misbehaviour_becomes_a_named_fault_and_the_next_call_works() -> Result<()> {
    let folder = folder();
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    let mut told = Vec::new();
    for action in ["spin", "hoard", "panic", "recurse", "leave", "sleep", "flood", "deluge"] {
        let failed = client.envelope("misbehaves", json!({"action": action})).await?;
        assert_eq!(failed["ok"], false, "{action}: {failed}");
        let fine = client.envelope("misbehaves", json!({"action": "leak"})).await?;
        assert_eq!(fine["data"], json!({"kept": 1}), "after {action}: {fine}");
        told.push(failed);
    }
    insta::assert_json_snapshot!("faults", told);
    client.end().await
}

#[tokio::test]
async fn a_panics_message_is_told_but_not_its_place() -> Result<()> {
    let folder = folder();
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    let failed = client.envelope("misbehaves", json!({"action": "panic", "message": "out of milk"})).await?;
    let text = failed.to_string();
    assert!(text.contains("panicked: out of milk") && !text.contains(".rs"), "{text}");
    client.end().await
}

#[tokio::test]
async fn other_calls_are_answered_while_guests_loop() -> Result<()> {
    let folder = folder();
    folder.write("misbehaves.toml", "[limits]\ncpu = \"1500ms\"\n");
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    let peer = client.service.peer().clone();
    let loops: Vec<_> = (0..8)
        .map(|_| {
            let peer = peer.clone();
            let Value::Object(arguments) = json!({"action": "spin"}) else { unreachable!() };
            let call = rmcp::model::CallToolRequestParams::new("misbehaves").with_arguments(arguments);
            tokio::spawn(async move { peer.call_tool(call).await })
        })
        .collect();
    let begun = Instant::now();
    for n in 0..20 {
        let added = client.envelope("echo", json!({"action": "add", "a": n, "b": 1})).await?;
        assert_eq!(added["data"], json!(f64::from(n + 1)));
    }
    // Eight loops, each with its CPU budget: had the calls queued behind them, they would have waited for those.
    assert!(!loops.iter().any(|call| call.is_finished()), "a loop ended first, after {:?}", begun.elapsed());
    for call in loops {
        let result = call.await??;
        assert_eq!(result.is_error, Some(true));
    }
    client.end().await
}

#[tokio::test]
async fn a_log_that_nobody_reads_holds_up_no_call() -> Result<()> {
    let folder = folder();
    let (client, _unread) = Client::stdio_unread(folder.path()).await?;
    for _ in 0..8 {
        let printed = client.envelope("misbehaves", json!({"action": "print"})).await?;
        assert_eq!(printed["ok"], true, "{printed}");
    }
    let fine = client.envelope("echo", json!({"action": "add", "a": 1, "b": 2})).await?;
    assert_eq!(fine["data"], 3.0);
    client.end().await
}

#[tokio::test]
async fn a_cancelled_call_stops_its_guest() -> Result<()> {
    let folder = folder();
    folder.write("misbehaves.toml", "[limits]\ncpu = \"60s\"\nwall = \"10m\"\nconcurrency = 1\n");
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    let spin = client.call("misbehaves", json!({"action": "spin"}));
    // Dropping the call sends a cancellation.
    assert!(tokio::time::timeout(Duration::from_millis(300), spin).await.is_err());
    // One call at a time: this one runs only once the loop has ended, far from its 60 seconds.
    let fine = client.envelope("misbehaves", json!({"action": "leak"})).await?;
    assert_eq!(fine["ok"], true, "{fine}");
    client.end().await
}

#[tokio::test]
async fn nothing_is_granted_unless_it_is_named() -> Result<()> {
    let folder = Folder::with(&["misbehaves"]);
    let client = Client::stdio_with(folder.path(), Era::Stateful, |command| {
        command.env("SECRET", "canary");
    })
    .await?;
    let env = client.envelope("misbehaves", json!({"action": "env"})).await?;
    assert_eq!(env["data"], json!([]));
    let read = client.envelope("misbehaves", json!({"action": "read", "path": "/etc/passwd"})).await?;
    assert_eq!(read["ok"], false, "{read}");
    client.end().await
}

#[tokio::test]
async fn a_read_action_cannot_write_where_a_write_action_can() -> Result<()> {
    let folder = Folder::with(&["misbehaves"]);
    let granted = tempfile::tempdir()?;
    let outside = tempfile::tempdir()?;
    std::fs::write(outside.path().join("secret"), "canary")?;
    std::os::unix::fs::symlink(outside.path(), granted.path().join("link"))?;
    let dir = format!("{{ path = {:?}, at = \"/data\", access = \"read-write\" }}", granted.path());
    folder.write("misbehaves.toml", &format!("[grants]\ndirs = [{dir}]\n"));
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    let path = granted.path().join("file");

    let denied =
        client.envelope("misbehaves", json!({"action": "write_while_reading", "path": "/data/file"})).await?;
    assert_eq!(denied["ok"], false, "{denied}");
    assert!(!path.exists());

    let written = client.envelope("misbehaves", json!({"action": "write", "path": "/data/file"})).await?;
    assert_eq!(written["ok"], true, "{written}");
    assert_eq!(std::fs::read_to_string(&path)?, "written");

    for escape in ["/data/../secret", "/data/link/secret", "/secret"] {
        let read = client.envelope("misbehaves", json!({"action": "read", "path": escape})).await?;
        assert!(read["ok"] == false && !read.to_string().contains("canary"), "{escape}: {read}");
    }
    client.end().await
}

#[tokio::test]
async fn a_guest_that_closes_nothing_runs_out_of_files() -> Result<()> {
    let folder = Folder::with(&["misbehaves"]);
    let granted = tempfile::tempdir()?;
    std::fs::write(granted.path().join("file"), "text")?;
    let dir = format!("{{ path = {:?}, at = \"/data\", access = \"read\" }}", granted.path());
    folder.write("misbehaves.toml", &format!("[grants]\ndirs = [{dir}]\n"));
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    let failed = client.envelope("misbehaves", json!({"action": "open_many", "path": "/data/file"})).await?;
    let hint =
        "it had as many files open as a call may, which is 64; the operator can raise `limits.descriptors`";
    assert_eq!((&failed["ok"], &failed["hint"]), (&json!(false), &json!(hint)), "{failed}");
    let fine = client.envelope("misbehaves", json!({"action": "read", "path": "/data/file"})).await?;
    assert_eq!(fine["data"], "text");
    client.end().await
}
