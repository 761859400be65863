//! The scripted server of `host/upstream/tests`, beside a plugin, in a host that an operator watches.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use loggia_tests::{Folder, Served, eventually, signal, soon};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// Where the scripted server is.
pub fn fake_script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../host/upstream/tests/upstream/fake_server.py")
}

/// The table of the settings that serves it as NAME.
pub fn fake(name: &str, mode: &str) -> String {
    fake_at(name, mode, &fake_script())
}

/// The same for a copy of the script.
pub fn fake_at(name: &str, mode: &str, script: &Path) -> String {
    format!(
        "[upstream.{name}]\ncommand = \"python3\"\nargs = [\"-u\", {script:?}, {mode:?}]\nconnect-time = \"20s\"\n"
    )
}

/// A host that serves the upstream `fake` beside the plugin `echo`, with these policies.
pub async fn served(policies: &[(&str, &str)]) -> Result<(Folder, Served)> {
    let folder = Folder::with(&["echo"]);
    for (file, policy) in policies {
        folder.write(file, policy);
    }
    let served = Served::configured(&folder, &fake("fake", "constant"), &[]).await?;
    Ok((folder, served))
}

/// What `/readyz` says of an offer.
pub fn state_of<'a>(ready: &'a Value, file: &str) -> &'a Value {
    let all = ready["plugins"].as_array().map(Vec::as_slice).unwrap_or_default();
    all.iter().find(|offer| offer["file"] == file).unwrap_or(&Value::Null)
}

/// Waits until the upstreams of these names serve.
pub async fn serve(served: &Served, names: &[&str]) {
    let serves =
        |ready: &Value, name: &&str| state_of(ready, &format!("upstream.{name}"))["state"] == "serving";
    served.readies(|status, ready| status == 200 && names.iter().all(|name| serves(ready, name))).await;
}

/// Kills a process by its id.
pub fn kill(process: u64) -> Result<()> {
    let id = i32::try_from(process).ok().and_then(Pid::from_raw).context("a process id")?;
    Ok(kill_process(id, Signal::KILL)?)
}

/// Whether a process runs. A zombie has ended, though nobody has asked for its status.
fn is_alive(process: u32) -> bool {
    fs::read_to_string(format!("/proc/{process}/stat"))
        .is_ok_and(|stat| !stat.rsplit(") ").next().unwrap_or_default().starts_with('Z'))
}

/// All processes that a process started, and those that they did.
fn descendants(of: u32) -> BTreeSet<u32> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let with_parent = |id: u32| {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        Some((stat.rsplit(") ").next()?.split(' ').nth(1)?.parse::<u32>().ok()?, id))
    };
    let all: Vec<(u32, u32)> =
        processes.filter_map(|entry| with_parent(entry.file_name().to_str()?.parse().ok()?)).collect();
    let mut found = BTreeSet::from([of]);
    loop {
        let more: Vec<u32> = all
            .iter()
            .filter(|(parent, id)| found.contains(parent) && !found.contains(id))
            .map(|(_, id)| *id)
            .collect();
        if more.is_empty() {
            found.remove(&of);
            return found;
        }
        found.extend(more);
    }
}

/// Ends a host by SIGTERM, and waits until it has ended well and no process that it started is left.
pub async fn end(mut served: Served) -> Result<()> {
    let children = descendants(served.host.child.id().context("it ended")?);
    anyhow::ensure!(!children.is_empty(), "no upstream runs");
    signal(&served.host.child, Signal::TERM)?;
    let status = soon("the end of the host", served.host.child.wait()).await??;
    anyhow::ensure!(status.code() == Some(0), "{status}");
    eventually(async || {
        let left: Vec<u32> = children.iter().copied().filter(|id| is_alive(*id)).collect();
        if left.is_empty() { Ok(()) } else { Err(format!("processes are left: {left:?}")) }
    })
    .await;
    Ok(())
}
