//! Cost of the audit trail: Loggia without one against Loggia that writes a line for each call.

use std::{fs, path::Path};

use anyhow::Result;

use crate::{
    config::Server,
    goals::{Goal, Line},
    stage::Stage,
};

/// Loggia without a trail, with one, with one that refuses calls rather than losing lines, and without one once more: its ratios show how
/// far two equal servers differ.
pub fn servers(stage: &Stage) -> Result<Vec<Server>> {
    // With a settings file, too: the server follows it.
    let settings = stage.at("plain.toml");
    fs::write(&settings, "")?;
    let plain = stage.loggia("plain", &["--config", &text(&settings)])?;
    let again = stage.loggia("plain again", &["--config", &text(&settings)])?;
    let [drop, refuse] = ["drop", "refuse"].map(|full| {
        let settings = stage.at(&format!("audit-{full}.toml"));
        // Both transports are served at once, and each process needs a file of its own; in a folder of their own, since that of the
        // settings is watched.
        let folder = stage.at("trails");
        fs::create_dir_all(&folder)?;
        let file = folder.join(format!("audit-{full}-{{pid}}.jsonl"));
        fs::write(&settings, format!("[audit]\nfile = {:?}\nfull = \"{full}\"\n", text(&file)))?;
        stage.loggia(&format!("audit, full = {full}"), &["--config", &text(&settings)])
    });
    Ok(vec![plain, again, drop?, refuse?])
}

/// The lines of this comparison.
pub fn lines() -> Vec<Line> {
    let line = Line::new;
    vec![
        line("stdio 100 B p50, µs", "stdio.seq100B.p50_us", Some(Goal::TimesAtMost(1.03))),
        line("stdio 100 B p99, µs", "stdio.seq100B.p99_us", None),
        line("stdio calls/s, 16 in flight", "stdio.rate100B_x16", None),
        line("stdio 64 KiB p50, µs", "stdio.seq64K.p50_us", Some(Goal::TimesAtMost(1.03))),
        line("HTTP 100 B p50, µs", "http.seq100B.p50_us", Some(Goal::TimesAtMost(1.03))),
        line("HTTP 100 B p99, µs", "http.seq100B.p99_us", None),
        line("HTTP calls/s, 16 in flight", "http.rate100B_x16", None),
        line("CPU per 100 B call, µs", "stdio.cpu_us_per_100B_call", None),
        line("resident when ready, MiB", "mem.ready_mib", None),
    ]
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
