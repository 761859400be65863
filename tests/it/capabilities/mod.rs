//! Grants of a policy, tested with the real process: each capability with and without its grant.

mod callers;
mod dirs;
mod hoards;
mod http;
mod nested;
mod plain;
mod roots;
mod state;

use anyhow::Result;
use loggia_tests::{Client, Era, Folder};
use serde_json::Value;

/// Makes one call under a policy; only the fixture is served.
async fn under(fixture: &str, policy: &str, arguments: Value) -> Result<Value> {
    let folder = Folder::with(&[fixture]);
    folder.write(&format!("{fixture}.toml"), policy);
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    let told = client.envelope(fixture, arguments).await?;
    client.end().await?;
    Ok(told)
}

/// A failure's code, text and hint, or its data.
fn said(told: &Value) -> String {
    if told["ok"] == true {
        return told["data"].to_string();
    }
    let hint = told["hint"].as_str().map(|hint| format!(" ({hint})")).unwrap_or_default();
    format!(
        "{}: {}{hint}",
        told["code"].as_str().unwrap_or_default(),
        told["error"].as_str().unwrap_or_default()
    )
}
