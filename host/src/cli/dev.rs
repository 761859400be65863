//! `loggia dev`.

use std::{
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::mpsc,
    time::Duration,
};

use anyhow::Context;
use notify::{
    EventKind, RecursiveMode, Watcher,
    event::{AccessKind, AccessMode},
};

use super::{Common, runtime, serve::over_http, term};
use crate::{
    build::{self, Built},
    config::{Policy, places},
    serve::{Host, http},
};

/// Build plugin sources, serve them over HTTP, rebuild and reload on save.
///
/// Prints the configuration for the usual clients. Policy files (<name>.toml in a crate's folder) apply as they do
/// when served; folders that they grant by a relative path are made where they are missing.
#[derive(clap::Args)]
pub struct Dev {
    /// A plugin crate, or a folder of them
    #[arg(value_name = "PATH", default_value = ".")]
    path: PathBuf,
    /// Where to listen (port 0: any free one)
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080")]
    http: SocketAddr,
    /// Where the built plugins go
    #[arg(long, value_name = "DIR", default_value = "target/loggia")]
    out: PathBuf,
    #[command(flatten)]
    common: Common,
}

/// Editors save in several steps; one build answers them all.
const SETTLES: Duration = Duration::from_millis(150);

impl Dev {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        term::logs("info");
        build::ensure_target()?;
        let path =
            fs::canonicalize(&self.path).with_context(|| format!("there is no {}", self.path.display()))?;
        fs::create_dir_all(&self.out).with_context(|| format!("failed to make {}", self.out.display()))?;
        let out = fs::canonicalize(&self.out)?;
        term::note(&format!("building the plugins under {} …", path.display()));
        rebuild(&path, &out)?;
        follow_sources(path, out.clone())?;
        let runtime = runtime()?;
        let host = Host::new(&self.common.options())?;
        let shown = out.clone();
        let served = runtime.block_on(over_http(&host, out, self.http, move |address| {
            term::out(&clients(address, &shown));
        }));
        runtime.shutdown_background();
        served?;
        Ok(ExitCode::SUCCESS)
    }
}

fn rebuild(path: &Path, out: &Path) -> anyhow::Result<()> {
    for Built { name, bytes, file } in build::build(&build::find(path)?, out)? {
        make_granted_folders(&file.with_extension("toml"), out)?;
        tracing::info!("built {name} ({} KB)", bytes.div_ceil(1000));
    }
    Ok(())
}

/// A policy that grants `data` means a folder beside the built plugin, which nobody has made yet.
fn make_granted_folders(policy: &Path, out: &Path) -> anyhow::Result<()> {
    let Ok(text) = fs::read_to_string(policy) else { return Ok(()) };
    // A policy with a mistake is told of when the plugin is loaded.
    let Ok(policy) = Policy::parse(&text, out, places::home().as_deref()) else { return Ok(()) };
    for dir in policy.grants.dirs {
        let inside =
            dir.path.starts_with(out) && dir.path.components().all(|c| c != std::path::Component::ParentDir);
        if inside && !dir.path.exists() {
            fs::create_dir_all(&dir.path)
                .with_context(|| format!("failed to make {}", dir.path.display()))?;
            tracing::info!("made {}, which a policy grants", dir.path.display());
        }
    }
    Ok(())
}

/// Rebuilds whenever a source is saved, for as long as the process lives.
fn follow_sources(path: PathBuf, out: PathBuf) -> anyhow::Result<()> {
    let (sender, receiver) = mpsc::sync_channel(1);
    let ignored = out.clone();
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        // A full channel means that a build is due anyway.
        if event.is_ok_and(|event| is_save(&event, &ignored)) {
            let _ = sender.try_send(());
        }
    })?;
    watcher.watch(&path, RecursiveMode::Recursive).context("failed to watch the sources")?;
    std::thread::Builder::new().name("loggia-dev".into()).spawn(move || {
        let _watcher = watcher;
        while receiver.recv().is_ok() {
            while receiver.recv_timeout(SETTLES).is_ok() {}
            tracing::info!("building …");
            if let Err(error) = rebuild(&path, &out) {
                tracing::error!("{error:#}; the plugins built before keep serving");
            }
        }
    })?;
    Ok(())
}

fn is_save(event: &notify::Event, out: &Path) -> bool {
    let written = match event.kind {
        EventKind::Access(kind) => kind == AccessKind::Close(AccessMode::Write),
        EventKind::Create(_) | EventKind::Modify(_) | EventKind::Remove(_) => true,
        _ => false,
    };
    let is_source = |path: &PathBuf| {
        let source = path.extension().is_some_and(|e| e == "rs" || e == "toml");
        let made = path.components().any(|c| c.as_os_str() == "target") || path.starts_with(out);
        source && !made
    };
    written && event.paths.iter().any(is_source)
}

/// What to tell each client, ready to be copied.
fn clients(address: SocketAddr, out: &Path) -> String {
    let url = format!("http://{address}{}", http::PATH);
    let exe = std::env::current_exe().unwrap_or_else(|_| "loggia".into());
    let (exe, out) = (exe.display(), out.display());
    format!(
        r#"
Claude Code      claude mcp add --transport http loggia {url}
VS Code          .vscode/mcp.json
                 {{"servers": {{"loggia": {{"type": "http", "url": "{url}"}}}}}}
Cursor           ~/.cursor/mcp.json
                 {{"mcpServers": {{"loggia": {{"url": "{url}"}}}}}}
Codex            ~/.codex/config.toml
                 [mcp_servers.loggia]
                 url = "{url}"
Claude Desktop   claude_desktop_config.json (starts its own host on the same folder)
                 {{"mcpServers": {{"loggia": {{"command": "{exe}", "args": ["serve", "{out}"]}}}}}}
"#
    )
}
