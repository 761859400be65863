//! `memories`, over MCP.

use std::collections::BTreeSet;

use anyhow::{Result, ensure};
use loggia_tests::{Client, Era, Raw};
use serde_json::{Value, json};

use super::{add as add_plugin, embeddings, folder, is_busy, meaning};

const STORE: &str = "[grants]\nstore = { quota = \"64MiB\" }\n";

/// Titles of a list.
fn titles(envelope: &Value) -> Vec<&str> {
    let data = envelope["data"].as_array().map(Vec::as_slice).unwrap_or_default();
    data.iter().filter_map(|memory| memory["title"].as_str()).collect()
}

#[tokio::test]
async fn memories_are_there_for_the_next_host() -> Result<()> {
    let folder = folder("memories", STORE);
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    let call = |arguments: Value| client.envelope("memories", arguments);
    for (title, body) in [("Prefers tea", "Green."), ("Deploys on Mondays", "Never on Fridays.")] {
        let added = call(json!({"action": "add", "title": title, "body": body})).await?;
        assert_eq!(added["ok"], true, "{added}");
    }
    call(json!({"action": "link", "id": "m_0001", "to": "m_0002", "relation": "has nothing to do with"}))
        .await?;
    call(json!({"action": "pin", "id": "m_0001"})).await?;
    client.end().await?;

    let client = Client::stdio(folder.path(), Era::Stateless).await?;
    let call = |arguments: Value| client.envelope("memories", arguments);
    assert_eq!(titles(&call(json!({"action": "list"})).await?), ["Prefers tea", "Deploys on Mondays"]);
    let found = call(json!({"action": "search", "query": "deployment", "detail": "minimal"})).await?;
    assert_eq!(found["data"], json!([{"id": "m_0002", "title": "Deploys on Mondays"}]), "{found}");
    let missing = call(json!({"action": "get", "id": "m_0003"})).await?;
    insta::assert_json_snapshot!(missing);
    client.end().await
}

#[tokio::test]
async fn an_endpoint_replaces_the_built_in_model() -> Result<()> {
    let folder = folder("memories", STORE);
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    client.envelope("memories", json!({"action": "add", "title": "tea time"})).await?;
    client.envelope("memories", json!({"action": "add", "title": "boiler was serviced"})).await?;
    let near =
        client.envelope("memories", json!({"action": "search", "query": "heating maintenance"})).await?;
    insta::assert_json_snapshot!(near);
    client.envelope("memories", json!({"action": "delete", "id": "m_0002"})).await?;
    client.end().await?;

    let web = embeddings().await?;
    folder.write("memories.toml", &[STORE, &meaning(&web)].concat());
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    let call = |arguments: Value| client.envelope("memories", arguments);
    call(json!({"action": "add", "title": "quick fox"})).await?;
    let told = call(json!({"action": "search", "query": "meat it"})).await?;
    assert_eq!(told["message"], "Without a vector: 1. `embed` computes it.", "{told}");
    let embedded = call(json!({"action": "embed"})).await?;
    assert_eq!(embedded["data"], json!({"embedded": 1, "left": 0}), "{embedded}");
    let found = call(json!({"action": "search", "query": "meat it"})).await?;
    assert_eq!(titles(&found), ["tea time"], "{found}");
    assert_eq!(
        titles(&call(json!({"action": "search", "query": "meat it", "mode": "words"})).await?),
        [""; 0]
    );
    client.end().await
}

