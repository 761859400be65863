//! Frameworks for agents, each with a scripted model, and tools that bridge or inspect: over stdio and HTTP, with a token. Their
//! scripts are in `tests/clients/agents`; what differs between them is in the table of this file.

use std::{collections::BTreeSet, ffi::OsString, path::Path};

use anyhow::{Context, Result, ensure};
use loggia_tests::{Folder, HttpHost, Token, fixture};
use serde_json::{Value, json};
use tokio::process::Command;

use crate::clients::{follow, frameworks, installed, python, script, stdio};

/// What a client does differently than most: members of its lines, by step.
struct ExpectedClient {
    /// Script in `tests/clients/agents`, and its first arguments.
    script: &'static [&'static str],
    /// Name, version and protocol version with which it introduces itself on stdio.
    introduction: [&'static str; 3],
    differs: Value,
}

/// Lines that a client prints, unless it differs.
fn usual() -> Value {
    json!({
        "list": {"tools": ["echo", "test", "version", "worker"]},
        "error": {"kinds": ["text"], "failed": true, "code": "invalid_params"},
        "call": {"kinds": ["text"], "failed": false, "data": {"text": "hello", "volume": null}},
        "picture": {"kinds": ["text", "text", "image", "text"]},
        "audio": {"kinds": ["text", "audio"]},
        "progress": {"last": [3, 3, "step 3"], "rises": true},
        "elicitation": {"data": ["kept 3 because dust", "declined"]},
        "strict": {"schema": "-", "data": {"text": "hello", "volume": null}},
        "ready": {"news": 0},
        "reload": {"notified": "-", "data": "this action"},
    })
}

const ORDER: [&str; 10] =
    ["list", "error", "call", "picture", "audio", "progress", "elicitation", "strict", "ready", "reload"];

fn lines(differs: &Value) -> Vec<Value> {
    let lines = with(usual(), differs);
    let named = |step: &&str| {
        let mut line = lines[*step].clone();
        line["step"] = json!(step);
        line
    };
    ORDER.iter().map(named).collect()
}

/// A result as it is on the wire: text and structure.
fn both() -> Value {
    json!({
        "error": {"kinds": ["text", "structured"]},
        "call": {"kinds": ["text", "structured"]},
        "picture": {"kinds": ["text", "text", "image", "resource"]},
    })
}

/// Merges members of lines.
fn with(mut differs: Value, more: &Value) -> Value {
    for (step, members) in more.as_object().into_iter().flatten() {
        for (name, value) in members.as_object().into_iter().flatten() {
            differs[step][name] = value.clone();
        }
    }
    differs
}

const LEGACY: [&str; 3] = ["mcp", "0.1.0", "2025-11-25"];
const MODERN: [&str; 3] = ["mcp", "0.1.0", "2026-07-28"];

/// It neither shows progress nor can ask a person.
fn alone() -> Value {
    json!({"progress": {"last": "-", "rises": "-"}, "elicitation": {"data": "unavailable"}})
}

/// Its results have no mark for errors.
fn unmarked() -> Value {
    with(alone(), &json!({"error": {"failed": "-"}, "call": {"failed": "-"}}))
}

fn fastmcp() -> Vec<ExpectedClient> {
    let notified = |notified: bool| with(both(), &json!({"reload": {"notified": notified}}));
    vec![
        ExpectedClient {
            script: &["with_fastmcp.py", "auto"],
            introduction: MODERN,
            differs: notified(false),
        },
        ExpectedClient {
            script: &["with_fastmcp.py", "legacy"],
            introduction: LEGACY,
            differs: notified(true),
        },
    ]
}

fn openai_agents() -> Vec<ExpectedClient> {
    let usual = with(
        unmarked(),
        &json!({
            // Another kind of content is a text: its JSON.
            "audio": {"kinds": ["text", "text"]},
            "strict": {"schema": true},
            "reload": {"notified": false},
        }),
    );
    vec![
        ExpectedClient {
            script: &["with_openai_agents.py", "text"],
            introduction: MODERN,
            differs: usual.clone(),
        },
        ExpectedClient {
            script: &["with_openai_agents.py", "structured"],
            introduction: MODERN,
            differs: with(usual, &json!({"call": {"kinds": ["structured"]}})),
        },
    ]
}

fn pydantic_ai() -> ExpectedClient {
    ExpectedClient {
        script: &["with_pydantic_ai.py"],
        introduction: MODERN,
        differs: json!({
            "call": {"kinds": ["structured"]},
            // It decodes texts that are JSON.
            "picture": {"kinds": ["structured", "text", "image", "text"]},
            "audio": {"kinds": ["structured", "audio"]},
            "reload": {"notified": false, "kept": true},
        }),
    }
}

