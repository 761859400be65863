//! Tools that clients would reject are reported to the operator but still served.

use std::process::Stdio;

use anyhow::{Context, Result};
use loggia_tests::{Folder, PATIENCE, binary, cache, fixture, scratch};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::Command,
};

/// A plugin whose only action is published with its author's schema.
fn raw() -> Folder {
    let folder = Folder::with(&["intricate"]);
    folder.write("intricate.toml", "[expose]\nschema = \"raw\"\n");
    folder
}

#[tokio::test]
async fn check_lists_tools_that_clients_would_reject() -> Result<()> {
    let folder = raw();
    let check = async |words: &[&str]| -> Result<String> {
        let mut command = Command::new(binary());
        command
            .arg("check")
            .arg(folder.path())
            .args(words)
            .env("LOGGIA_CACHE", cache())
            .env("LOGGIA_STATE", scratch());
        let output = command.output().await?;
        assert_eq!(output.status.code(), Some(0), "it is served all the same");
        Ok(String::from_utf8(output.stdout)?)
    };
    let stdout = check(&[]).await?;
    let (_, findings) = stdout.split_once("\n\n").context("no findings")?;
    insta::assert_snapshot!("lint_check", findings);
    // The policy overrides the option; without it nothing is rejected or lost.
    folder.remove("intricate.toml");
    for form in ["flat", "signatures", "names", "granular"] {
        let stdout = check(&["--schema", form]).await?;
        assert!(!stdout.contains("rejected by"), "{stdout}");
    }
    Ok(())
}

#[tokio::test]
async fn a_rejected_tool_is_logged_when_first_published() -> Result<()> {
    let folder = raw();
    let mut host = Command::new(binary())
        .args(["serve", "--http", "127.0.0.1:0"])
        .arg(folder.path())
        .env("LOGGIA_CACHE", cache())
        .env("LOGGIA_STATE", scratch())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let mut lines = BufReader::new(host.stderr.take().context("no stderr")?).lines();
    let (mut loaded, mut rejected) = (0, Vec::new());
    let read = async {
        while let Some(line) = lines.next_line().await? {
            if line.contains("rejected by") {
                assert!(line.contains("WARN"), "{line}");
                rejected.push(line);
            } else if line.contains("loaded (") {
                loaded += 1;
                // Reloading the same plugin is not reported again; another plugin marks the end.
                match loaded {
                    1 => folder.put("intricate", &fixture("intricate")),
                    2 => folder.put("version", &fixture("version_one")),
                    _ => break,
                }
            }
        }
        anyhow::Ok(())
    };
    tokio::time::timeout(PATIENCE, read).await??;
    let mut once = rejected.clone();
    once.dedup_by_key(|line| line.split_once("WARN").map(|(_, said)| said.to_owned()));
    assert!(!rejected.is_empty());
    assert_eq!(rejected.len(), once.len(), "{rejected:#?}");
    Ok(())
}
