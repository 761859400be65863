//! A caller at its rate limit next to an occasional one: the latter's additional latency (H46).

use std::{
    fs,
    path::Path,
    process::Command,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::{
    clients::{Connection, Tool, free},
    config::Server,
    process::Process,
};

/// Calls of the occasional caller, and the pause between them: below the rate limit.
const CALLS: (usize, Duration) = (240, Duration::from_millis(25));
/// Connections of the greedy one.
const GREEDY: usize = 16;

/// Measures; a line to print.
pub fn run(loggia: &Path, guest: &Path) -> Result<String> {
    let stage = tempfile::Builder::new().prefix("loggia-bench-").tempdir()?;
    let folder = stage.path().join("plugins");
    fs::create_dir(&folder)?;
    fs::copy(guest, folder.join("tools.wasm"))?;
    let (address, file) = (free()?, stage.path().join("loggia.toml"));
    fs::write(
        &file,
        format!("folder = 'plugins'\ncache = 'cache'\nstate = 'state'\n[http]\nlisten = '{address}'\n"),
    )?;
    let [quiet, greedy] = ["quiet", "greedy"].map(|name| token(loggia, &file, name));
    let (quiet, greedy) = (quiet?, greedy?);
    let command = [loggia, Path::new("serve"), Path::new("--config"), &file];
    let command: Vec<String> = command.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    let _host = Process::start(&Server::default(), &command, false)?;
    let tool = Tool::found(&address, Some(&quiet))?;

    let alone = times(&address, &quiet, &tool)?;
    let (over, answered, refused) = (AtomicBool::new(false), AtomicUsize::new(0), AtomicUsize::new(0));
    let beside = thread::scope(|scope| {
        let begun = || -> Result<()> {
            let mut connection = Connection::open(&address)?.by(Some(&greedy));
            while !over.load(Ordering::Relaxed) {
                match connection.echo(&tool, "more")? {
                    200 => answered.fetch_add(1, Ordering::Relaxed),
                    429 => refused.fetch_add(1, Ordering::Relaxed),
                    other => anyhow::bail!("the greedy one was told {other}"),
                };
            }
            Ok(())
        };
        let all: Vec<_> = (0..GREEDY).map(|_| scope.spawn(begun)).collect();
        let beside = times(&address, &quiet, &tool);
        over.store(true, Ordering::Relaxed);
        for one in all {
            one.join().ok().context("a client broke")??;
        }
        beside
    })?;
    let at = |times: &[Duration], part: usize| times[times.len() * part / 100];
    Ok(format!(
        "{} calls of one caller, 25 ms apart: p50 {:.0?}, p95 {:.0?} alone; p50 {:.0?}, p95 {:.0?} ({:.2}x) beside another on {GREEDY} \
         connections, {} of whose requests were answered and {} refused",
        CALLS.0,
        at(&alone, 50),
        at(&alone, 95),
        at(&beside, 50),
        at(&beside, 95),
        at(&beside, 95).as_secs_f64() / at(&alone, 95).as_secs_f64(),
        answered.into_inner(),
        refused.into_inner()
    ))
}

/// A new token, which the settings file then knows.
fn token(loggia: &Path, file: &Path, name: &str) -> Result<String> {
    let mut command = Command::new(loggia);
    let made = command.args(["token", "new", name, "--scope", "*", "--json", "--file"]).arg(file).output()?;
    ensure!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let told: Value = serde_json::from_slice(&made.stdout)?;
    Ok(told["token"].as_str().context("no token")?.to_owned())
}

/// Durations of calls, sorted.
fn times(address: &str, token: &str, tool: &Tool) -> Result<Vec<Duration>> {
    let mut connection = Connection::open(address)?.by(Some(token));
    let mut times = Vec::new();
    for _ in 0..CALLS.0 {
        let begun = Instant::now();
        let status = connection.echo(tool, "now and then")?;
        times.push(begun.elapsed());
        ensure!(status == 200, "the quiet one was told {status}");
        thread::sleep(CALLS.1);
    }
    times.sort();
    Ok(times)
}
