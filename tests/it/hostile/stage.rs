//! Shared helpers: a plugin with a given surface, and the operator's view of a file or folder.

use std::{fs, path::Path, process::Output};

use anyhow::{Context, Result};
use loggia_tests::{binary, cache, fixture, scratch};
use serde_json::{Value, json};
use tokio::process::Command;

/// Begin of the space for the surface in the guest `pretends`.
const MARK: &[u8] = b"what this plugin pretends to be:";
/// Size of the space.
const ROOM: usize = 64 << 10;

/// A text, as `pretends` reads it.
pub fn text(text: &str) -> Value {
    many(&[(text, 1)])
}

/// A text of repeated pieces, for texts that are too long to embed in the guest.
pub fn many(pieces: &[(&str, usize)]) -> Value {
    json!(pieces)
}

/// Builds a plugin with a valid surface except for the given members.
pub fn pretends(spoilt: &Value) -> Result<Vec<u8>> {
    let mut surface = json!({
        "name": text("pretends"), "title": text("Pretends"), "version": text("0.1.0"), "summary": text("Pretends."),
        "actions": [text("go")], "action_summary": text("Go."), "params": text(r#"{"type":"object"}"#),
    });
    let all = surface.as_object_mut().context("an object")?;
    all.extend(spoilt.as_object().context("an object")?.clone());
    let surface = surface.to_string();
    anyhow::ensure!(surface.len() < ROOM, "there is room for {ROOM} bytes: {}", surface.len());
    let mut bytes = fs::read(fixture("pretends"))?;
    let at = bytes.windows(MARK.len()).position(|bytes| bytes == MARK).context("the guest keeps a place")?;
    bytes[at..at + MARK.len()].fill(b' ');
    bytes[at..at + surface.len()].copy_from_slice(surface.as_bytes());
    Ok(bytes)
}

/// `loggia check`.
pub async fn check(path: &Path) -> Result<Output> {
    check_in(path, &cache()).await
}

/// `loggia check` with a cache of its own, for plugins that are never the same again.
pub async fn check_in(path: &Path, cache: &Path) -> Result<Output> {
    let mut command = Command::new(binary());
    command.arg("check").arg(path).env("LOGGIA_CACHE", cache).env("LOGGIA_STATE", scratch());
    Ok(command.output().await?)
}

/// Columns that `loggia check` prints for this plugin.
pub async fn told(folder: &Path, name: &str, bytes: &[u8]) -> Result<String> {
    let path = folder.join(format!("{name}.wasm"));
    fs::write(&path, bytes)?;
    let output = check(&path).await?;
    let said = String::from_utf8(output.stdout)?;
    fs::remove_file(&path)?;
    Ok(said.lines().nth(1).context("no line")?.trim_end().to_owned())
}
