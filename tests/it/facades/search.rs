//! `search` over MCP, with the real facades and a loopback server for embeddings.

use std::fs;

use anyhow::Result;
use loggia_tests::{Client, Era, Folder};
use serde_json::{Value, json};

use super::{add, embeddings, meaning};

const STORE: &str = "[grants]\nstore = true\n";

/// The plugin's own policy, which grants all four.
const ALL: &str = "[grants]\n\
    invoke = [\"memories:search\", \"knowledge:search\", \"conversations:search\", \"files:search\"]\n";

/// Creates one memory, document, conversation and file each, and a text that two of them contain.
async fn world() -> Result<Folder> {
    let folder = Folder::new();
    let notes = folder.beside("notes");
    fs::write(notes.join("trip.md"), "# Trip\n\n- see the volcano Etna\n- buy bread\n")?;
    fs::write(notes.join("other.md"), "Nothing of the kind.\n")?;
    add(&folder, "memories", STORE);
    add(&folder, "knowledge", STORE);
    add(&folder, "conversations", STORE);
    add(
        &folder,
        "files",
        &format!("[grants]\ndirs = [{{ path = {notes:?}, at = \"/notes\", access = \"read\" }}]\n"),
    );
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    let memory = json!({"action": "add", "title": "Wants to see a volcano", "body": "The Etna, in May."});
    client.envelope("memories", memory).await?;
    let text = "# Sicily\n\nAn island.\n\n## Volcanoes\n\nThe highest one is the Etna, above Catania.\n";
    let document = json!({"action": "add", "text": text, "source": "https://example.com/sicily.md"});
    client.envelope("knowledge", document).await?;
    let said = json!([
        {"role": "user", "text": "How do we get to the Etna?"},
        {"role": "assistant", "text": "See the volcano Etna."},
        {"role": "user", "text": "And where do we eat?"},
    ]);
    client
        .envelope("conversations", json!({"action": "append", "messages": said, "title": "A trip"}))
        .await?;
    client.end().await?;
    Ok(folder)
}

/// A client of a host that has all its facades: a list waits for them, a call only for its own.
async fn ready(folder: &Folder) -> Result<Client> {
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    client.names().await?;
    Ok(client)
}

/// Scores are the ranking's own affair.
fn scoreless(mut found: Value) -> Value {
    for hit in found["data"].as_array_mut().into_iter().flatten() {
        let score = hit["score"].take().as_f64().unwrap_or_default();
        assert!(score > 0.0 && score <= 1.0, "{hit}");
    }
    found
}

#[tokio::test]
async fn all_facades_are_searched_as_one() -> Result<()> {
    let folder = world().await?;
    add(&folder, "search", ALL);
    let client = ready(&folder).await?;
    let found = client.envelope("search", json!({"query": "Etna volcanoes"})).await?;
    insta::assert_json_snapshot!(scoreless(found));

    // Each hit can be opened by its own call.
    let full = json!({"action": "hybrid", "query": "Etna volcanoes", "detail": "full"});
    let full = client.envelope("search", full).await?;
    let hits = full["data"].as_array().map(Vec::as_slice).unwrap_or_default();
    assert!(hits.len() >= 4, "{full}");
    for hit in hits {
        let open = &hit["open"];
        let call = json!({"action": open["action"], "params": open["params"]});
        let opened = client.envelope(open["tool"].as_str().unwrap_or_default(), call).await?;
        assert_eq!(opened["ok"], true, "{hit} {opened}");
    }
    client.end().await
}

#[tokio::test]
async fn ungranted_and_missing_sources_are_skipped() -> Result<()> {
    let folder = world().await?;
    add(&folder, "search", "[grants]\ninvoke = [\"memories:search\", \"knowledge:get\", \"files:search\"]\n");
    folder.remove("memories.wasm");
    let client = ready(&folder).await?;
    let found = client.envelope("search", json!({"query": "Etna"})).await?;
    insta::assert_json_snapshot!(scoreless(found));
    client.end().await?;

    folder.write("search.toml", "");
    let client = ready(&folder).await?;
    let denied = client.envelope("search", json!({"action": "hybrid", "query": "etna"})).await?;
    insta::assert_json_snapshot!(denied);
    client.end().await
}

#[tokio::test]
async fn meaning_puts_all_sources_on_one_scale() -> Result<()> {
    let folder = world().await?;
    let web = embeddings().await?;
    add(&folder, "search", &[ALL, &meaning(&web)].concat());
    let client = ready(&folder).await?;
    // By letters, this is closest to the first message.
    let call = json!({"action": "semantic", "query": "how to get to the Etna we do?", "sources": ["conversations", "files"]});
    let found = client.envelope("search", call).await?;
    assert_eq!(found["data"][0]["text"], "How do we get to the Etna?", "{found}");
    let scores: Vec<f64> =
        found["data"].as_array().into_iter().flatten().filter_map(|hit| hit["score"].as_f64()).collect();
    assert!(scores.len() > 1 && scores.is_sorted_by(|a, b| a >= b), "{found}");
    assert_eq!(web.asked().len(), 1);

    let mixed = client.envelope("search", json!({"action": "hybrid", "query": "Etna"})).await?;
    assert_eq!(mixed["ok"], true, "{mixed}");
    assert_eq!(web.asked().len(), 2);
    client.end().await
}
