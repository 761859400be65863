//! Upstreams that take long to start: calls of a person wait for them, a server lists them when they are ready.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
};

use anyhow::{Context, Result};
use loggia_tests::{Client, Era, Folder, Served, binary, cache, soon, state};
use rustix::fs::{CWD, Mode, mkfifoat};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, BufReader},
    process::Command,
};

use super::fake::{end, fake_script, serve, state_of};

/// A server that starts when somebody opens a FIFO for writing.
struct SlowServer {
    gate: PathBuf,
}

impl SlowServer {
    fn new(folder: &Folder) -> Result<Self> {
        let gate = folder.beside("server").join("gate");
        mkfifoat(CWD, &gate, Mode::RWXU)?;
        Ok(Self { gate })
    }

    fn settings(&self) -> String {
        let script = format!("read line < {:?}; exec python3 -u {:?} normal", self.gate, fake_script());
        format!("[upstream.fake]\ncommand = \"sh\"\nargs = [\"-c\", {script:?}]\nconnect-time = \"50s\"\n")
    }

    /// Lets it start.
    async fn release(&self) -> Result<()> {
        Ok(soon("the start of the server", tokio::fs::write(&self.gate, "go\n")).await??)
    }
}

/// Reads lines until one has these words.
async fn read_until(lines: &mut (impl AsyncBufReadExt + Unpin), words: &str) -> Result<()> {
    let mut line = String::new();
    loop {
        line.clear();
        let count = soon(words, lines.read_line(&mut line)).await??;
        anyhow::ensure!(count > 0, "no line has `{words}`");
        if line.contains(words) {
            return Ok(());
        }
    }
}

fn settings_file(folder: &Folder, settings: &str) -> Result<PathBuf> {
    Served::settings(folder, settings, &[])
}

#[tokio::test]
async fn a_command_waits_for_a_slow_upstream() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let slow = SlowServer::new(&folder)?;
    let config: &Path = &settings_file(&folder, &slow.settings())?;
    let mut call = Command::new(binary())
        .args(["call", "fake", "echo", r#"{"n": 3}"#, "--plugins"])
        .arg(folder.path())
        .arg("--config")
        .arg(config)
        .env("LOGGIA_CACHE", cache())
        .env("LOGGIA_STATE", state(folder.path()))
        .env("LOGGIA_LOG", "info")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let mut log = BufReader::new(call.stderr.take().context("no stderr")?);
    // The folder is served, and nothing is known of the upstream yet.
    read_until(&mut log, "echo").await?;
    slow.release().await?;
    let mut stdout = String::new();
    call.stdout.take().context("no stdout")?.read_to_string(&mut stdout).await?;
    let envelope: Value = serde_json::from_str(&stdout).with_context(|| stdout.clone())?;
    assert_eq!(envelope["data"], json!({"echo": {"n": 3}}), "{envelope}");
    assert_eq!(soon("the end of the command", call.wait()).await??.code(), Some(0));
    Ok(())
}

#[tokio::test]
async fn a_server_lists_slow_upstreams_later() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let slow = SlowServer::new(&folder)?;
    let served = Served::configured(&folder, &slow.settings(), &[]).await?;
    let is_starting = |ready: &Value| {
        let fake = state_of(ready, "upstream.fake");
        fake["state"] == "failed" && fake["why"] == "the upstream has not answered yet"
    };
    served.readies(|_, ready| is_starting(ready)).await;
    let client = Client::http(&served.host, Era::Stateless).await?;
    let refused = client.envelope("fake", json!({"action": "echo"})).await?;
    assert_eq!(refused["code"], "unavailable", "{refused}");
    let error = refused["error"].as_str().unwrap_or_default();
    assert!(error.contains("the upstream server is starting"), "{refused}");
    slow.release().await?;
    serve(&served, &["fake"]).await;
    let envelope = client.envelope("fake", json!({"action": "echo", "n": 3})).await?;
    assert_eq!(envelope["data"], json!({"echo": {"n": 3}}), "{envelope}");
    client.end().await?;
    end(served).await
}
