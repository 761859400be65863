//! The systemd unit of the documentation: the server accepts its command line, and it contains the keys that greedy
//! plugins, load balancers and unauthenticated clients require.

use std::{collections::BTreeMap, fs, path::Path, process::Stdio};

use anyhow::{Context, Result};
use loggia_tests::{Folder, Served, binary, eventually};
use tokio::process::Command;

/// Keys of a section with all of their values.
fn section(unit: &str, name: &str) -> BTreeMap<String, Vec<String>> {
    let lines = unit.lines().skip_while(|line| *line != format!("[{name}]")).skip(1);
    let mut keys: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (key, value) in
        lines.take_while(|line| !line.starts_with('[')).filter_map(|line| line.split_once('='))
    {
        if !key.starts_with('#') {
            keys.entry(key.to_owned()).or_default().push(value.to_owned());
        }
    }
    keys
}

#[tokio::test]
async fn the_unit_limits_and_stops_the_server() -> Result<()> {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    let unit = fs::read_to_string(docs.join("loggia.service"))?;
    let service = section(&unit, "Service");
    let key = |name: &str| service.get(name).map(|values| values.join(" ")).unwrap_or_default();
    for (name, value) in [
        ("OOMPolicy", "continue"),
        ("MemoryMax", "1G"),
        ("DynamicUser", "yes"),
        ("ProtectSystem", "strict"),
        ("NoNewPrivileges", "yes"),
        ("CapabilityBoundingSet", ""),
        ("SystemCallFilter", "@system-service ~@privileged"),
        ("SuccessExitStatus", "143"),
    ] {
        assert!(service.contains_key(name) && key(name) == value, "{name}={}", key(name));
    }
    assert!(!service.contains_key("MemoryDenyWriteExecute"), "machine code is mapped from the cache");
    let seconds = |text: &str| text.trim_end_matches('s').parse::<u64>().with_context(|| text.to_owned());
    let line = key("ExecStart");
    let words: Vec<&str> = line.split(' ').collect();
    let delay = words.iter().skip_while(|word| **word != "--drain-delay").nth(1).context("a drain-delay")?;
    assert!(seconds(&key("TimeoutStopSec"))? >= seconds(delay)? + 25 + 5, "the drain takes 25 s");
    // The test sets these options itself.
    let own = ["--http", "127.0.0.1:8080", "--admin", "127.0.0.1:9090"];
    assert_eq!(&words[..3], ["loggia", "serve", "/srv/plugins"]);
    assert!(own.iter().all(|word| words.contains(word)), "{line}");
    let more: Vec<&str> = words[3..].iter().copied().filter(|word| !own.contains(word)).collect();
    assert!(!more.is_empty());
    let folder = Folder::with(&["echo"]);
    let served = Served::start(&folder, |command| {
        command.args(&more);
    })
    .await?;
    served.readies(|status, _| status == 200).await;
    Ok(())
}

/// When memory is short, the kernel kills a compiler rather than the host.
#[tokio::test]
async fn a_compiler_goes_before_the_host() -> Result<()> {
    let mut command = Command::new(binary());
    command.args(["compile-component", "60000", "4294967296"]);
    // It waits for the component on stdin.
    let compiler = command.stdin(Stdio::piped()).stdout(Stdio::null()).kill_on_drop(true).spawn()?;
    let score = format!("/proc/{}/oom_score_adj", compiler.id().context("it ended")?);
    eventually(async || match fs::read_to_string(&score) {
        Ok(score) if score.trim() == "1000" => Ok(()),
        other => Err(format!("{other:?}")),
    })
    .await;
    Ok(())
}
