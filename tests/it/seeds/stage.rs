//! Shared helpers: a folder of plugins, a data directory, and checks of results.

use anyhow::{Context, Result};
use loggia_tests::{Client, ERAS, Era, Folder, HttpHost};
use serde_json::{Value, json};

/// Plugins and a data directory elsewhere, since no grant may contain the plugin folder.
pub struct Stage {
    /// The plugins.
    pub plugins: Folder,
    kept: Folder,
}

impl Stage {
    /// These fixtures. Each has the directory as `/data`.
    pub fn with(names: &[&str]) -> Self {
        let stage = Self { plugins: Folder::with(names), kept: Folder::new() };
        names.iter().for_each(|name| stage.policy(name, "", ""));
        stage
    }

    /// Writes a plugin's policy: further grants and further tables.
    pub fn policy(&self, name: &str, grants: &str, tables: &str) {
        let kept = format!(
            "dirs = [{{ path = '{}', at = \"/data\", access = \"read-write\" }}]",
            self.kept.path().display()
        );
        self.plugins.write(&format!("{name}.toml"), &format!("[grants]\n{kept}\n{grants}\n{tables}\n"));
    }

    /// A client on stdio that does the handshake.
    pub async fn client(&self) -> Result<Client> {
        self.client_in(Era::Stateful).await
    }

    /// A client on stdio.
    pub async fn client_in(&self, era: Era) -> Result<Client> {
        Client::stdio(self.plugins.path(), era).await
    }

    /// A host on HTTP.
    pub async fn host(&self) -> Result<HttpHost> {
        HttpHost::start(self.plugins.path()).await
    }

    /// Connects a client for each transport and lifecycle, with a label.
    pub async fn clients(&self, host: &HttpHost) -> Result<Vec<(String, Client)>> {
        let mut clients = Vec::new();
        for era in ERAS {
            clients.push((format!("stdio {era:?}"), self.client_in(era).await?));
            clients.push((format!("http {era:?}"), Client::http(host, era).await?));
        }
        Ok(clients)
    }

    /// The tools, as a client sees them.
    pub async fn tools(&self) -> Result<Vec<Value>> {
        let client = self.client().await?;
        let tools = tools(&client).await?;
        client.end().await?;
        Ok(tools)
    }
}

/// The tools, as a client sees them.
pub async fn tools(client: &Client) -> Result<Vec<Value>> {
    let tools = client.service.list_all_tools().await?;
    tools.into_iter().map(|tool| Ok(serde_json::to_value(tool)?)).collect()
}

/// A whole result, as it goes over the wire.
pub async fn result(client: &Client, tool: &str, arguments: Value) -> Result<Value> {
    Ok(serde_json::to_value(client.call(tool, arguments).await?)?)
}

/// Run id of an envelope.
pub fn run_id(envelope: &Value) -> Result<String> {
    Ok(envelope["data"]["run"]["id"].as_str().with_context(|| format!("no run in {envelope}"))?.to_owned())
}

/// Polls a run until it has ended.
pub async fn ended(client: &Client, tool: &str, id: &str) -> Result<Value> {
    let status = json!({"action": "run_status", "run_id": id, "wait": true});
    Ok(client.envelope(tool, status).await?["data"]["run"].clone())
}

/// Tests recursively whether a value contains all members of another.
pub fn holds(value: &Value, expected: &Value) -> bool {
    match (value, expected) {
        (Value::Object(value), Value::Object(expected)) => {
            expected.iter().all(|(key, expected)| value.get(key).is_some_and(|value| holds(value, expected)))
        }
        (value, expected) => value == expected,
    }
}

/// Makes calls and checks that each answer contains the expected members.
///
/// # Panics
///
/// If an answer does not.
pub async fn check(
    client: &Client,
    tool: &str,
    calls: impl IntoIterator<Item = (Value, Value)>,
) -> Result<()> {
    for (call, expected) in calls {
        let envelope = client.envelope(tool, call.clone()).await?;
        assert!(holds(&envelope, &expected), "{call}: {envelope} does not hold {expected}");
    }
    Ok(())
}

/// Text of a member; empty if it is missing.
pub fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}
