//! Clients that we did not write: the official SDKs for Python and TypeScript, over stdio and HTTP. Their scripts are in
//! `tests/clients`.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::Stdio,
};

use anyhow::{Context, Result, ensure};
use loggia_tests::{Folder, HttpHost, PATIENCE, Token, binary, cache, fixture, guests, plugin, state};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, BufReader},
    process::Command,
    sync::OnceCell,
};

/// Path of a script in `tests/clients`.
pub fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("clients").join(name)
}

/// Installs the environment of the clients, with further parts.
pub async fn install(parts: &[&str]) -> Result<PathBuf> {
    let target = guests().parent().context("a target folder")?.to_owned();
    let mut installing = Command::new("python3");
    installing.arg(script("install.py")).arg(&target).args(parts);
    run(&mut installing).await.context("no python3 with venv, or a package registry is out of reach")?;
    Ok(target.join("clients"))
}

/// Environment of the clients. Installed once and kept with the build results.
pub async fn installed() -> Result<&'static Path> {
    static HOME: OnceCell<PathBuf> = OnceCell::const_new();
    Ok(HOME.get_or_try_init(|| install(&[])).await?)
}

/// A Python with frameworks for agents. Installed once, too.
pub async fn frameworks(part: &str) -> Result<PathBuf> {
    Ok(install(&[part]).await?.join(part).join("bin/python"))
}

/// A Python with the official SDK.
pub async fn python() -> Result<PathBuf> {
    Ok(installed().await?.join("python/bin/python"))
}

/// Runs a command and returns its output; fails if the command fails.
pub async fn run(command: &mut Command) -> Result<String> {
    let output = command.stdin(Stdio::null()).kill_on_drop(true).output().await?;
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    ensure!(output.status.success(), "{}\n{stdout}\n{stderr}", output.status);
    Ok(stdout.into_owned())
}

/// The command of a host on stdio.
pub fn stdio(folder: &Path) -> Vec<OsString> {
    let (cache, state) = (cache(), state(folder));
    let rest = [
        "serve".as_ref(),
        folder.as_os_str(),
        "--pin=open".as_ref(),
        "--cache".as_ref(),
        cache.as_os_str(),
        "--state".as_ref(),
    ];
    let command = [binary().into_os_string()].into_iter().chain(rest.map(OsString::from));
    command.chain([state.into_os_string()]).collect()
}

fn files(granted: &Path) -> Folder {
    let folder = Folder::new();
    folder.put("files", &plugin("files"));
    let dir = format!("{{ path = {granted:?}, at = \"/data\", access = \"read-write\" }}");
    folder.write("files.toml", &format!("[grants]\ndirs = [{dir}]\n"));
    folder
}

#[tokio::test]
async fn the_official_python_client_uses_files() -> Result<()> {
    let python = python().await?;
    let granted = tempfile::tempdir()?;
    let folder = files(granted.path());
    let host = HttpHost::start(folder.path()).await?;
    for target in [stdio(folder.path()), vec![host.url.clone().into()]] {
        let told = run(Command::new(&python).arg(script("files.py")).args(target)).await?;
        insta::assert_snapshot!("python_client", told);
        let written = granted.path().join("hello.txt");
        assert_eq!(std::fs::read_to_string(&written)?, "hello\nworld\n");
        std::fs::remove_file(written)?;
    }
    Ok(())
}

/// Steps that a client of this protocol version reports.
fn steps(version: &str) -> Vec<Value> {
    vec![
        json!({"step": "connect", "version": version}),
        json!({"step": "list", "tools": ["echo", "shelf", "worker"]}),
        json!({"step": "call", "data": {"text": "hello", "volume": null}}),
        json!({"step": "error", "text": "invalid_params", "structured": "invalid_params"}),
        json!({"step": "nulls", "data": {"text": "hello", "volume": null}}),
        json!({"step": "progress", "last": [3, 3, "step 3"], "rises": true}),
        json!({"step": "cancel", "cancelled": true, "after": {"steps": 1}}),
        json!({"step": "elicitation", "data": ["kept 3 because dust", "declined"]}),
        json!({"step": "resources", "templates": ["shelf://document/{id}"],
            "uris": ["shelf://asked", "shelf://document/a%20b", "shelf://documents", "shelf://picture"],
            "text": "# Hello", "updated": "shelf://document/a%20b", "now": "# Changed"}),
        json!({"step": "ready", "news": 0}),
        json!({"step": "reload", "tools": ["echo", "shelf", "version", "worker"]}),
    ]
}

/// Python writes 3.0 where JavaScript writes 3.
fn whole(value: Value) -> Value {
    match value {
        Value::Number(number) => match number.as_f64() {
            #[allow(clippy::cast_possible_truncation, reason = "it is a small whole number")]
            Some(float) if float.fract() == 0.0 => json!(float as i64),
            _ => Value::Number(number),
        },
        Value::Array(items) => items.into_iter().map(whole).collect(),
        Value::Object(members) => members.into_iter().map(|(name, value)| (name, whole(value))).collect(),
        other => other,
    }
}

