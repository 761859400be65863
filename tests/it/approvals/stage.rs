//! A folder whose action needs consent, and what an operator does.

use std::{path::Path, process::Output};

use anyhow::{Context, Result, ensure};
use base64::{Engine, prelude::BASE64_STANDARD};
use hmac::{Hmac, KeyInit, Mac};
use loggia_tests::{Client, Folder, Served, Token, binary, eventually, state};
use serde_json::{Value, json};
use sha2::Sha256;
use tokio::process::Command;

/// Policy of an action that needs a person's consent.
pub(crate) const CONFIRM: &str = "[actions]\nconfirm = [\"work\"]\n";
/// Secret of the webhook.
pub(crate) const SECRET: &str = "a secret of at least 24 characters";

/// A folder with the plugin `worker`, whose action `work` needs consent.
pub(crate) fn folder() -> Folder {
    let folder = Folder::with(&["worker"]);
    folder.write("worker.toml", CONFIRM);
    folder
}

/// A call that needs consent.
pub(crate) fn work() -> Value {
    // What a model says of consent has no weight.
    json!({"action": "work", "steps": 2, "key": "hush", "confirm": true})
}

/// Makes a call that waits for its approval; the handle of its run, and the approval.
pub(crate) async fn park(client: &Client, tool: &str, arguments: Value) -> Result<(String, String)> {
    let begun = client.envelope(tool, arguments).await?;
    let run = &begun["data"]["run"];
    ensure!(run["status"] == "waiting", "{begun}");
    let text = run["waiting_for"][0].as_str().with_context(|| format!("no approval: {begun}"))?;
    let approval = text.split("(approval ").nth(1).and_then(|rest| rest.strip_suffix(')'));
    let approval = approval.with_context(|| format!("no approval: {text}"))?;
    Ok((run["id"].as_str().context("a handle")?.to_owned(), approval.to_owned()))
}

/// Waits for the end of a run; the run.
pub(crate) async fn ended(client: &Client, tool: &str, run: &str) -> Result<Value> {
    let status = json!({"action": "run_status", "run_id": run, "wait": true});
    Ok(client.envelope(tool, status).await?["data"]["run"].clone())
}

/// Runs `loggia approvals` on the state of a folder.
pub(crate) async fn operator(folder: &Path, words: &[&str]) -> Result<Output> {
    let mut command = Command::new(binary());
    command.arg("approvals").args(words).env("LOGGIA_STATE", state(folder)).env("USER", "olga");
    Ok(command.output().await?)
}

/// An approval, as the command line shows it.
pub(crate) async fn shown(folder: &Path, id: &str) -> Result<Value> {
    let output = operator(folder, &["show", id]).await?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Waits until an approval has this state.
pub(crate) async fn becomes(folder: &Path, id: &str, expected: &str) -> Value {
    eventually(async || match shown(folder, id).await {
        Ok(shown) if shown["state"] == expected => Ok(shown),
        other => Err(format!("not {expected}: {other:?}")),
    })
    .await
}

/// A request to the admin listener with these headers; status and body.
pub(crate) async fn ask(
    served: &Served,
    method: &str,
    path: &str,
    headers: &str,
    body: &str,
) -> Result<(u16, Value)> {
    let length = body.len();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: {}\r\n{headers}Content-Length: {length}\r\n\r\n{body}",
        served.admin
    );
    let (status, _, body) = served.ask(&request).await?;
    Ok((status, serde_json::from_str(&body).unwrap_or(Value::Null)))
}

/// A host with an admin token, and more settings.
pub(crate) async fn serve(folder: &Folder, more: &str) -> Result<(Served, Token)> {
    let token = Token::new("operators", &["*"]).await?;
    let hash = token.toml.lines().find_map(|line| line.strip_prefix("hash = ")).context("a hash")?.to_owned();
    let settings = format!("{more}\n[admin]\nlisten = \"127.0.0.1:0\"\ntoken = {hash}\n");
    Ok((Served::configured(folder, &settings, &[]).await?, token))
}

/// The signature of Standard Webhooks.
pub(crate) fn signature(id: &str, at: u64, body: &[u8], secret: &str) -> String {
    let mut keyed = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("any length");
    keyed.update(format!("{id}.{at}.").as_bytes());
    keyed.update(body);
    format!("v1,{}", BASE64_STANDARD.encode(keyed.finalize().into_bytes()))
}

/// Headers of a message that is signed now.
pub(crate) fn signed(id: &str, body: &str, secret: &str) -> String {
    let at = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a clock").as_secs();
    let signature = signature(id, at, body.as_bytes(), secret);
    format!("webhook-id: {id}\r\nwebhook-timestamp: {at}\r\nwebhook-signature: {signature}\r\n")
}
