//! Output of `check` for plugins, and the requirements for loading them.

use std::{path::Path, process::Output};

use anyhow::Result;
use loggia_tests::{Folder, binary, cache, scratch};
use tokio::process::Command;

async fn check(path: &Path) -> Result<Output> {
    Ok(Command::new(binary())
        .arg("check")
        .arg(path)
        .env("LOGGIA_CACHE", cache())
        .env("LOGGIA_STATE", scratch())
        .output()
        .await?)
}

#[tokio::test]
async fn checking_a_folder_prints_a_table() -> Result<()> {
    let folder = Folder::with(&["echo", "version_one"]);
    let output = check(folder.path()).await?;
    assert_eq!(output.status.code(), Some(0));
    let stdout = String::from_utf8(output.stdout)?;
    let rows: Vec<Vec<&str>> = stdout.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(rows[0], ["name", "actions", "imports", "size"]);
    assert_eq!(rows[1][..2], ["echo", "say, add, wait, steps, forget"]);
    assert_eq!(rows[2][..2], ["version", "get"]);
    let empty = Folder::new();
    assert_eq!(check(empty.path()).await?.status.code(), Some(11));
    Ok(())
}

#[tokio::test]
async fn a_host_with_little_address_space_serves() -> Result<()> {
    let folder = Folder::with(&["echo"]);
    let script = r#"ulimit -v 3000000; exec "$0" call echo add a=1 b=2 --plugins "$1""#;
    let output = Command::new("sh")
        .args(["-c", script])
        .arg(binary())
        .arg(folder.path())
        .env("LOGGIA_CACHE", cache())
        .env("LOGGIA_STATE", scratch())
        .output()
        .await?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        String::from_utf8(output.stdout)?.trim(),
        r#"{"ok":true,"action":"add","data":3.0,"resolved_inputs":{"a":1,"b":2}}"#,
        "{stderr}"
    );
    assert!(stderr.contains("address space is short"), "{stderr}");
    Ok(())
}
