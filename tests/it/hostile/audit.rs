//! Attacks on the audit trail: what was changed is found, and what cannot be written is not lost unseen.

use std::{fs, path::Path, process::Output};

use anyhow::{Context, Result, ensure};
use loggia_tests::{Client, Era, Folder, Served, binary, eventually, signal, state};
use rustix::process::{Pid, Resource, Rlimit, Signal, prlimit};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::process::Command;

async fn audit(folder: &Folder, file: &Path, words: &[&str]) -> Result<Output> {
    let mut command = Command::new(binary());
    command.arg("audit").args(words).arg("--file").arg(file).env("LOGGIA_STATE", state(folder.path()));
    Ok(command.output().await?)
}

/// Text of both streams, with the exit code.
fn text(output: &Output) -> (Option<i32>, String) {
    let text = [&output.stdout[..], &output.stderr[..]].concat();
    (output.status.code(), String::from_utf8_lossy(&text).into_owned())
}

/// A trail of some calls, whose server has ended.
async fn trail(folder: &Folder, more: &str) -> Result<std::path::PathBuf> {
    let file = folder.beside("log").join("audit.jsonl");
    let settings = format!("[audit]\nfile = {file:?}\n{more}\n[http.per-caller]\nrate = 0\n");
    // No level silences the trail.
    let mut served = Served::configured_with(folder, &settings, &[], |command| {
        command.env("LOGGIA_LOG", "warn");
    })
    .await?;
    let client = Client::http(&served.host, Era::Stateless).await?;
    for text in ["one", "two", "three"] {
        client.envelope("echo", json!({"action": "say", "text": text})).await?;
    }
    client.end().await?;
    signal(&served.host.child, Signal::TERM)?;
    served.host.child.wait().await?;
    Ok(file)
}

/// H114.
#[tokio::test]
async fn changed_removed_and_cut_lines_are_found() -> Result<()> {
    type Change = fn(&mut Vec<String>);
    let folder = Folder::with(&["echo"]);
    let file = trail(&folder, "").await?;
    let original = fs::read_to_string(&file)?;
    let (code, told) = text(&audit(&folder, &file, &["verify"]).await?);
    assert!(code == Some(0) && told.starts_with("unchanged: "), "{told}");
    let at = original.lines().position(|line| line.contains("\"action\":\"say\"")).context("a call")?;
    assert!(
        at > 0 && original.lines().last().is_some_and(|line| line.contains("\"checkpoint\"")),
        "{original}"
    );
    let changes: [(&str, Change, &str); 8] = [
        ("edited", |lines| edit(lines, |line| line.replace("say", "add")), "before it, was changed"),
        ("removed", |lines| remove(lines), "of the chain should follow, and this is line"),
        (
            "moved",
            |lines| {
                let last = lines.len() - 2;
                lines.swap(last, last - 1);
            },
            "should follow",
        ),
        (
            "added",
            |lines| {
                let copy = lines[2].clone();
                lines.insert(2, copy);
            },
            "should follow",
        ),
        ("cut", |lines| lines.truncate(lines.len() - 2), "was cut: it ends with line"),
        (
            "cut in the middle of a line",
            |lines| {
                let half = lines.last().map_or(0, |line| line.len() / 2);
                if let Some(line) = lines.last_mut() {
                    line.truncate(half);
                }
            },
            "it is not JSON",
        ),
        (
            "cut at the beginning, to a checkpoint",
            |lines| drop(lines.drain(..lines.len() - 1)),
            "the beginning is missing",
        ),
        ("emptied", Vec::clear, "was cut: it ends with line 0"),
    ];
    for (what, change, expected) in changes {
        let mut lines: Vec<String> = original.lines().map(str::to_owned).collect();
        change(&mut lines);
        fs::write(&file, lines.iter().map(|line| format!("{line}\n")).collect::<String>())?;
        let (code, told) = text(&audit(&folder, &file, &["verify"]).await?);
        assert!(code == Some(10) && told.contains(expected), "{what}: {code:?} {told}");
    }
    fs::remove_file(&file)?;
    let (code, told) = text(&audit(&folder, &file, &["verify"]).await?);
    assert!(code == Some(11) && told.contains("does not exist"), "{told}");
    Ok(())
}

fn edit(lines: &mut [String], change: impl Fn(&str) -> String) {
    if let Some(line) = lines.iter_mut().find(|line| line.contains("\"action\":\"say\"")) {
        *line = change(line);
    }
}

fn remove(lines: &mut Vec<String>) {
    if let Some(at) = lines.iter().position(|line| line.contains("\"action\":\"say\"")) {
        lines.remove(at);
    }
}