fn llama_index() -> ExpectedClient {
    let repr = |kinds: &[&str]| json!({"kinds": kinds.iter().map(|kind| format!("{kind} as repr")).collect::<Vec<_>>()});
    let seen = json!({
        "error": repr(&["text", "structured"]),
        "call": repr(&["text", "structured"]),
        "picture": repr(&["text", "text", "image", "resource"]),
        "audio": repr(&["text", "audio"]),
        "strict": {"schema": "pydantic"},
    });
    ExpectedClient {
        script: &["with_llama_index.py"],
        introduction: LEGACY,
        differs: with(unmarked(), &seen),
    }
}

fn langchain() -> ExpectedClient {
    ExpectedClient {
        script: &["with_langchain.py"],
        introduction: LEGACY,
        // It converts no audio.
        differs: json!({"audio": {"kinds": "NotImplementedError"}}),
    }
}

/// Runs the steps of a client over stdio, and over HTTP with a token.
async fn takes_all_steps(program: &Path, before: &[OsString], client: &ExpectedClient) -> Result<()> {
    let home = tempfile::tempdir()?;
    let token = Token::new("agent", &["*"]).await?;
    for http in [false, true] {
        let folder = Folder::with(&["echo", "worker"]);
        folder.put("test", &fixture("conformance"));
        folder.put("version", &fixture("version_one"));
        folder.write("worker.toml", "[grants]\nelicit = true\n");
        let notes = home.path().join("introductions");
        let host = if http { Some(HttpHost::configured(&folder, &token.toml).await?) } else { None };
        let target = match &host {
            Some(host) => vec![host.url.clone().into()],
            None => {
                let tap = script("agents/tap.py").into_os_string();
                let tapped = [python().await?.into_os_string(), tap, notes.clone().into_os_string()];
                tapped.into_iter().chain(stdio(folder.path())).collect()
            }
        };
        let mut command = Command::new(program);
        command.arg(script("agents").join(client.script[0])).args(before).args(&client.script[1..]);
        command.args(target).env("PYTHONDONTWRITEBYTECODE", "1").env("HOME", home.path());
        if http {
            command.env("TOKEN", &token.secret);
        }
        let replace = || folder.put("version", &fixture("version_three"));
        let context = || format!("{:?} http {http}", client.script);
        let told = follow(&mut command, replace).await.with_context(context)?;
        assert_eq!(told, lines(&client.differs), "{}", context());
        if !http {
            let seen: BTreeSet<[String; 3]> = std::fs::read_to_string(notes)?
                .lines()
                .map(serde_json::from_str)
                .collect::<Result<_, _>>()?;
            let expected = BTreeSet::from([client.introduction.map(str::to_owned)]);
            assert_eq!(seen, expected, "{}", context());
        }
    }
    Ok(())
}

async fn all_take_all_steps(part: &str, clients: &[ExpectedClient]) -> Result<()> {
    let python = frameworks(part).await?;
    for client in clients {
        takes_all_steps(&python, &[], client).await?;
    }
    Ok(())
}

#[tokio::test]
#[ignore = "installs frameworks of 550 MB; tests/release/run clients"]
async fn fastmcp_takes_all_steps() -> Result<()> {
    all_take_all_steps("agents", &fastmcp()).await
}

#[tokio::test]
#[ignore = "installs frameworks of 550 MB; tests/release/run clients"]
async fn pydantic_ai_takes_all_steps() -> Result<()> {
    all_take_all_steps("agents", &[pydantic_ai()]).await
}

#[tokio::test]
#[ignore = "installs frameworks of 550 MB; tests/release/run clients"]
async fn openai_agents_take_all_steps() -> Result<()> {
    all_take_all_steps("agents", &openai_agents()).await
}

#[tokio::test]
#[ignore = "installs frameworks of 550 MB; tests/release/run clients"]
async fn llama_index_takes_all_steps() -> Result<()> {
    all_take_all_steps("agents", &[llama_index()]).await
}

#[tokio::test]
#[ignore = "installs frameworks of 550 MB; tests/release/run clients"]
async fn langchain_takes_all_steps() -> Result<()> {
    all_take_all_steps("langchain", &[langchain()]).await
}

#[tokio::test]
async fn the_inspector_takes_all_steps() -> Result<()> {
    let home = installed().await?;
    let packages = home.join("typescript/node_modules/@modelcontextprotocol/inspector");
    let inspector = packages.join("clients/launcher/build/index.js");
    ensure!(inspector.exists(), "no {}", inspector.display());
    let client = ExpectedClient {
        script: &["with_inspector.py"],
        introduction: ["inspector-cli", "2.12.0", "2025-11-25"],
        differs: with(
            with(alone(), &both()),
            &json!({"error": {"failed": [true, 5]}, "call": {"failed": [false, 0]}, "strict": {"schema": true}}),
        ),
    };
    let before = [home.join("node").into_os_string(), inspector.into_os_string()];
    takes_all_steps(&python().await?, &before, &client).await
}
