//! The workflows of `plugins/brief.workflow.yaml` over MCP, with the real facades that they call.

use anyhow::Result;
use loggia_tests::{Client, Era, Folder, Kind, accepted};
use serde_json::{Value, json};

use super::add;

const BRIEF: &str = include_str!("../../../plugins/brief.workflow.yaml");

fn world(facades: &[&str]) -> Folder {
    let folder = Folder::new();
    for facade in facades {
        add(&folder, facade, "[grants]\nstore = true\n");
    }
    folder.write("brief.workflow.yaml", BRIEF);
    folder
}

async fn remember(client: &Client, title: &str) -> Result<Value> {
    client.envelope("memories", json!({"action": "add", "title": title})).await
}

#[tokio::test]
async fn a_topic_is_gathered_from_all_stores() -> Result<()> {
    let folder = world(&["memories", "knowledge", "conversations"]);
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    remember(&client, "Etna is a volcano").await?;
    let document =
        json!({"action": "add", "title": "Volcanoes", "text": "Etna erupts often. Stromboli does too."});
    client.envelope("knowledge", document).await?;
    let said = json!({"action": "append", "role": "user", "text": "Let us climb Etna."});
    client.envelope("conversations", said).await?;
    let gathered = client.envelope("brief", json!({"action": "gather", "topic": "Etna", "limit": 3})).await?;
    insta::assert_json_snapshot!("gathered", gathered);
    client.end().await
}

/// A failing facade is skipped; a missing one prevents the workflow from running.
#[tokio::test]
async fn unsearchable_sources_are_reported() -> Result<()> {
    let folder = world(&["memories", "knowledge"]);
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    let refused = client.envelope("brief", json!({"action": "gather", "topic": "Etna"})).await?;
    let said = "`gather` is unavailable: step `said`: `conversations` is unavailable: it is not served now";
    assert_eq!((&refused["code"], &refused["error"]), (&json!("unavailable"), &json!(said)));
    client.end().await
}

#[tokio::test]
async fn a_memory_is_archived_if_the_person_agrees() -> Result<()> {
    for era in [Era::Stateful, Era::Stateless] {
        for agrees in [true, false] {
            let folder = world(&["memories"]);
            let person = Kind::person([accepted(json!({"archive": agrees}))]);
            let client = Client::stdio_as(folder.path(), era, person).await?;
            remember(&client, "Etna is a volcano").await?;
            let tidied = client.envelope("brief", json!({"action": "tidy", "topic": "volcano"})).await?;
            assert_eq!(tidied["data"], json!({"archived": agrees}), "{era:?}: {tidied}");
            let left = client.envelope("memories", json!({"action": "list"})).await?;
            assert_eq!(left["count"], json!(usize::from(!agrees)), "{era:?}: {left}");
            client.end().await?;
        }
    }
    Ok(())
}