/// H115: made with another server's key, with valid hashes; and with a head that was changed.
#[tokio::test]
async fn a_forged_trail_is_found() -> Result<()> {
    let (folder, other) = (Folder::with(&["echo"]), Folder::with(&["echo"]));
    let (file, forged) = (trail(&folder, "").await?, trail(&other, "").await?);
    let key = text(&audit(&folder, &file, &["key"]).await?).1;
    let public = ["verify", "--key", key.trim()];
    assert_eq!(text(&audit(&folder, &file, &public).await?).0, Some(0), "on another machine");
    assert_eq!(text(&audit(&other, &forged, &public).await?).0, Some(10));
    let original = fs::read(&file)?;
    fs::copy(&forged, &file)?;
    let (code, told) = text(&audit(&folder, &file, &["verify"]).await?);
    assert!(code == Some(10) && told.contains("does not start with the checkpoint"), "{told}");
    fs::write(&file, original)?;
    for entry in fs::read_dir(state(folder.path()).join("audit-heads"))? {
        let path = entry?.path();
        let mut head: Value = serde_json::from_slice(&fs::read(&path)?)?;
        head["seq"] = json!(1);
        fs::write(&path, head.to_string())?;
    }
    let (code, told) = text(&audit(&folder, &file, &["verify"]).await?);
    assert!(code == Some(10) && told.contains("its signature is not valid"), "{told}");
    Ok(())
}

/// H116.
#[tokio::test]
async fn a_full_disk_refuses_calls_or_is_counted() -> Result<()> {
    for (full, refuses) in [("refuse", true), ("drop", false)] {
        let folder = Folder::with(&["echo"]);
        let file = folder.beside("log").join("audit.jsonl");
        let settings = format!("[audit]\nfile = {file:?}\nfull = {full:?}\n[http.per-caller]\nrate = 0\n");
        let served = Served::configured(&folder, &settings, &[]).await?;
        let client = Client::http(&served.host, Era::Stateless).await?;
        let say = || client.envelope("echo", json!({"action": "say", "text": "x"}));
        assert_eq!(say().await?["ok"], true);
        let process =
            served.host.child.id().and_then(|id| Pid::from_raw(id.cast_signed())).context("a process")?;
        let limit = |bytes: Option<u64>| {
            prlimit(Some(process), Resource::Fsize, Rlimit { current: bytes, maximum: None })
        };
        // No file can grow any more.
        limit(Some(1))?;
        eventually(async || match say().await {
            Ok(told) if refuses && told["ok"] == true => Err(told.to_string()),
            Ok(told) => Ok(told),
            Err(error) => Err(error.to_string()),
        })
        .await;
        let (status, told) = served.readies(|_, told| told["audit"].is_string()).await;
        assert_eq!(status, if refuses { 503 } else { 200 }, "{told}");
        let envelope = say().await?;
        match refuses {
            true => assert_eq!(
                envelope["error"], "unavailable: the server cannot write its audit trail",
                "{envelope}"
            ),
            false => assert_eq!(envelope["ok"], true, "{envelope}"),
        }
        // There is room again.
        limit(None)?;
        eventually(async || match say().await {
            Ok(told) if told["ok"] == true => Ok(()),
            other => Err(format!("{other:?}")),
        })
        .await;
        served.readies(|status, told| status == 200 && told.get("audit").is_none()).await;
        client.end().await?;
        let lost = fs::read_to_string(&file)?.contains("\"event\":\"lost\"");
        assert_eq!(lost, !refuses, "{full}");
        let mut served = served;
        signal(&served.host.child, Signal::TERM)?;
        served.host.child.wait().await?;
        let (code, told) = text(&audit(&folder, &file, &["verify"]).await?);
        assert_eq!(code, Some(0), "{told}");
    }
    Ok(())
}

