//! Shared parts of the integration tests: real guests, hosts and clients, all of which end with the test.

mod ears;
mod host;
pub mod lingers;
mod raw;
mod roots;
mod scratch;
mod served;
pub mod web;
pub mod wire;

pub use ears::{Ears, Kind, accepted, opened};
pub use host::{HttpHost, signal};
pub use raw::Raw;
pub use roots::{RootsClient, roots};
pub use scratch::scratch;
pub use served::{Served, Token};

use std::{
    future::Future,
    path::{Path, PathBuf},
    process::Stdio,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use rmcp::{
    ClientLifecycleMode, ClientServiceExt, RoleClient, ServiceExt,
    model::{CallToolRequestParams, CallToolResult, ProgressNotificationParam, ProtocolVersion},
    service::RunningService,
    transport::{
        ConfigureCommandExt, StreamableHttpClientTransport, TokioChildProcess,
        streamable_http_client::StreamableHttpClientTransportConfig,
    },
};
use serde_json::Value;
use tempfile::TempDir;
use tokio::{
    io::AsyncReadExt,
    process::{ChildStderr, Command},
    sync::mpsc,
    task::JoinHandle,
};

/// Longer than anything takes on a busy machine; a test that fails takes this long.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Rounds of a test that repeats what depends on the moment: a quarter of `all`, so that each commit is tested in minutes. With
/// `LOGGIA_ROUNDS=all`, as `tests/release/run` sets it, all of them.
pub fn rounds(all: usize) -> usize {
    if std::env::var_os("LOGGIA_ROUNDS").is_some_and(|rounds| rounds == "all") { all } else { all / 4 }
}

/// A guest of `tests/fixtures`, by name.
pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("LOGGIA_GUESTS")).join(format!("examples/{name}.wasm"))
}

/// A plugin of `plugins/`, by name.
pub fn plugin(name: &str) -> PathBuf {
    Path::new(env!("LOGGIA_GUESTS")).join(format!("{name}.wasm"))
}

/// The target folder of the guests' own cargo.
pub fn guests() -> PathBuf {
    Path::new(env!("LOGGIA_GUESTS")).ancestors().nth(2).unwrap_or(Path::new("target")).to_owned()
}

/// Compiled fixtures outlive a test run, so that only a changed one is compiled.
pub fn cache() -> PathBuf {
    Path::new(env!("LOGGIA_GUESTS")).join("compiled")
}

/// State folder for the plugins of a [`Folder`], by the folder's path.
pub fn state(folder: &Path) -> PathBuf {
    folder.parent().unwrap_or(folder).join("state")
}

/// The host's binary.
///
/// # Panics
///
/// If it was not built: cargo builds it with the workspace's tests.
pub fn binary() -> PathBuf {
    let mut path = std::env::current_exe().expect("a test has a path");
    while path.pop() {
        let binary = path.join("loggia");
        if binary.is_file() {
            return binary;
        }
    }
    panic!("there is no loggia beside the tests: run `cargo test --workspace`");
}

/// A temporary plugin folder, with a sibling folder for state.
pub struct Folder(TempDir, PathBuf);

impl Default for Folder {
    fn default() -> Self {
        Self::new()
    }
}

impl Folder {
    /// An empty folder.
    pub fn new() -> Self {
        let all = TempDir::new().expect("a temporary folder");
        let plugins = all.path().join("plugins");
        std::fs::create_dir(&plugins).expect("made");
        Self(all, plugins)
    }

    /// A folder with these fixtures, each under its own name.
    pub fn with(fixtures: &[&str]) -> Self {
        let folder = Self::new();
        for name in fixtures {
            folder.put(name, &fixture(name));
        }
        folder
    }

    /// Path of the folder.
    pub fn path(&self) -> &Path {
        &self.1
    }

    /// A path next to the folder, for granted directories.
    pub fn beside(&self, name: &str) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::create_dir_all(&path).expect("made");
        path
    }

    /// Installs a plugin atomically: written to a temporary file and renamed.
    pub fn put(&self, name: &str, from: &Path) {
        let beside = self.path().join(format!(".{name}.new"));
        std::fs::copy(from, &beside).expect("copied");
        std::fs::rename(&beside, self.path().join(format!("{name}.wasm"))).expect("renamed");
    }

    /// Writes a policy or any other file, atomically: an empty policy is a valid one, which grants nothing.
    pub fn write(&self, name: &str, text: &str) {
        let beside = self.0.path().join("written");
        std::fs::write(&beside, text).expect("written");
        std::fs::rename(&beside, self.path().join(name)).expect("renamed");
    }

    /// Removes a file.
    pub fn remove(&self, name: &str) {
        std::fs::remove_file(self.path().join(name)).expect("removed");
    }
}

/// The two lifecycles of MCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// `initialize`, up to 2025-11-25.
    Stateful,
    /// Without a handshake, 2026-07-28.
    Stateless,
}

/// Both.
pub const ERAS: [Era; 2] = [Era::Stateful, Era::Stateless];

