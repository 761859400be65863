//! One server process: start, resource figures from /proc, end.

use std::{
    fs,
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result};

use crate::config::Server;

/// A running server, killed on drop.
pub struct Process {
    /// The process itself.
    pub child: Child,
    /// Just before it was started.
    pub started: Instant,
}

impl Process {
    /// Starts a server by one of its commands; `piped` for stdio.
    pub fn start(server: &Server, cmd: &[String], piped: bool) -> Result<Self> {
        let mut command = Command::new(&cmd[0]);
        // These variables of a developer's shell would make every fault read debug information.
        command.args(&cmd[1..]).env_remove("RUST_BACKTRACE").env_remove("LOGGIA_LOG").env_remove("RUST_LOG");
        command.envs(&server.env).stderr(Stdio::null());
        if piped {
            command.stdin(Stdio::piped()).stdout(Stdio::piped());
        } else {
            command.stdin(Stdio::null()).stdout(Stdio::null());
        }
        let started = Instant::now();
        let child = command.spawn().with_context(|| format!("starting {cmd:?}"))?;
        Ok(Self { child, started })
    }

    /// Resident memory now, in MiB.
    pub fn rss_mib(&self) -> f64 {
        self.status_mib("VmRSS:")
    }

    /// Highest resident memory so far, in MiB.
    pub fn peak_mib(&self) -> f64 {
        self.status_mib("VmHWM:")
    }

    fn status_mib(&self, key: &str) -> f64 {
        fs::read_to_string(format!("/proc/{}/status", self.child.id()))
            .ok()
            .and_then(|text| {
                let line = text.lines().find(|l| l.starts_with(key))?;
                line.split_whitespace().nth(1)?.parse::<f64>().ok()
            })
            .map_or(0.0, |kib| kib / 1024.0)
    }

    /// Processor time of all threads that live.
    pub fn cpu(&self) -> Duration {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.child.id()));
        let nanos = tasks.into_iter().flatten().flatten().filter_map(|task| {
            let text = fs::read_to_string(task.path().join("schedstat")).ok()?;
            text.split_whitespace().next()?.parse::<u64>().ok()
        });
        Duration::from_nanos(nanos.sum())
    }

    /// Tests whether it still runs.
    pub fn alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Puts the server's files in the state its entry names.
pub fn prepare(server: &Server) -> Result<()> {
    for (from, to) in &server.files {
        place(from, to)?;
    }
    Ok(())
}

/// Copies `from` over `to` by rename, unless they already agree.
pub fn place(from: &Path, to: &Path) -> Result<()> {
    let bytes = fs::read(from).with_context(|| format!("reading {}", from.display()))?;
    if fs::read(to).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent)?;
    }
    let staged = to.with_extension("staged");
    fs::write(&staged, bytes)?;
    fs::rename(&staged, to).with_context(|| format!("placing {}", to.display()))
}

/// Removes the server's own caches and asks the kernel to give up its pages.
pub fn make_cold(server: &Server) {
    for dir in &server.caches {
        let _ = fs::remove_dir_all(dir);
    }
    for path in &server.evict {
        evict(path);
    }
}

fn evict(path: &Path) {
    let Ok(meta) = fs::metadata(path) else { return };
    if meta.is_dir() {
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            if !entry.file_type().is_ok_and(|t| t.is_symlink()) {
                evict(&entry.path());
            }
        }
    } else if let Ok(file) = fs::File::open(path) {
        let _ = file.sync_data();
        let _ = rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed);
    }
}
