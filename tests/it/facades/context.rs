//! `context` over MCP, with the real facades as its sources.

use anyhow::{Context, Result};
use loggia_tests::{Client, ERAS, Era, Folder, HttpHost};
use serde_json::{Value, json};

use super::add;

const STORE: &str = "[grants]\nstore = true\n";
/// The plugin's own policy.
const POLICY: &str = include_str!("../../../plugins/context/context.toml");
const SOURCES: [&str; 4] = ["conversations", "knowledge", "memories", "projects"];

/// All facades, and one item in each source that concerns Sicily.
async fn world() -> Result<Folder> {
    let folder = Folder::new();
    for name in SOURCES {
        add(&folder, name, STORE);
    }
    add(&folder, "context", POLICY);
    let client = client(&folder, Era::Stateful).await?;
    let memory = json!({"action": "add", "title": "Wants to see Sicily", "body": "In May, by train."});
    client.envelope("memories", memory).await?;
    let text = "# Sicily\n\nAn island.\n\n## Arrival\n\nThe train from Rome goes onto a ferry.\n";
    client.envelope("knowledge", json!({"action": "add", "text": text, "title": "Sicily"})).await?;
    let messages = json!([{"role": "user", "text": "Shall we go to Sicily in May?"}]);
    client.envelope("conversations", json!({"action": "append", "messages": messages})).await?;
    let features = json!([{"title": "Journey", "tasks": [{"title": "Book the train to Sicily"}]}]);
    let epic = json!({"action": "create_epic_complete", "title": "Spring", "features": features});
    client.envelope("projects", epic).await?;
    client.end().await?;
    Ok(folder)
}

/// A client of a host that has loaded all its facades.
async fn client(folder: &Folder, era: Era) -> Result<Client> {
    let client = Client::stdio(folder.path(), era).await?;
    client.names().await?;
    Ok(client)
}

fn trip(budget: usize) -> Value {
    json!({"action": "context", "task": "Plan the trip to Sicily by train", "budget": budget})
}

fn suggestions(envelope: &Value) -> Result<&Vec<Value>> {
    envelope["data"]["suggested_context"].as_array().with_context(|| envelope.to_string())
}

#[tokio::test]
async fn every_suggestion_can_be_read_whole() -> Result<()> {
    let folder = world().await?;
    for era in ERAS {
        let client = client(&folder, era).await?;
        let envelope = client.envelope("context", trip(4000)).await?;
        let mut sources: Vec<&str> = Vec::new();
        for item in suggestions(&envelope)? {
            let get = &item["get"];
            let tool = get["tool"].as_str().context("a tool")?;
            let whole = client.envelope(tool, get["arguments"].clone()).await?;
            assert_eq!(whole["ok"], true, "{era:?}: {item} {whole}");
            sources.push(tool);
        }
        sources.sort_unstable();
        sources.dedup();
        assert_eq!(sources, SOURCES, "{era:?}: {envelope}");
        client.end().await?;
    }
    Ok(())
}

#[tokio::test]
async fn the_budget_holds_for_the_real_count() -> Result<()> {
    let folder = world().await?;
    let client = client(&folder, Era::Stateful).await?;
    for budget in [250, 300, 400, 600, 1000] {
        let envelope = client.envelope("context", trip(budget)).await?;
        let text = format!("{}{}", envelope["data"], envelope["message"]);
        let real = bpe_openai::o200k_base().count(&text);
        assert!(real <= budget, "{real} of {budget}: {envelope}");
        let left: u64 = envelope["data"]["left_out"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|entry| entry["count"].as_u64())
            .sum();
        assert_eq!(left == 0, budget == 1000, "{envelope}");
    }
    client.end().await
}

#[tokio::test]
async fn an_absent_facade_is_named() -> Result<()> {
    let folder = world().await?;
    folder.remove("knowledge.wasm");
    let client = client(&folder, Era::Stateful).await?;
    let envelope = client.envelope("context", trip(2000)).await?;
    insta::assert_json_snapshot!(envelope["data"]["unavailable"]);
    assert_eq!(suggestions(&envelope)?.len(), 3, "{envelope}");
    client.end().await
}

#[tokio::test]
async fn a_persona_outlives_its_host() -> Result<()> {
    let folder = Folder::new();
    add(&folder, "context", POLICY);
    let set = json!({"action": "set_persona", "text": "A patient guide."});
    let host = HttpHost::start(folder.path()).await?;
    let client = Client::http(&host, Era::Stateful).await?;
    client.names_become(&["context"]).await;
    assert_eq!(client.envelope("context", set).await?["data"], "A patient guide.");
    client.end().await?;
    drop(host);
    let host = HttpHost::start(folder.path()).await?;
    let client = Client::http(&host, Era::Stateless).await?;
    client.names_become(&["context"]).await;
    let envelope = client.envelope("context", json!({"action": "persona"})).await?;
    assert_eq!(envelope["data"], "A patient guide.", "{envelope}");
    client.end().await
}
