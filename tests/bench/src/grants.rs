//! Cost of capabilities that a call does not use: Loggia with no grants against Loggia with all.

use std::fs;

use anyhow::{Context, Result};

use crate::{
    config::Server,
    goals::{Goal, Line},
    stage::{FACADE, Stage},
};

/// Some grants of each capability.
const EVERYTHING: &str = r#"[grants]
dirs = [
    { path = "../granted/a", at = "/a", access = "read-write" },
    { path = "../granted/b", at = "/b", access = "read" },
]
http = ["https://api.example.com", "https://*.example.org", "http://127.0.0.1:9"]
secrets = [{ from-file = "../secret", host = "api.example.com", header = "authorization", format = "Bearer {}" }]
env = { LANG = "en_US.UTF-8", REGION = "eu" }
config = { region = "eu", limits = { rows = 100 } }
store = true
caller = true
invoke = ["other:*"]
elicit = true
"#;

/// The plugin without a policy, and with one that grants everything.
pub fn servers(stage: &Stage) -> Result<Vec<Server>> {
    let bare = stage.loggia("bare", &[])?;
    let granted = stage.loggia("granted", &[])?;
    let file = granted.reload.as_ref().map(|reload| &reload.file);
    let folder = file.and_then(|file| file.parent()).context("no folder")?;
    for dir in ["granted/a", "granted/b"] {
        fs::create_dir_all(stage.at(dir))?;
    }
    fs::write(stage.at("secret"), "a secret of the bench")?;
    fs::create_dir_all(folder)?;
    fs::write(folder.join(format!("{FACADE}.toml")), EVERYTHING)?;
    Ok(vec![bare, granted])
}

/// The lines of this comparison.
pub fn lines() -> Vec<Line> {
    let line = Line::new;
    vec![
        line("100 B p50, µs", "stdio.seq100B.p50_us", Some(Goal::TimesAtMost(1.1))),
        line("100 B p99, µs", "stdio.seq100B.p99_us", None),
        line("calls/s, 16 in flight", "stdio.rate100B_x16", Some(Goal::TimesAtLeast(0.9))),
        line("calls/s, 64 in flight", "stdio.rate100B_x64", Some(Goal::TimesAtLeast(0.9))),
        line("64 KiB p50, µs", "stdio.seq64K.p50_us", Some(Goal::TimesAtMost(1.1))),
        line("CPU per 100 B call, µs", "stdio.cpu_us_per_100B_call", Some(Goal::TimesAtMost(1.1))),
        line("CPU per 100 B call, 64 in flight, µs", "stdio.cpu_us_per_100B_call_x64", None),
        line("resident when ready, MiB", "mem.ready_mib", None),
    ]
}