/// Where a host listens. reqwest has no cryptography of its own here: `loggia-upstream` builds it without.
fn endpoint(host: &HttpHost) -> StreamableHttpClientTransportConfig {
    // It may be installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    StreamableHttpClientTransportConfig::with_uri(host.url.clone())
}

/// A client of rmcp.
pub struct Client {
    /// rmcp's own.
    pub service: RunningService<RoleClient, Ears>,
    /// `tools/list_changed` notifications.
    pub changed: mpsc::UnboundedReceiver<()>,
    /// URIs of `resources/updated` notifications.
    pub updated: mpsc::UnboundedReceiver<String>,
    /// Progress notifications.
    pub progress: mpsc::UnboundedReceiver<ProgressNotificationParam>,
    /// Questions to the person.
    pub questions: mpsc::UnboundedReceiver<Value>,
    /// Questions that were withdrawn before an answer.
    pub withdrawn: mpsc::UnboundedReceiver<()>,
}

impl Client {
    /// Starts a host on stdio and connects to it.
    pub async fn stdio(folder: &Path, era: Era) -> Result<Self> {
        Self::stdio_with(folder, era, |_| {}).await
    }

    /// Like [`Client::stdio`], with further options.
    pub async fn stdio_with(folder: &Path, era: Era, more: impl FnOnce(&mut Command)) -> Result<Self> {
        let command = Command::new(binary()).configure(|command| {
            command
                .arg("serve")
                .arg(folder)
                .env("LOGGIA_CACHE", cache())
                .env("LOGGIA_STATE", state(folder))
                .env("LOGGIA_PIN", "open");
            more(command);
        });
        let (transport, _) = TokioChildProcess::builder(command).stderr(Stdio::null()).spawn()?;
        Self::connect(transport, era).await
    }

    /// Starts a host on stdio for a client of that kind.
    pub async fn stdio_as(folder: &Path, era: Era, kind: Kind) -> Result<Self> {
        Self::stdio_as_with(folder, era, kind, |_| {}).await
    }

    /// Like [`Client::stdio_as`], with further options.
    pub async fn stdio_as_with(
        folder: &Path,
        era: Era,
        kind: Kind,
        more: impl FnOnce(&mut Command),
    ) -> Result<Self> {
        let command = Command::new(binary()).configure(|command| {
            command
                .arg("serve")
                .arg(folder)
                .env("LOGGIA_CACHE", cache())
                .env("LOGGIA_STATE", state(folder))
                .env("LOGGIA_PIN", "open");
            more(command);
        });
        let (transport, _) = TokioChildProcess::builder(command).stderr(Stdio::null()).spawn()?;
        Self::connect_as(transport, era, kind).await
    }

    /// Connects to a host over HTTP as a client of that kind.
    pub async fn http_as(host: &HttpHost, era: Era, kind: Kind) -> Result<Self> {
        let config = endpoint(host);
        Self::connect_as(StreamableHttpClientTransport::from_config(config), era, kind).await
    }

    /// Like [`Client::http_as`], with a token.
    pub async fn http_by(host: &HttpHost, era: Era, kind: Kind, token: &Token) -> Result<Self> {
        let config = endpoint(host).auth_header(&token.secret);
        Self::connect_as(StreamableHttpClientTransport::from_config(config), era, kind).await
    }

    /// Starts a host on stdio whose log is not read: the pipe stays open while it is held.
    pub async fn stdio_unread(folder: &Path) -> Result<(Self, Option<ChildStderr>)> {
        let command = Command::new(binary()).configure(|command| {
            command
                .arg("serve")
                .arg(folder)
                .env("LOGGIA_CACHE", cache())
                .env("LOGGIA_STATE", state(folder))
                .env("LOGGIA_PIN", "open");
        });
        let (transport, stderr) = TokioChildProcess::builder(command).stderr(Stdio::piped()).spawn()?;
        Ok((Self::connect(transport, Era::Stateful).await?, stderr))
    }

    /// Starts a host on stdio and collects its log, which is complete once the host has ended.
    pub async fn stdio_logged(
        folder: &Path,
        more: impl FnOnce(&mut Command),
    ) -> Result<(Self, JoinHandle<std::io::Result<String>>)> {
        let command = Command::new(binary()).configure(|command| {
            command
                .arg("serve")
                .arg(folder)
                .env("LOGGIA_CACHE", cache())
                .env("LOGGIA_STATE", state(folder))
                .env("LOGGIA_PIN", "open");
            more(command);
        });
        let (transport, stderr) = TokioChildProcess::builder(command).stderr(Stdio::piped()).spawn()?;
        let mut stderr = stderr.context("no stderr")?;
        let log = tokio::spawn(async move {
            let mut text = Vec::new();
            stderr.read_to_end(&mut text).await?;
            Ok(String::from_utf8_lossy(&text).into_owned())
        });
        Ok((Self::connect(transport, Era::Stateful).await?, log))
    }