/// H114: which files decided is in the trail, of calls that could not start, too.
#[tokio::test]
async fn lines_name_policy_settings_and_parameters() -> Result<()> {
    let policy = "[limits]\nconcurrency = 1\nqueue = 0\n";
    let folder = Folder::with(&["worker"]);
    folder.write("worker.toml", policy);
    let file = folder.beside("log").join("audit.jsonl");
    let settings = format!("[audit]\nfile = {file:?}\n[http.per-caller]\nrate = 0\n");
    let path = Served::settings(&folder, &settings, &[])?;
    let used = fs::read(&path)?;
    let mut served = Served::configured(&folder, &settings, &[]).await?;
    let client = Client::http(&served.host, Era::Stateless).await?;
    let endless = json!({"action": "work", "steps": 100_000, "ms": 50, "wait": false});
    assert_eq!(client.envelope("worker", endless).await?["ok"], true);
    let busy = client.envelope("worker", json!({"action": "work", "steps": 1, "ms": 1})).await?;
    assert_eq!(busy["code"], "unavailable", "{busy}");
    let lines = || -> Result<Vec<Value>> {
        let text = fs::read_to_string(&file)?;
        Ok(text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
    };
    let find = |event: &str, outcome: &str| {
        let found = lines().map_err(|error| error.to_string())?.into_iter();
        let mut found = found.filter(|line| line["event"] == event && line["outcome"] == outcome);
        found.next().ok_or_else(|| format!("no line {event} {outcome}"))
    };
    Served::settings(&folder, &format!("pin = \"open\"\n{settings}"), &[])?;
    eventually(async || find("settings", "changed")).await;
    client.end().await?;
    signal(&served.host.child, Signal::TERM)?;
    served.host.child.wait().await?;
    let find = |event: &str, outcome: &str| find(event, outcome).map_err(anyhow::Error::msg);
    let digest = |bytes: &[u8]| {
        let hex: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        json!(format!("sha256:{hex}"))
    };
    assert_eq!(find("settings", "in_use")?["digest"], digest(&used));
    let refused = find("refused", "unavailable")?;
    assert!(refused["params"].as_str().is_some_and(|params| params.len() == 32), "{refused}");
    let call = find("call", "cancelled")?;
    assert_eq!(call["policy"], digest(policy.as_bytes()), "{call}");
    assert!(call["artifact"].as_str().is_some_and(|artifact| artifact.starts_with("sha256:")), "{call}");
    Ok(())
}

/// H117.
#[tokio::test]
async fn no_log_level_silences_the_trail_and_it_can_be_queried() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let file = folder.beside("log").join("audit.jsonl");
    let settings =
        format!("[audit]\nfile = {file:?}\nrotate = \"64KiB\"\nkeep = 2\n[http.per-caller]\nrate = 0\n");
    let file_of_settings = Served::settings(&folder, &settings, &[])?;
    // Also one that cannot be parsed, and one that names the trail.
    for level in ["info,loggia=verbose", "info,loggia::audit=off", "off"] {
        if file.exists() {
            fs::remove_file(&file)?;
        }
        let mut child = Command::new(binary())
            .args(["serve", "--http", "127.0.0.1:0", "--config"])
            .arg(&file_of_settings)
            .arg(folder.path())
            .env("LOGGIA_LOG", level)
            .env("LOGGIA_CACHE", loggia_tests::cache())
            .env("LOGGIA_STATE", state(folder.path()))
            .stdin(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .kill_on_drop(true)
            .spawn()?;
        eventually(async || match fs::read_to_string(&file) {
            Ok(text) if text.contains("\"event\":\"loaded\"") => Ok(()),
            other => Err(format!("{other:?}")),
        })
        .await;
        signal(&child, Signal::TERM)?;
        child.wait().await?;
    }
    let query = async |words: &[&str]| -> Result<Vec<Value>> {
        let output = audit(&folder, &file, &[&["query"], words].concat()).await?;
        let text = String::from_utf8(output.stdout)?;
        Ok(text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
    };
    let loaded = query(&["--event", "loaded"]).await?;
    assert!(loaded.len() == 1 && loaded[0]["file"] == "echo.wasm", "{loaded:?}");
    assert_eq!(query(&["--event", "loaded", "--facade", "other"]).await?, [] as [Value; 0]);
    assert_eq!(query(&["--limit", "1"]).await?[0]["event"], "checkpoint");
    let (code, told) = text(&audit(&folder, &file, &["tail", "--no-follow", "-n", "1"]).await?);
    assert!(code == Some(0) && told.contains("\"event\":\"checkpoint\""), "{told}");
    Ok(())
}

/// H114.
#[tokio::test]
async fn a_trail_is_verified_across_its_files() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let file = folder.beside("log").join("audit.jsonl");
    let settings =
        format!("[audit]\nfile = {file:?}\nrotate = \"64KiB\"\nkeep = 2\n[http.per-caller]\nrate = 0\n");
    let mut served = Served::configured(&folder, &settings, &[]).await?;
    let client = Client::http(&served.host, Era::Stateless).await?;
    let rotated = |number: usize| file.with_file_name(format!("audit.jsonl.{number}"));
    let (mut calls, mut newest) = (0, None);
    // Until the file was rotated more often than files are kept.
    let mut rotations = 0;
    while rotations < 3 {
        let refused = client.envelope("echo", json!({"action": "nothing"})).await?;
        assert_eq!(refused["ok"], false, "{refused}");
        calls += 1;
        ensure!(calls < 5000, "{rotations} rotations");
        let first =
            fs::read_to_string(rotated(1)).ok().and_then(|text| text.lines().next().map(str::to_owned));
        if first != newest {
            (newest, rotations) = (first, rotations + 1);
        }
    }
    client.end().await?;
    signal(&served.host.child, Signal::TERM)?;
    served.host.child.wait().await?;
    assert!(rotated(2).exists() && !rotated(3).exists());
    let (code, told) = text(&audit(&folder, &file, &["verify"]).await?);
    assert_eq!(code, Some(0), "{told}");
    let output = audit(&folder, &file, &["query", "--event", "refused", "--limit", "10000"]).await?;
    let found = String::from_utf8(output.stdout)?.lines().count();
    let kept =
        [file.clone(), rotated(1), rotated(2)].map(|file| fs::read_to_string(file).unwrap_or_default());
    let kept =
        kept.iter().flat_map(|text| text.lines()).filter(|line| line.contains("\"event\":\"refused\""));
    assert_eq!(found, kept.count());
    fs::remove_file(rotated(1))?;
    let (code, told) = text(&audit(&folder, &file, &["verify"]).await?);
    assert!(code == Some(10) && told.contains("should follow"), "{told}");
    Ok(())
}
