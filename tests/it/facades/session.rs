//! A session over all facades with the official Python client; its host is killed halfway.

use std::{fs, path::Path, process::Stdio};

use anyhow::{Context, Result, ensure};
use loggia_tests::{Client, Era, Folder, HttpHost};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    process::Command,
};

use super::add;
use crate::clients::{python, script};

fn folder() -> Folder {
    let folder = Folder::new();
    let granted = folder.beside("data");
    let dirs = format!("dirs = [{{ path = {granted:?}, at = \"/data\", access = \"read-write\" }}]");
    add(&folder, "files", &format!("[grants]\n{dirs}\nstore = true\n"));
    for name in ["memories", "knowledge", "conversations"] {
        add(&folder, name, "[grants]\nstore = true\n");
    }
    let invoke = ["memories", "knowledge", "conversations", "files"].map(|name| format!("\"{name}:search\""));
    add(&folder, "search", &format!("[grants]\ninvoke = [{}]\n", invoke.join(", ")));
    folder
}

/// Without a hint at `search`, a model calls four facades one by one.
#[tokio::test]
async fn the_instructions_name_each_of_them() -> Result<()> {
    let folder = folder();
    let brief = Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins/brief.workflow.yaml");
    folder.write("brief.workflow.yaml", &fs::read_to_string(brief)?);
    let names = ["brief", "conversations", "files", "knowledge", "memories", "search"];
    let host = HttpHost::start(folder.path()).await?;
    Client::http(&host, Era::Stateful).await?.names_become(&names).await;
    let client = Client::http(&host, Era::Stateful).await?;
    let told =
        client.service.peer_info().and_then(|info| info.instructions.clone()).context("instructions")?;
    for name in names {
        assert!(told.contains(&format!("\n- {name}: ")), "{name}:\n{told}");
    }
    assert!(told.len() <= 2000, "{} bytes", told.len());
    let first = told.find("\n- ").map(|at| &told[at..]).context("facades")?;
    assert!(first.starts_with("\n- brief: "), "those that cover others come first:\n{told}");
    assert!(told.find("\n- search") < told.find("\n- conversations"), "{told}");
    client.end().await
}

#[tokio::test]
async fn a_session_resumes_after_its_host_was_killed() -> Result<()> {
    let python = python().await?;
    let folder = folder();
    let mut host = HttpHost::start(folder.path()).await?;
    let mut client = Command::new(&python)
        .arg(script("session.py"))
        .arg(&host.url)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let mut lines = BufReader::new(client.stdout.take().context("no stdout")?).lines();
    let mut told = String::new();
    let mut next = None;
    while let Some(line) = lines.next_line().await? {
        if line == "half" {
            host.child.start_kill()?;
            host.child.wait().await?;
            let other = HttpHost::start(folder.path()).await?;
            let mut stdin = client.stdin.take().context("no stdin")?;
            stdin.write_all(format!("{}\n", other.url).as_bytes()).await?;
            next = Some(other);
        } else {
            told = told + &line + "\n";
        }
    }
    let mut stderr = String::new();
    client.stderr.take().context("no stderr")?.read_to_string(&mut stderr).await?;
    let status = client.wait().await?;
    ensure!(status.success(), "{status}\n{told}\n{stderr}");
    ensure!(next.is_some(), "the host was never killed");
    insta::assert_snapshot!(told);
    Ok(())
}
