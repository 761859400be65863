//! The log line that a host writes on SIGUSR1.

use std::{collections::BTreeMap, path::Path, process::Stdio};

use loggia_tests::{Folder, PATIENCE, binary, cache, state};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    process::{Child, ChildStderr, Command},
};

struct Host {
    child: Child,
    log: Lines<BufReader<ChildStderr>>,
}

impl Host {
    /// Starts a host; its log is read from the first line.
    fn start(folder: &Path, more: &[&str], level: &str) -> Self {
        let mut child = Command::new(binary())
            .arg("serve")
            .arg(folder)
            .args(more)
            .env("LOGGIA_CACHE", cache())
            .env("LOGGIA_STATE", state(folder))
            .env("LOGGIA_LOG", level)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("started");
        let log = BufReader::new(child.stderr.take().expect("piped")).lines();
        Self { child, log }
    }

    /// Returns the next log line that contains a text.
    async fn said(&mut self, text: &str) -> String {
        let looking = async {
            loop {
                let line = self.log.next_line().await.expect("read").expect("the host lives");
                if line.contains(text) {
                    return line;
                }
            }
        };
        tokio::time::timeout(PATIENCE, looking).await.expect("said in time")
    }

    /// Sends the signal; returns the figures of the line that follows.
    async fn vitals(&mut self) -> BTreeMap<String, f64> {
        let pid = self.child.id().and_then(|id| Pid::from_raw(id.cast_signed())).expect("it runs");
        kill_process(pid, Signal::USR1).expect("sent");
        let line = self.said("vitals ").await;
        let (_, fields) = line.split_once("vitals ").expect("fields");
        let pairs = fields.split_whitespace().map(|field| field.split_once('=').expect(&line));
        pairs.map(|(key, value)| (key.to_owned(), value.parse().expect(&line))).collect()
    }
}

fn check(vitals: &BTreeMap<String, f64>) {
    let least = [
        ("resident_mib", 5.0),
        // The three standard ones, and those of two runtimes.
        ("descriptors", 5.0),
        ("threads", 3.0),
        ("io_tasks", 1.0),
        ("call_tasks", 1.0),
    ];
    assert_eq!(vitals.len(), least.len(), "{vitals:?}");
    for (key, least) in least {
        assert!(vitals[key] >= least && vitals[key] < 10_000.0, "{key}: {vitals:?}");
    }
}

#[tokio::test]
async fn sigusr1_logs_vitals_every_time() {
    let folder = Folder::with(&["echo"]);
    // At every log level, since the operator asked for it.
    let mut host = Host::start(folder.path(), &[], "error");
    let mut stdin = host.child.stdin.take().expect("piped");
    let mut stdout = BufReader::new(host.child.stdout.take().expect("piped")).lines();
    let initialize = br#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"vitals","version":"0"}}}"#;
    stdin.write_all(&[&initialize[..], b"\n"].concat()).await.expect("written");
    stdout.next_line().await.expect("read").expect("the host lives");
    check(&host.vitals().await);
    check(&host.vitals().await);
    stdin.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n").await.expect("written");
    let pong = stdout.next_line().await.expect("read").expect("the host lives");
    assert_eq!(serde_json::from_str::<Value>(&pong).expect("JSON")["id"], 1);
    drop(stdin);
    assert!(host.child.wait().await.expect("ended").success());
}

#[tokio::test]
async fn an_http_host_reports_its_vitals() {
    let folder = Folder::with(&[]);
    let mut host = Host::start(folder.path(), &["--http", "127.0.0.1:0"], "info");
    host.said("listening on").await;
    check(&host.vitals().await);
    check(&host.vitals().await);
}
