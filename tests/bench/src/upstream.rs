//! What a call of an MCP server takes longer through Loggia: the native server directly, and as an upstream's facade.

use std::fs;

use anyhow::Result;

use crate::{
    config::Server,
    goals::{Goal, Line},
    stage::{FACADE, Stage},
};

/// The native server, and a Loggia that serves it.
pub fn servers(stage: &Stage) -> Result<Vec<Server>> {
    let direct = Server { name: "direct".into(), fragile: true, ..stage.alike()? };
    let (folder, file) = (stage.at("upstream-plugins"), stage.at("upstream.toml"));
    fs::create_dir_all(&folder)?;
    let native = &stage.builds.native;
    fs::write(&file, format!("[upstream.{FACADE}]\ncommand = {native:?}\nargs = [\"--pipes\"]\n"))?;
    let options = ["--config", &*file.to_string_lossy()];
    let through = Server {
        name: "through Loggia".into(),
        stdio: Some(stage.serve(&folder, &stage.at("upstream-cache"), &options)),
        facade: Some(FACADE.into()),
        fragile: true,
        ..Server::default()
    };
    Ok(vec![direct, through])
}

/// The lines of this comparison.
pub fn lines() -> Vec<Line> {
    let line = Line::new;
    vec![
        line("100 B p50, µs", "stdio.seq100B.p50_us", Some(Goal::MoreAtMost(150.0))),
        line("100 B p99, µs", "stdio.seq100B.p99_us", None),
        line("calls/s, 16 in flight", "stdio.rate100B_x16", None),
        line("64 KiB p50, µs", "stdio.seq64K.p50_us", None),
        line("CPU per 100 B call, µs", "stdio.cpu_us_per_100B_call", None),
    ]
}
