//! Calls that take as long as a test wants, by files instead of clocks.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::{Folder, eventually};

/// Lets a plugin find, in `/data` of its own, the file that ends its call, and gives it the time to wait for that. Where
/// `/data` is.
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

/// What `lingers` is asked: to make the directory `mark`, then to wait until there is a file `go`.
pub fn wait(mark: &str) -> Value {
    json!({"action": "wait", "mark": format!("/data/{mark}"), "until": "/data/go"})
}

/// Waits until it has made the directory.
pub async fn runs(data: &Path, mark: &str) {
    let there = || data.join(mark).is_dir();
    eventually(async || if there() { Ok(()) } else { Err(format!("{mark} does not run")) }).await;
}
