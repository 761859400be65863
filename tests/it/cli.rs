//! The commands, as a person or a script uses them.

use std::{fs, process::Output, time::Duration};

use anyhow::{Context, Result};
use loggia_tests::{
    Client, Era, Folder, HttpHost, PATIENCE, binary, cache, eventually, fixture, plugin, scratch,
};
use serde_json::{Value, json};
use tokio::process::Command;

async fn loggia(words: &[&str], folder: &Folder) -> Result<(Option<i32>, String, String)> {
    let Output { status, stdout, stderr } = Command::new(binary())
        .args(words)
        .arg(folder.path())
        .env("LOGGIA_CACHE", cache())
        .env("LOGGIA_STATE", scratch())
        .output()
        .await?;
    Ok((status.code(), String::from_utf8(stdout)?, String::from_utf8(stderr)?))
}

#[tokio::test]
async fn check_tells_of_two_files_that_claim_one_name() -> Result<()> {
    let folder = Folder::new();
    folder.put("a", &fixture("version_one"));
    folder.put("version", &fixture("version_two"));
    let (code, stdout, stderr) = loggia(&["check"], &folder).await?;
    assert_eq!(code, Some(10), "{stdout}");
    let lines: Vec<&str> = stdout.lines().map(str::trim_end).collect();
    assert_eq!(lines[1], "a\tnot served: `version.wasm` owns the name `version`");
    assert!(lines[2].starts_with("version\tget\t"), "{stdout}");
    assert_eq!(stderr, "1 of 2 would not be served\n");
    Ok(())
}

#[tokio::test]
async fn call_prints_the_result_and_says_what_cannot_be_printed() -> Result<()> {
    let folder = Folder::new();
    folder.put("files", &plugin("files"));
    let granted = tempfile::tempdir()?;
    let path = granted.path();
    folder.write(
        "files.toml",
        &format!("[grants]\ndirs = [{{ path = {path:?}, at = \"/d\", access = \"read\" }}]\n"),
    );
    fs::write(path.join("a.png"), b"\x89PNG\r\n\x1a\n0000")?;
    let words = ["call", "files", "get", "path=/d/a.png", "--plugins"];
    let (code, stdout, stderr) = loggia(&words, &folder).await?;
    assert_eq!(code, Some(0), "{stdout} {stderr}");
    let envelope: Value = serde_json::from_str(&stdout)?;
    assert_eq!(envelope["data"]["path"], "/d/a.png");
    assert_eq!(stderr, "(a picture, image/png, 12 bytes: not shown)\n");
    let (code, stdout, _) = loggia(&["call", "nothing", "get", "--plugins"], &folder).await?;
    assert_eq!(
        (code, stdout.contains("not found: there is no facade `nothing`")),
        (Some(20), true),
        "{stdout}"
    );
    Ok(())
}

#[tokio::test]
async fn call_tells_a_wrong_command_line_from_a_call_that_failed() -> Result<()> {
    let folder = Folder::with(&["echo", "version_one"]);
    folder.put("files", &plugin("files"));
    folder
        .write("files.toml", "[grants]\ndirs = [{ path = \"/nowhere\", at = \"/d\", access = \"read\" }]\n");
    for (words, said) in [
        (["call", "echo", "add", "milk", "--plugins"], "`milk` is neither a JSON object nor key=value"),
        (["call", "echo", "add", "{nonsense", "--plugins"], "the parameters are not valid JSON"),
    ] {
        let (code, stdout, stderr) = loggia(&words, &folder).await?;
        assert_eq!((code, &*stdout), (Some(2), ""), "{words:?} {stderr}");
        assert!(stderr.starts_with("error: ") && stderr.contains(said), "{stderr}");
    }
    // What there is instead is told when all of it is loaded.
    for tool in ["files", "nothing"] {
        let (code, stdout, _) = loggia(&["call", tool, "list", "--plugins"], &folder).await?;
        let envelope: Value = serde_json::from_str(&stdout)?;
        assert_eq!(
            (code, &envelope["hint"]),
            (Some(20), &json!("available facades: echo, version")),
            "{tool}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn a_host_may_open_as_many_files_as_it_is_allowed_at_most() -> Result<()> {
    let folder = Folder::new();
    let script = r#"ulimit -Sn 100; ulimit -Hn 900; exec "$0" serve "$1" --http 127.0.0.1:0"#;
    let mut command = Command::new("sh");
    command
        .args(["-c", script])
        .arg(binary())
        .arg(folder.path())
        .env("LOGGIA_CACHE", cache())
        .env("LOGGIA_STATE", scratch());
    let host = HttpHost::spawn(&mut command).await?;
    let limits = fs::read_to_string(format!("/proc/{}/limits", host.child.id().context("ended")?))?;
    let open = limits.lines().find(|line| line.starts_with("Max open files")).context("no such limit")?;
    assert_eq!(open.split_whitespace().nth(3), Some("900"), "{open}");
    Ok(())
}

#[tokio::test]
async fn a_host_whose_binary_was_replaced_still_compiles() -> Result<()> {
    let (folder, compiled) = (Folder::new(), tempfile::tempdir()?);
    // Beside the binary, so that no copy of it need be made.
    let beside = tempfile::tempdir_in(binary().parent().context("no folder")?)?;
    let own = beside.path().join("loggia");
    fs::hard_link(binary(), &own)?;
    let mut command = Command::new(&own);
    command.args(["serve", "--http", "127.0.0.1:0"]).arg(folder.path()).env("LOGGIA_CACHE", compiled.path());
    let host = HttpHost::spawn(&mut command).await?;
    fs::remove_file(&own)?;
    fs::write(&own, "another version")?;
    let client = Client::http(&host, Era::Stateless).await?;
    folder.put("version", &fixture("version_one"));
    for _ in 0..3 {
        let served = eventually(async || match client.envelope("version", json!({"action": "get"})).await {
            Ok(envelope) => Ok(envelope),
            Err(error) => Err(error.to_string()),
        });
        if let Ok(envelope) = tokio::time::timeout(PATIENCE - Duration::from_secs(1), served).await {
            assert_eq!(envelope["data"], "one", "{envelope}");
            return client.end().await;
        }
    }
    panic!("never compiled")
}
