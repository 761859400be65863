//! A session over all of them, by the official Python client, whose host is killed in the middle.

use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use loggia_tests::{Folder, HttpHost};
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

#[tokio::test]
async fn a_session_goes_on_where_its_killed_host_left_off() -> Result<()> {
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
