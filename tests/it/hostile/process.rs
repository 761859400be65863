//! What the kernel says of a host's process.

use std::fs;

use anyhow::{Context, Result};
use tokio::process::Child;

fn id(child: &Child) -> Result<u32> {
    child.id().context("the host ended")
}

/// A figure of `/proc/<id>/status`.
fn status(child: &Child, key: &str) -> Result<u64> {
    let text = fs::read_to_string(format!("/proc/{}/status", id(child)?))?;
    let line =
        text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':')).context("no such figure")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}

/// How many threads it has.
pub fn threads(child: &Child) -> Result<u64> {
    status(child, "Threads")
}

/// How many descriptors it has open.
pub fn descriptors(child: &Child) -> Result<usize> {
    Ok(fs::read_dir(format!("/proc/{}/fd", id(child)?))?.count())
}
