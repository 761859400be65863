//! A host's process and its resources.

use std::{
    collections::{BTreeMap, VecDeque},
    fs,
    path::Path,
    process::Stdio,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use anyhow::{Context, Result};
use loggia_tests::{HttpHost, PATIENCE, binary, cache, state};
use rustix::process::{Pid, Signal, kill_process};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{ChildStderr, Command},
    sync::mpsc,
};

use crate::pipe::Pipe;

/// Transport of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// One client.
    Stdio,
    /// Many.
    Http,
}

/// Way to connect clients. Owns the process.
#[derive(Clone)]
pub enum Entrance {
    /// The one client's.
    Stdio(Arc<Pipe>),
    /// A shared HTTP server.
    Http(Arc<HttpHost>),
}

/// A host that runs; killed when the last entrance is dropped.
pub struct Host {
    pub transport: Transport,
    entrance: Entrance,
    pid: Pid,
    /// Log lines with vitals.
    vitals: mpsc::UnboundedReceiver<String>,
    /// The last lines of its log.
    tail: Arc<Mutex<VecDeque<String>>>,
}

/// Resources of a host.
#[derive(Debug, Clone, Copy, Default)]
pub struct Vitals {
    pub resident_mib: f64,
    /// The most so far.
    pub peak_mib: f64,
    pub descriptors: f64,
    pub threads: f64,
    pub tasks: f64,
}

/// Number of log lines that are kept.
const TAIL: usize = 20;

impl Host {
    /// Starts a host on a folder and connects to it.
    pub async fn start(folder: &Path, transport: Transport) -> Result<Self> {
        let mut command = Command::new(binary());
        command
            .arg("serve")
            .arg(folder)
            .env("LOGGIA_CACHE", cache())
            .env("LOGGIA_STATE", state(folder))
            // Plugins change while it runs.
            .env("LOGGIA_PIN", "open")
            // As in production: these variables of a developer's shell would make every fault read debug information.
            .env_remove("RUST_BACKTRACE")
            .env_remove("LOGGIA_LOG")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        match transport {
            Transport::Stdio => command.stdin(Stdio::piped()).stdout(Stdio::piped()),
            Transport::Http => command.args(["--http", "127.0.0.1:0"]),
        };
        let mut child = command.spawn().context("starting a host")?;
        let pid = child.id().and_then(|id| Pid::from_raw(id.cast_signed())).context("no process")?;
        let stderr = child.stderr.take().context("no stderr")?;
        let (told, vitals) = mpsc::unbounded_channel();
        let (listening, mut listens) = mpsc::unbounded_channel();
        let tail = Arc::new(Mutex::new(VecDeque::new()));
        tokio::spawn(read_log(stderr, told, listening, Arc::clone(&tail)));
        let entrance = match transport {
            Transport::Stdio => Entrance::Stdio(Pipe::open(child).await?),
            Transport::Http => {
                let url = tokio::time::timeout(PATIENCE, listens.recv()).await?.context("the host ended")?;
                Entrance::Http(Arc::new(HttpHost { url, child }))
            }
        };
        Ok(Self { transport, entrance, pid, vitals, tail })
    }

    /// Returns the way to connect.
    pub fn entrance(&self) -> Entrance {
        self.entrance.clone()
    }

    /// Requests the vitals.
    pub async fn vitals(&mut self) -> Result<Vitals> {
        kill_process(self.pid, Signal::USR1)?;
        let line = tokio::time::timeout(PATIENCE, self.vitals.recv()).await.ok().flatten();
        let line = line.with_context(|| format!("it does not say what it holds; its log: {}", self.log()))?;
        let (_, fields) = line.split_once("vitals ").context("no vitals")?;
        let fields: BTreeMap<&str, f64> = fields
            .split_whitespace()
            .filter_map(|field| field.split_once('='))
            .filter_map(|(key, value)| Some((key, value.parse().ok()?)))
            .collect();
        let field = |key: &str| fields.get(key).copied().with_context(|| format!("no {key} in {line:?}"));
        Ok(Vitals {
            resident_mib: field("resident_mib")?,
            peak_mib: self.peak_mib()?,
            descriptors: field("descriptors")?,
            threads: field("threads")?,
            tasks: field("io_tasks")? + field("call_tasks")?,
        })
    }

    fn peak_mib(&self) -> Result<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid.as_raw_nonzero()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("it is dead")?;
        let kib: f64 = line.split_whitespace().next().context("no number")?.parse()?;
        Ok(kib / 1024.0)
    }

    /// Processor time of all threads that live.
    fn cpu(&self) -> Duration {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.pid.as_raw_nonzero()));
        let nanos = tasks.into_iter().flatten().flatten().filter_map(|task| {
            let text = fs::read_to_string(task.path().join("schedstat")).ok()?;
            text.split_whitespace().next()?.parse::<u64>().ok()
        });
        Duration::from_nanos(nanos.sum())
    }

    /// Waits until the host is idle, up to a limit.
    pub async fn quiet(&self) {
        const LOOK: Duration = Duration::from_millis(50);
        let looking = async {
            loop {
                let before = self.cpu();
                tokio::time::sleep(LOOK).await;
                if self.cpu().saturating_sub(before) < LOOK / 20 {
                    return;
                }
            }
        };
        let _ = tokio::time::timeout(PATIENCE, looking).await;
    }

    /// The end of its log.
    pub fn log(&self) -> String {
        let tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        tail.iter().map(|line| format!("\n    {line}")).collect()
    }
}

/// Drains the log.
async fn read_log(
    stderr: ChildStderr,
    vitals: mpsc::UnboundedSender<String>,
    listening: mpsc::UnboundedSender<String>,
    tail: Arc<Mutex<VecDeque<String>>>,
) {
    let mut lines = BufReader::new(stderr).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        if let Some(url) = line.strip_prefix("listening on ") {
            let _ = listening.send(url.to_owned());
        } else if line.contains(" vitals resident_mib=") {
            let _ = vitals.send(line);
            continue;
        }
        let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
        if tail.len() == TAIL {
            tail.pop_front();
        }
        tail.push_back(line);
    }
}