/// Adds memories with some calls in flight; the ids that were given.
async fn add(host: &mut Raw, who: &str, times: u64, ids: &mut BTreeSet<String>) -> Result<()> {
    const WINDOW: u64 = 8;
    let (mut id, mut open) = (0, 0);
    while (ids.len() as u64) < times {
        while open < WINDOW && ids.len() as u64 + open < times {
            id += 1;
            open += 1;
            let title = format!("The {who} thing, number {id}");
            host.call(id, "memories", &json!({"action": "add", "title": title, "tags": [who]})).await?;
        }
        let told = host.answer().await?;
        let envelope = &told["result"]["structuredContent"];
        open -= 1;
        ensure!(envelope["ok"] == true || is_busy(envelope), "{told}");
        ids.extend(envelope["data"]["id"].as_str().map(str::to_owned));
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hosts_that_add_at_once_lose_nothing() -> Result<()> {
    const TIMES: u64 = 150;
    let folder = folder("memories", STORE);
    let (mut one, mut other) = (Raw::start(folder.path()).await?, Raw::start(folder.path()).await?);
    let (mut ones, mut others) = (BTreeSet::new(), BTreeSet::new());
    tokio::try_join!(add(&mut one, "one", TIMES, &mut ones), add(&mut other, "other", TIMES, &mut others))?;
    assert_eq!(ones.union(&others).count() as u64, 2 * TIMES, "each has an id of its own");
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    for who in ["one", "other"] {
        let search = json!({"action": "search", "query": "thing number", "tag": who, "limit": 100, "detail": "minimal"});
        assert_eq!(titles(&client.envelope("memories", search).await?).len(), 100);
        let list = json!({"action": "list", "tag": who, "limit": 200, "detail": "minimal"});
        assert_eq!(titles(&client.envelope("memories", list).await?).len() as u64, TIMES);
    }
    client.end().await
}

#[tokio::test]
async fn a_graph_file_is_imported_through_files() -> Result<()> {
    let folder = folder("memories", &[STORE, "invoke = [\"files:get\"]\n"].concat());
    let notes = folder.beside("notes");
    let dirs = format!("[grants]\ndirs = [{{ path = {notes:?}, at = \"/notes\", access = \"read\" }}]\n");
    add_plugin(&folder, "files", &dirs);
    let lines = [
        json!({"type": "entity", "name": "Ann", "entityType": "Person", "observations": ["Likes tea"]}),
        json!({"type": "entity", "name": "Acme", "entityType": "company", "observations": []}),
        json!({"type": "relation", "from": "Ann", "to": "Acme", "relationType": "works at"}),
        json!({"type": "relation", "from": "Ann", "to": "Bob", "relationType": "knows"}),
    ];
    // More than one part of `files.get`, cut in the middle of a line.
    let padding = " ".repeat(70_000);
    std::fs::write(notes.join("memory.jsonl"), lines.map(|line| format!("{line}{padding}\n")).concat())?;
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    let call = |arguments: Value| client.envelope("memories", arguments);
    let import = json!({"action": "import", "path": "/notes/memory.jsonl"});
    let first = call(import.clone()).await?;
    let skipped = json!([{"line": 4, "why": "no memory has the title \"Bob\""}]);
    let counts = json!({"added": 2, "changed": 0, "linked": 1, "unchanged": 0, "skipped": skipped});
    assert_eq!(first["data"], counts, "{first}");
    let second = call(import).await?;
    let counts = json!({"added": 0, "changed": 0, "linked": 0, "unchanged": 3, "skipped": skipped});
    assert_eq!(second["data"], counts, "{second}");
    call(json!({"action": "update", "id": "m_0001", "append": "Plays jazz"})).await?;
    let graph = call(json!({"action": "graph", "query": "jazz", "detail": "full"})).await?;
    let expected = json!({
        "nodes": [
            {"id": "m_0001", "title": "Ann", "kind": "person", "body": "Likes tea\nPlays jazz"},
            {"id": "m_0002", "title": "Acme", "kind": "company"},
        ],
        "edges": [{"from": "m_0001", "relation": "works at", "to": "m_0002"}],
    });
    assert_eq!(graph["data"], expected, "{graph}");
    call(json!({"action": "link", "id": "m_0001", "to": "m_0002", "linked": false})).await?;
    let alone = call(json!({"action": "graph", "id": "m_0001"})).await?;
    assert_eq!(alone["data"]["edges"], json!([]), "{alone}");
    client.end().await?;

    // Without the grant, `text` is the way.
    folder.write("memories.toml", STORE);
    let client = Client::stdio(folder.path(), Era::Stateless).await?;
    let call = |arguments: Value| client.envelope("memories", arguments);
    let denied = call(json!({"action": "import", "path": "/notes/memory.jsonl"})).await?;
    assert_eq!(denied["code"], "denied", "{denied}");
    let line = json!({"type": "entity", "name": "Bob", "entityType": "person", "observations": []});
    let added = call(json!({"action": "import", "text": line.to_string()})).await?;
    assert_eq!(added["data"]["added"], 1, "{added}");
    client.end().await
}
