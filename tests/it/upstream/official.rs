//! The reference servers of MCP as facades: the official client gets through Loggia what it gets directly.

use std::collections::BTreeMap;

use anyhow::Result;
use loggia_tests::{
    Folder,
    web::{Answer, Asked, Web},
};
use serde_json::json;
use tokio::process::Command;

use super::servers::{ServerCommand, environment, host_command, text};
use crate::clients::{python, run, script};

/// The site that `fetch` reads.
async fn site() -> Result<Web> {
    let answer = |status, kind: &str, body: &str| {
        Answer::Plain(status, vec![("content-type", kind.into())], body.into())
    };
    Web::start(move |asked: &Asked| match asked.path.as_str() {
        "/page.html" => {
            answer(200, "text/html", "<html><body><h1>Tides</h1><p>High at <b>noon</b>.</p></body></html>")
        }
        "/data.json" => answer(200, "application/json", r#"{"high": "noon", "low": "dusk"}"#),
        _ => answer(404, "text/plain", "nothing"),
    })
    .await
}

/// Calls every tool of a server directly and through Loggia; the outcome of each call, once both are equal.
async fn compared(name: &str) -> Result<String> {
    let (python, folder, site) = (python().await?, Folder::new(), site().await?);
    let work = folder.beside("work");
    // One of the servers asks.
    folder.write("everything.toml", "[grants]\nelicit = true\n");
    let server = ServerCommand::reference(name, &work).await?;
    let loggia = host_command(&folder, &server.settings())?;
    let loggia: Vec<String> = loggia.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let environment: BTreeMap<_, _> = environment(name, &work).into_iter().collect();
    let setup = json!({"name": name, "direct": server.command, "loggia": loggia, "env": environment,
        "work": text(&work), "site": site.url("")});
    let file = folder.beside("config").join("setup.json");
    std::fs::write(&file, setup.to_string())?;
    let outcomes = run(Command::new(python).arg(script("upstreams/compare.py")).arg(&file)).await?;
    Ok(outcomes)
}

#[tokio::test]
async fn everything_answers_as_it_does_directly() -> Result<()> {
    insta::assert_snapshot!(compared("everything").await?);
    Ok(())
}

#[tokio::test]
async fn filesystem_answers_as_it_does_directly() -> Result<()> {
    insta::assert_snapshot!(compared("filesystem").await?);
    Ok(())
}

#[tokio::test]
async fn memory_answers_as_it_does_directly() -> Result<()> {
    insta::assert_snapshot!(compared("memory").await?);
    Ok(())
}

#[tokio::test]
async fn fetch_answers_as_it_does_directly() -> Result<()> {
    insta::assert_snapshot!(compared("fetch").await?);
    Ok(())
}

#[tokio::test]
async fn git_answers_as_it_does_directly() -> Result<()> {
    insta::assert_snapshot!(compared("git").await?);
    Ok(())
}
