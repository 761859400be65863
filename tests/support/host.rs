//! A host on HTTP.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
};

use crate::{Folder, PATIENCE, binary, cache, state};

/// A host on HTTP, on a port of its own.
pub struct HttpHost {
    /// URL of the endpoint.
    pub url: String,
    /// The process. Killed with the value.
    pub child: Child,
}

impl HttpHost {
    /// Starts a host and waits until it logs its address.
    pub async fn start(folder: &Path) -> Result<Self> {
        Self::start_with(folder, |_| {}).await
    }

    /// Like [`HttpHost::start`], with further options.
    pub async fn start_with(folder: &Path, more: impl FnOnce(&mut Command)) -> Result<Self> {
        let mut command = Command::new(binary());
        command
            .args(["serve", "--http", "127.0.0.1:0"])
            .arg(folder)
            .env("LOGGIA_CACHE", cache())
            .env("LOGGIA_STATE", state(folder))
            .env("LOGGIA_PIN", "open");
        more(&mut command);
        Self::spawn(&mut command).await
    }

    /// Starts a host with this settings file.
    pub async fn configured(folder: &Folder, settings: &str) -> Result<Self> {
        let file = configuration(folder, settings)?;
        Self::start_with(folder.path(), |command| _ = command.arg("--config").arg(file)).await
    }

    /// Like [`HttpHost::start`], with a prepared command.
    pub async fn spawn(command: &mut Command) -> Result<Self> {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.kill_on_drop(true).spawn()?;
        let stderr = child.stderr.take().context("no stderr")?;
        let mut lines = BufReader::new(stderr).lines();
        let listening = async {
            while let Some(line) = lines.next_line().await? {
                if let Some(url) = line.strip_prefix("listening on ") {
                    return Ok(url.to_owned());
                }
            }
            bail!("the host ended")
        };
        let url = tokio::time::timeout(PATIENCE, listening).await??;
        // Drains the log, or the host would block on a full pipe.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Ok(Self { url, child })
    }

    /// `host:port`.
    pub fn authority(&self) -> &str {
        self.url.trim_start_matches("http://").split('/').next().unwrap_or_default()
    }
}

/// Writes a settings file next to a folder; returns its path.
pub(crate) fn configuration(folder: &Folder, settings: &str) -> Result<PathBuf> {
    let file = folder.beside("config").join("loggia.toml");
    std::fs::write(&file, settings)?;
    Ok(file)
}

/// Sends a host a signal.
pub fn signal(child: &Child, signal: Signal) -> Result<()> {
    let id = child.id().and_then(|id| Pid::from_raw(id.cast_signed())).context("the host ended")?;
    Ok(kill_process(id, signal)?)
}
