//! Workflows that start by themselves.

use anyhow::{Context, Result};
use hmac::{Hmac, KeyInit, Mac};
use loggia_tests::{Client, Era, Folder, HttpHost, binary, cache, eventually, state, wire};
use serde_json::{Value, json};
use sha2::Sha256;
use tokio::process::Command;

const REPORT: &str = "
facade: reports
name: count
description: Counts what is posted.
runAs: counter
hook: {parameter: event}
parameters: {type: object, properties: {event: {type: object}}, required: [event]}
steps:
  - {id: count, tool: keeps.increment, arguments: {key: 'seen.{{.params.event.name}}'}}
";
const SECRET: &str = "a secret of the other service";

fn stage() -> Folder {
    let folder = Folder::with(&["keeps"]);
    folder.write("keeps.toml", "[grants]\nstore = true\n");
    folder.write("reports.workflow.yaml", REPORT);
    folder
}

fn settings(scopes: &str) -> String {
    format!(
        "[http]\nlisten = '127.0.0.1:0'\n[service.counter]\nscopes = {scopes}\nhook-secret = '{SECRET}'\n"
    )
}

/// Posts to a hook as GitHub does. Returns the status and the body.
async fn post(host: &HttpHost, path: &str, secret: &str, body: &str) -> Result<(u16, Value)> {
    let mut keyed = Hmac::<Sha256>::new_from_slice(secret.as_bytes())?;
    keyed.update(body.as_bytes());
    let digest: String = keyed.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    let authority = host.authority();
    let request = format!(
        "POST {path} HTTP/1.1\r\nhost: {authority}\r\nconnection: close\r\nx-hub-signature-256: sha256={digest}\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    let answer = wire::send(authority, request.as_bytes()).await?;
    Ok((answer.status, serde_json::from_str(&answer.body).unwrap_or_default()))
}

async fn count(client: &Client, name: &str) -> Result<Value> {
    let call = json!({"action": "get", "key": format!("seen.{name}")});
    Ok(client.envelope("keeps", call).await?["data"]["value"].clone())
}

/// H98.
#[tokio::test]
async fn a_signed_message_starts_its_workflow_once() -> Result<()> {
    let folder = stage();
    let host = HttpHost::configured(&folder, &settings("['reports:count', 'keeps:increment']")).await?;
    let client = Client::http(&host, Era::Stateful).await?;
    let path = "/hooks/reports/count";
    let (status, first) = eventually(async || match post(&host, path, SECRET, r#"{"name": "tea"}"#).await {
        Ok((202, body)) => Ok((202, body)),
        other => Err(format!("{other:?}")),
    })
    .await;
    assert_eq!(
        post(&host, path, SECRET, r#"{"name": "tea"}"#).await?,
        (status, first.clone()),
        "delivered again"
    );
    for (path, secret, body, status) in [
        (path, "another", r#"{"name": "tea"}"#, 401),
        ("/hooks/reports/other", SECRET, r#"{"name": "tea"}"#, 401),
        (path, SECRET, "[]", 400),
        (path, SECRET, "tea", 400),
    ] {
        assert_eq!(post(&host, path, secret, body).await?.0, status, "{path} {body}");
    }
    eventually(async || match count(&client, "tea").await {
        Ok(value) if value == "1" => Ok(()),
        other => Err(format!("{other:?}")),
    })
    .await;
    // The run is not that of the client, but the operator sees it.
    let run = first["run"].as_str().context("no run")?;
    let status = client.envelope("reports", json!({"action": "run_status", "run_id": run})).await?;
    assert_eq!(status["code"], "not_found", "{status}");
    let mut command = Command::new(binary());
    command
        .args(["runs", "list", "--json"])
        .env("LOGGIA_CACHE", cache())
        .env("LOGGIA_STATE", state(folder.path()));
    let listed = command.kill_on_drop(true).output().await?.stdout;
    let listed: Value = serde_json::from_slice(&listed)?;
    assert_eq!((&listed["run"], &listed["caller"]), (&json!(run), &json!("service:counter")), "{listed}");
    client.end().await
}

/// H98.
#[tokio::test]
async fn a_service_does_only_what_its_scopes_allow() -> Result<()> {
    let folder = stage();
    let host = HttpHost::configured(&folder, &settings("['reports:count']")).await?;
    let client = Client::http(&host, Era::Stateful).await?;
    let (_, started) =
        eventually(async || match post(&host, "/hooks/reports/count", SECRET, r#"{"name": "tea"}"#).await {
            Ok((202, body)) => Ok((202, body)),
            other => Err(format!("{other:?}")),
        })
        .await;
    let run = started["run"].as_str().context("no run")?.to_owned();
    let shown = eventually(async || {
        let mut command = Command::new(binary());
        command.args(["runs", "show", &run]);
        command.env("LOGGIA_CACHE", cache()).env("LOGGIA_STATE", state(folder.path()));
        let shown = command.kill_on_drop(true).output().await.map_err(|error| error.to_string())?.stdout;
        let shown = String::from_utf8_lossy(&shown).into_owned();
        if shown.contains("\"ok\":") { Ok(shown) } else { Err(shown) }
    })
    .await;
    assert!(shown.contains("denied"), "{shown}");
    assert_eq!(count(&client, "tea").await?, Value::Null);
    client.end().await
}

#[tokio::test]
async fn without_a_secret_there_are_no_hooks() -> Result<()> {
    let folder = stage();
    let settings = settings("['*']");
    let without: Vec<&str> = settings.lines().filter(|line| !line.starts_with("hook-secret")).collect();
    let host = HttpHost::configured(&folder, &without.join("\n")).await?;
    assert_eq!(post(&host, "/hooks/reports/count", SECRET, r#"{"name": "tea"}"#).await?.0, 404);
    Ok(())
}