    /// Connects to a host over HTTP.
    pub async fn http(host: &HttpHost, era: Era) -> Result<Self> {
        let config = endpoint(host);
        Self::connect(StreamableHttpClientTransport::from_config(config), era).await
    }

    async fn connect<T, E, A>(transport: T, era: Era) -> Result<Self>
    where
        T: rmcp::transport::IntoTransport<RoleClient, E, A>,
        E: std::error::Error + Send + Sync + 'static,
    {
        Self::connect_as(transport, era, Kind::default()).await
    }

    async fn connect_as<T, E, A>(transport: T, era: Era, kind: Kind) -> Result<Self>
    where
        T: rmcp::transport::IntoTransport<RoleClient, E, A>,
        E: std::error::Error + Send + Sync + 'static,
    {
        let (changes, changed) = mpsc::unbounded_channel();
        let (updates, updated) = mpsc::unbounded_channel();
        let (steps, progress) = mpsc::unbounded_channel();
        let (asked, questions) = mpsc::unbounded_channel();
        let (taken_back, withdrawn) = mpsc::unbounded_channel();
        let answers = kind.person.map(|answers| Arc::new(Mutex::new(answers.into())));
        let ears = Ears {
            changed: changes,
            updated: updates,
            progress: steps,
            questions: asked,
            withdrawn: taken_back,
            answers,
            answered: Arc::default(),
            links: kind.links,
            tasks: kind.tasks,
            pages: kind.pages,
        };
        let service = match era {
            Era::Stateful => soon("a handshake", ears.serve(transport)).await??,
            Era::Stateless => {
                let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
                let mode = ClientLifecycleMode::Discover { preferred_versions };
                soon("the host's answer", ears.serve_with_lifecycle(transport, mode)).await??
            }
        };
        Ok(Self { service, changed, updated, progress, questions, withdrawn })
    }

    /// Calls a tool, and retries while plugins are loading, as the host's error suggests: on a busy machine that takes
    /// longer than a call waits.
    pub async fn call(&self, tool: &str, arguments: Value) -> Result<CallToolResult> {
        let Value::Object(arguments) = arguments else { bail!("arguments are an object") };
        let request = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let answered = async {
            loop {
                match self.service.call_tool(request.clone()).await {
                    Err(early) if early.to_string().contains("plugins are still being loaded") => {}
                    answered => return answered,
                }
            }
        };
        Ok(soon("the answer of a call", answered).await??)
    }

    /// Calls a tool; its envelope.
    pub async fn envelope(&self, tool: &str, arguments: Value) -> Result<Value> {
        let result = self.call(tool, arguments).await?;
        let envelope = result.structured_content.context("no structured content")?;
        let failed = result.is_error.unwrap_or(false);
        anyhow::ensure!(envelope["ok"] == !failed, "isError does not follow ok: {envelope}");
        Ok(envelope)
    }

    /// The names of the tools now listed.
    pub async fn names(&self) -> Result<Vec<String>> {
        let tools = soon("the list", self.service.list_all_tools()).await??;
        Ok(tools.into_iter().map(|tool| tool.name.into_owned()).collect())
    }

    /// Waits until the tools' names are these.
    pub async fn names_become(&self, expected: &[&str]) {
        eventually(async || {
            let names = self.names().await.map_err(|error| error.to_string())?;
            if names == expected { Ok(()) } else { Err(format!("{names:?}")) }
        })
        .await;
    }

    /// Closes the connection.
    pub async fn end(self) -> Result<()> {
        self.service.cancel().await?;
        Ok(())
    }
}

/// Polls a condition until it holds; panics after a deadline with the last answer.
///
/// # Panics
///
/// If it does not hold in time.
pub async fn eventually<T, F: Future<Output = Result<T, String>>>(look: impl FnMut() -> F) -> T {
    eventually_within(PATIENCE, look).await
}

/// The same with another deadline, such as that of a first build.
///
/// # Panics
///
/// If it does not hold in time.
pub async fn eventually_within<T, F: Future<Output = Result<T, String>>>(
    patience: Duration,
    mut look: impl FnMut() -> F,
) -> T {
    let until = Instant::now() + patience;
    loop {
        match look().await {
            Ok(found) => return found,
            Err(last) if Instant::now() > until => panic!("it never came to be: {last}"),
            Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
        }
    }
}

/// Awaits a future with a deadline.
pub async fn soon<T>(what: &str, coming: impl Future<Output = T>) -> Result<T> {
    tokio::time::timeout(PATIENCE, coming).await.with_context(|| format!("it never came: {what}"))
}

/// Next notification of a client.
pub async fn heard<T>(what: &str, by: &mut mpsc::UnboundedReceiver<T>) -> Result<T> {
    soon(what, by.recv()).await?.with_context(|| format!("nobody is left to tell: {what}"))
}

/// Resident memory of a process in bytes: now (`VmRSS`) or its peak (`VmHWM`).
pub fn memory(process: u32, which: &str) -> Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix(which)?.strip_prefix(':'))
        .context("no such line")?;
    let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse()?;
    Ok(kilobytes << 10)
}