/// Follows a client through its steps; changes the folder when the client is ready for the notification.
pub async fn follow(client: &mut Command, change: impl Fn()) -> Result<Vec<Value>> {
    let client = client.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut client = client.kill_on_drop(true).spawn()?;
    let mut lines = BufReader::new(client.stdout.take().context("no stdout")?).lines();
    let mut stderr = client.stderr.take().context("no stderr")?;
    let complaints = tokio::spawn(async move {
        let mut text = String::new();
        stderr.read_to_string(&mut text).await.map(|_| text)
    });
    let mut told = Vec::new();
    let following = async {
        while let Some(line) = lines.next_line().await? {
            let step: Value = serde_json::from_str(&line).with_context(|| line.clone())?;
            if step["step"] == "ready" {
                change();
            }
            told.push(whole(step));
        }
        Ok::<_, anyhow::Error>(client.wait().await?)
    };
    let ended = tokio::time::timeout(PATIENCE, following).await;
    match ended {
        Ok(status) => ensure!(status?.success(), "{told:#?}\n{}", complaints.await??),
        Err(_) => {
            client.kill().await?;
            anyhow::bail!("it stands still after {told:#?}\n{}", complaints.await??);
        }
    }
    Ok(told)
}

/// Runs one call at a time, so that a call that failed to stop blocks the next one.
const WORKER: &str = "[grants]\nelicit = true\n[limits]\nconcurrency = 1\n";

/// Runs the steps of a client against a host.
async fn steps_match(client: &mut Command, folder: &Folder, version: &str) -> Result<()> {
    let add = || folder.put("version", &fixture("version_one"));
    assert_eq!(follow(client, add).await?, steps(version));
    Ok(())
}

fn folder() -> Folder {
    let folder = Folder::with(&["echo", "shelf", "worker"]);
    folder.write("worker.toml", WORKER);
    folder.write("shelf.toml", "[grants]\nstore = true\n");
    folder
}

async fn takes_all_steps(client: &Path, before: &[&str], version: &str) -> Result<()> {
    let token = Token::new("client", &["*"]).await?;
    for http in [false, true] {
        let folder = folder();
        let host = if http { Some(HttpHost::configured(&folder, &token.toml).await?) } else { None };
        let target = host.as_ref().map_or_else(|| stdio(folder.path()), |host| vec![host.url.clone().into()]);
        let mut client = Command::new(client);
        client.args(before).args(target).env("TOKEN", &token.secret);
        let told = steps_match(&mut client, &folder, version).await;
        told.with_context(|| format!("{before:?} http {http}"))?;
    }
    Ok(())
}

#[tokio::test]
async fn the_official_python_client_takes_all_steps() -> Result<()> {
    let (python, script) = (python().await?, script("steps.py"));
    let script = script.to_str().context("a path in UTF-8")?;
    takes_all_steps(&python, &[script, "auto"], "2026-07-28").await?;
    takes_all_steps(&python, &[script, "legacy"], "2025-11-25").await
}

#[tokio::test]
async fn the_official_typescript_clients_take_all_steps() -> Result<()> {
    let home = installed().await?;
    let (node, script) = (home.join("node"), home.join("typescript/steps.mjs"));
    let script = script.to_str().context("a path in UTF-8")?;
    takes_all_steps(&node, &[script, "v2", "auto"], "2026-07-28").await?;
    takes_all_steps(&node, &[script, "v2", "legacy"], "2025-11-25").await?;
    takes_all_steps(&node, &[script, "v1", "legacy"], "2025-11-25").await
}

/// In 2026-07-28 it passes a cancellation on as a notification and keeps the response open: that client cannot cancel.
#[tokio::test]
async fn mcp_remote_passes_all_steps_on() -> Result<()> {
    let (home, python) = (installed().await?, python().await?);
    let (node, own) = (home.join("node"), tempfile::tempdir()?);
    let bridge = home.join("typescript/node_modules/mcp-remote/dist/proxy.js");
    let token = Token::new("bridge", &["*"]).await?;
    let clients = [
        (&python, script("steps.py"), &["legacy"][..]),
        (&node, home.join("typescript/steps.mjs"), &["v2", "legacy"]),
        (&node, home.join("typescript/steps.mjs"), &["v1", "legacy"]),
    ];
    for (program, script, mode) in clients {
        let folder = folder();
        let host = HttpHost::configured(&folder, &token.toml).await?;
        let mut client = Command::new(program);
        client.arg(&script).args(mode).args([&node, &bridge]).arg(&host.url);
        client.args(["--header", &format!("Authorization: Bearer {}", token.secret)]);
        client.env("HOME", own.path());
        let told = steps_match(&mut client, &folder, "2025-11-25").await;
        told.with_context(|| format!("{mode:?} of {}", script.display()))?;
    }
    Ok(())
}
