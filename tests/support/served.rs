//! A host on HTTP with a settings file, an admin listener, a log, and callers with tokens.

use std::{
    path::PathBuf,
    process::Stdio,
    sync::{Arc, Mutex},
};

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::Command,
};

use crate::{Folder, HttpHost, binary, cache, eventually, host::configuration, state, wire};

/// A token, made as operators make them.
#[derive(Debug, Clone)]
pub struct Token {
    /// The token itself.
    pub secret: String,
    /// Entry in the server's settings file.
    pub toml: String,
}

impl Token {
    /// Creates a token with the command line.
    pub async fn new(name: &str, scopes: &[&str]) -> Result<Self> {
        let mut command = Command::new(binary());
        command.args(["token", "new", name, "--json"]);
        for scope in scopes {
            command.args(["--scope", scope]);
        }
        let output = command.output().await?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let told: Value = serde_json::from_slice(&output.stdout)?;
        let text = |key: &str| told[key].as_str().map(str::to_owned).with_context(|| format!("no {key}"));
        Ok(Self { secret: text("token")?, toml: text("toml")? })
    }

    /// The line of a request's head.
    pub fn header(&self) -> String {
        format!("Authorization: Bearer {}\r\n", self.secret)
    }
}

/// Message of a log line, which may be JSON.
fn message(line: &str) -> String {
    let told: Option<Value> = serde_json::from_str(line).ok();
    let message = told.and_then(|told| Some(told["message"].as_str()?.to_owned()));
    message.unwrap_or_else(|| line.to_owned())
}

/// A host on HTTP with an admin listener, and its log.
pub struct Served {
    /// The host.
    pub host: HttpHost,
    /// URL of the admin listener.
    pub admin: String,
    /// The lines so far.
    pub log: Arc<Mutex<Vec<String>>>,
}

impl Served {
    /// Starts a host, with more options.
    pub async fn start(folder: &Folder, more: impl FnOnce(&mut Command)) -> Result<Self> {
        let mut command = Command::new(binary());
        command
            .args(["serve", "--http", "127.0.0.1:0", "--admin", "127.0.0.1:0"])
            .arg(folder.path())
            .env("LOGGIA_CACHE", cache())
            .env("LOGGIA_STATE", state(folder.path()))
            .env("LOGGIA_PIN", "open");
        more(&mut command);
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let mut lines = BufReader::new(child.stderr.take().context("no stderr")?).lines();
        let log: Arc<Mutex<Vec<String>>> = Arc::default();
        let into = Arc::clone(&log);
        tokio::spawn(async move {
            while let Ok(Some(line)) = lines.next_line().await {
                into.lock().expect("a log").push(line);
            }
        });
        let said = |start: &'static str| {
            let log = Arc::clone(&log);
            eventually(move || {
                let log = log.lock().expect("a log").clone();
                let line = log.iter().find_map(|line| Some(message(line).strip_prefix(start)?.to_owned()));
                async move { line.ok_or_else(|| format!("{log:?}")) }
            })
        };
        let admin = said("admin on http://").await;
        let url = said("listening on ").await;
        Ok(Self { host: HttpHost { url, child }, admin, log })
    }

    /// Starts a host with this settings file and these tokens, and waits until it is ready.
    pub async fn configured(folder: &Folder, settings: &str, tokens: &[&Token]) -> Result<Self> {
        Self::configured_with(folder, settings, tokens, |_| {}).await
    }

    /// Like [`Served::configured`], with further options.
    pub async fn configured_with(
        folder: &Folder,
        settings: &str,
        tokens: &[&Token],
        more: impl FnOnce(&mut Command),
    ) -> Result<Self> {
        let file = Self::settings(folder, settings, tokens)?;
        let served = Self::start(folder, |command| {
            command.arg("--config").arg(file);
            more(command);
        })
        .await?;
        served.readies(|status, _| status == 200).await;
        Ok(served)
    }

    /// Writes the settings file of a folder's host, or writes it again; its path.
    pub fn settings(folder: &Folder, settings: &str, tokens: &[&Token]) -> Result<PathBuf> {
        let tokens: String = tokens.iter().map(|token| format!("\n{}", token.toml)).collect();
        configuration(folder, &format!("{settings}\n{tokens}"))
    }

    /// One request to the admin listener; the head of the answer, and its body.
    pub async fn ask(&self, request: &str) -> Result<(u16, String, String)> {
        let told = wire::send(&self.admin, request.as_bytes()).await?;
        Ok((told.status, told.head, told.body))
    }

    /// Requests a path of the admin listener.
    pub async fn get(&self, path: &str) -> Result<(u16, String)> {
        let (status, _, body) =
            self.ask(&format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.admin)).await?;
        Ok((status, body))
    }

    /// Status and body of `/readyz`.
    pub async fn ready(&self) -> Result<(u16, Value)> {
        let (status, body) = self.get("/readyz").await?;
        Ok((status, serde_json::from_str(&body)?))
    }

    /// Waits until `/readyz` satisfies a condition.
    pub async fn readies(&self, such: impl Fn(u16, &Value) -> bool) -> (u16, Value) {
        eventually(async || match self.ready().await {
            Ok((status, told)) if such(status, &told) => Ok((status, told)),
            other => Err(format!("{other:?}")),
        })
        .await
    }

    /// A figure of `/metrics`, by its name and labels; none where it was never counted.
    pub async fn figure(&self, name: &str) -> Result<Option<f64>> {
        let (_, page) = self.get("/metrics").await?;
        let value = page.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        Ok(value.map(str::parse).transpose()?)
    }

    /// Waits until a metric satisfies a condition.
    pub async fn figures(&self, name: &str, such: impl Fn(f64) -> bool) -> f64 {
        eventually(async || match self.figure(name).await {
            Ok(Some(value)) if such(value) => Ok(value),
            other => Err(format!("{name}: {other:?}")),
        })
        .await
    }

    /// Waits for a log line that satisfies a condition, and returns it.
    pub async fn logs(&self, such: impl Fn(&str) -> bool) -> String {
        eventually(async || {
            let log = self.log.lock().expect("a log");
            log.iter().find(|line| such(line)).cloned().ok_or_else(|| log.join("\n"))
        })
        .await
    }
}
