//! Calls that take as long as a test requires, controlled by files instead of clocks.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::{Folder, eventually};

/// Grants a plugin its `/data`, in which a file ends its call, and the time to wait for it. Returns the path of
/// `/data`.
pub fn lingers(folder: &Folder, plugin: &str) -> PathBuf {
    let data = folder.beside("data");
    folder.write(
        &format!("{plugin}.toml"),
        &format!(
            "[grants]\ndirs = [{{ path = {data:?}, at = \"/data\", access = \"read-write\" }}]\n[limits]\nwall = \"10m\"\n"
        ),
    );
    data
}

/// Arguments of `lingers`: create the directory `mark`, then wait for a file `go`.
pub fn wait(mark: &str) -> Value {
    json!({"action": "wait", "mark": format!("/data/{mark}"), "until": "/data/go"})
}

/// Lets all of its calls end, with this text. Complete when it gets its name: a call may look at any moment.
pub fn go(data: &Path, text: &str) -> std::io::Result<()> {
    let unfinished = data.join(".go");
    std::fs::write(&unfinished, text)?;
    std::fs::rename(unfinished, data.join("go"))
}

/// Waits until it has made the directory.
pub async fn runs(data: &Path, mark: &str) {
    let there = || data.join(mark).is_dir();
    eventually(async || if there() { Ok(()) } else { Err(format!("{mark} does not run")) }).await;
}
