//! A host with the plugin that is measured and the neighbour that misbehaves.

use std::{
    fs,
    net::TcpListener,
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Result, bail};
use serde_json::json;
use tempfile::TempDir;

use super::{NEIGHBOUR, Plan, Transport};
use crate::{
    call::Call,
    client::Client,
    config::{Http, Server},
    process::Process,
};

/// Maximum startup time of a host, which has to compile both plugins.
const START: Duration = Duration::from_secs(120);

/// Grant of `files`, outside of the plugin folder.
const GRANT: &str = "[grants]\ndirs = [{ path = \"../data\", at = \"/data\", access = \"read\" }]\n";

/// The plugins' folder, a cache and a state of its own. Removed when dropped.
pub struct Site {
    dir: TempDir,
    command: Vec<String>,
}

/// A host that runs, and its client.
pub struct Open {
    pub process: Process,
    pub client: Client,
}

/// The call that is measured.
pub fn stat() -> Call {
    Call::action("files", &json!({"action": "stat", "path": "/data/a.txt"}))
}

impl Site {
    /// Both plugins, the neighbour with this policy.
    pub fn new(plan: &Plan, policy: &str) -> Result<Self> {
        let dir = tempfile::Builder::new().prefix("loggia-bench-").tempdir()?;
        let at = |name: &str| dir.path().join(name);
        let folder = at("plugins");
        for made in [&folder, &at("data")] {
            fs::create_dir(made)?;
        }
        fs::write(at("data/a.txt"), "a file of the bench\n")?;
        fs::copy(&plan.files, folder.join("files.wasm"))?;
        fs::write(folder.join("files.toml"), GRANT)?;
        fs::copy(&plan.neighbour, folder.join(format!("{NEIGHBOUR}.wasm")))?;
        fs::write(folder.join(format!("{NEIGHBOUR}.toml")), policy)?;
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let mut command = vec![text(&plan.loggia), "serve".into(), text(&folder)];
        command.extend(["--cache".into(), text(&at("cache")), "--state".into(), text(&at("state"))]);
        Ok(Self { dir, command })
    }

    /// Starts a host and a client with this many calls in flight, and waits until both plugins are served.
    pub fn open(&self, transport: Transport, calls: usize) -> Result<Open> {
        let (mut process, mut client);
        match transport {
            Transport::Stdio => {
                process = Process::start(&Server::default(), &self.command, true)?;
                client = Client::stdio(&mut process)?;
            }
            Transport::Http => {
                let addr = TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string();
                let mut cmd = self.command.clone();
                cmd.extend(["--http".into(), addr.clone()]);
                process = Process::start(&Server::default(), &cmd, false)?;
                let http = Http { cmd, addr, path: "/mcp".into(), legacy_sse: false, stateless: false };
                client = Client::http(&http, calls, START)?;
            }
        }
        client.initialize(START)?;
        let known = Call::action(NEIGHBOUR, &json!({"action": "describe"}));
        for mut call in [stat(), known] {
            self.answered(&mut client, &mut call)?;
        }
        Ok(Open { process, client })
    }

    /// Calls until there is an answer: a plugin may still be compiling.
    fn answered(&self, client: &mut Client, call: &mut Call) -> Result<()> {
        let until = Instant::now() + START;
        while let Err(error) = client.call(call, START) {
            if Instant::now() > until {
                bail!(error.context(format!("{} serves not what it should", self.dir.path().display())));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }
}
