//! Time from a changed plugin to the first call of the new version.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::json;

use super::{CALL, Round, open_stdio};
use crate::{
    call::Call,
    client::Client,
    config::{Reload, Server},
    flood::{ms, percentile},
    process,
};

/// Replaces the plugin of every server that can reload: first by new versions, then by known ones, which the server may
/// have cached.
pub fn reload(round: &mut Round) {
    for at in round.order(0) {
        let contender = &mut round.contenders[at];
        let server = contender.server;
        let Some(reload) = &server.reload else { continue };
        contender.figures.step("reload", |f| {
            let [mut fresh, mut known] = exchange(server, reload)?;
            f.set("reload.new_ms", ms(percentile(&mut fresh, 50)));
            f.set("reload.known_ms", ms(percentile(&mut known, 50)));
            Ok(())
        });
    }
}

fn exchange(server: &Server, reload: &Reload) -> Result<[Vec<Duration>; 2]> {
    ensure!(reload.versions.len() > 1, "a reload needs two versions");
    // Caches of earlier rounds must not count.
    for dir in &server.caches {
        let _ = std::fs::remove_dir_all(dir);
    }
    let stdio = reload.stdio.clone().or_else(|| server.stdio.clone());
    let server = Server { stdio, ..server.clone() };
    let mut live = open_stdio(&server)?;
    let version = Call::new(&server, "version", None);
    let mut times = <[Vec<Duration>; 2]>::default();
    shows(&mut live.client, &version, &reload.versions[0].1, Instant::now())?;
    for (turn, times) in times.iter_mut().enumerate() {
        // The first version was loaded already before the first turn.
        for (file, want) in reload.versions.iter().skip(usize::from(turn == 0)) {
            std::thread::sleep(Duration::from_millis(300));
            process::place(file, &reload.file)?;
            let begun = Instant::now();
            for call in &reload.calls {
                let params = json!({ "name": call.name, "arguments": call.arguments }).to_string();
                let reply = live.client.request("tools/call", &params, CALL)?;
                if let Some(error) = crate::call::error(&reply.body) {
                    anyhow::bail!("{}: {error}", call.name);
                }
            }
            times.push(shows(&mut live.client, &version, want, begun)?);
        }
    }
    process::place(&reload.versions[0].0, &reload.file)?;
    Ok(times)
}

/// Calls until the version appears. Calls may fail during the replacement.
fn shows(client: &mut Client, version: &Call, want: &str, begun: Instant) -> Result<Duration> {
    loop {
        let reply = client.request("tools/call", &version.params, CALL)?;
        if version.text(&reply.body).is_ok_and(|text| text == want) {
            return Ok(reply.at - begun);
        }
        ensure!(begun.elapsed() < CALL, "{want} never showed");
        std::thread::sleep(Duration::from_millis(1));
    }
}
