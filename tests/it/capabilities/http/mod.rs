//! Outgoing requests of a guest: only the policy decides.

mod addresses;
mod grants;
mod limits;
mod secrets;

use anyhow::Result;
use loggia_tests::{
    Client, Era, Folder,
    web::{Answer, Asked},
};
use serde_json::{Value, json};

/// Starts a host whose only plugin sends requests under this policy.
async fn host(policy: &str) -> Result<(Folder, Client)> {
    let folder = folder(policy);
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    // A policy that cannot be used would refuse everything.
    let told = client.envelope("reaches", json!({"action": "whoami"})).await?;
    anyhow::ensure!(told["ok"] == true, "{told}");
    Ok((folder, client))
}

fn folder(policy: &str) -> Folder {
    let folder = Folder::with(&["reaches"]);
    folder.write("reaches.toml", policy);
    folder
}

fn granting(http: &[impl std::fmt::Debug]) -> String {
    format!("[grants]\nhttp = {http:?}\n")
}

/// Sends one request through an action; `more` holds further arguments.
async fn ask(client: &Client, action: &str, url: &str, more: Value) -> Result<Value> {
    let Value::Object(mut arguments) = more else { unreachable!("arguments are an object") };
    arguments.extend([("action".to_owned(), json!(action)), ("url".to_owned(), json!(url))]);
    client.envelope("reaches", arguments.into()).await
}

async fn fetch(client: &Client, url: &str) -> Result<Value> {
    ask(client, "fetch", url, json!({})).await
}

/// Checks the error code and part of the hint.
#[track_caller]
fn fails(told: &Value, code: &str, hint: &str) {
    assert_eq!((&told["ok"], &told["code"]), (&json!(false), &json!(code)), "{told}");
    let found = told["hint"].as_str().unwrap_or_default();
    assert!(found.contains(hint), "the hint does not hold {hint:?}: {told}");
}

#[track_caller]
fn answers(told: &Value, status: u16) {
    assert_eq!(told["data"]["status"], status, "{told}");
}

fn page(_: &Asked) -> Answer {
    Answer::Plain(200, vec![("x-shelf", "top".into())], b"a page".to_vec())
}
