//! `knowledge` over MCP: documents persist across hosts, also with concurrent hosts.

use std::collections::BTreeSet;

use anyhow::{Result, ensure};
use loggia_tests::{Client, Era, Raw};
use serde_json::{Value, json};

use super::{embeddings, folder, is_busy, meaning};

const STORE: &str = "[grants]\nstore = { quota = \"64MiB\" }\n";
const GUIDE: &str = "# Guide\n\nHow the machine is used.\n\n## Install\n\nPut the water tank in.\n\n\
    ## Use\n\nPress the green button to brew coffee.\n";
const PAGE: &str = "<!doctype html><title>Bread</title><script>if (a < b) {}</script><h1>Bread</h1>\
    <p>Mix flour, water &amp; yeast.<h2>Baking</h2><p>Bake it for forty minutes.";

/// Removes timestamps.
fn timeless(mut envelope: Value) -> Value {
    if let Some(added) = envelope["data"].get_mut("added") {
        *added = json!("(time)");
    }
    envelope
}

/// `k_0001/3` for each passage that was found.
fn places(envelope: &Value) -> Vec<String> {
    let found = envelope["data"].as_array().map(Vec::as_slice).unwrap_or_default().iter();
    found.map(|part| format!("{}/{}", part["id"].as_str().unwrap_or_default(), part["chunk"])).collect()
}

#[tokio::test]
async fn documents_are_found_by_the_next_host() -> Result<()> {
    let folder = folder("knowledge", STORE);
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    let call = |arguments: Value| client.envelope("knowledge", arguments);
    let guide = json!({"action": "add", "text": GUIDE, "source": "docs/guide.md", "tags": ["coffee"]});
    let added = call(guide.clone()).await?;
    let page = call(json!({"action": "add", "text": PAGE, "source": "https://example.com/bread"})).await?;
    let again = call(guide).await?;
    client.end().await?;

    let client = Client::stdio(folder.path(), Era::Stateless).await?;
    let call = |arguments: Value| client.envelope("knowledge", arguments);
    let list = call(json!({"action": "list"})).await?;
    let found = call(json!({"action": "search", "query": "brewing coffee", "limit": 2})).await?;
    let baking = call(json!({"action": "search", "query": "baked flour", "detail": "full"})).await?;
    let got = timeless(call(json!({"action": "get", "id": "k_0001"})).await?);
    let part = call(json!({"action": "get", "id": "k_0001", "chunk": 2})).await?;
    let cut = call(json!({"action": "chunk", "id": "k_0002", "size": 200})).await?;
    let deleted = call(json!({"action": "delete", "id": "k_0002"})).await?;
    let gone = call(json!({"action": "search", "query": "yeast"})).await?;
    let missing = call(json!({"action": "get", "id": "k_0002"})).await?;
    insta::assert_json_snapshot!([
        added, page, again, list, found, baking, got, part, cut, deleted, gone, missing
    ]);
    client.end().await
}

#[tokio::test]
async fn an_endpoint_replaces_the_built_in_model() -> Result<()> {
    let folder = folder("knowledge", STORE);
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    client.envelope("knowledge", json!({"action": "add", "text": GUIDE})).await?;
    let embedded = client.envelope("knowledge", json!({"action": "embed"})).await?;
    assert_eq!(embedded["data"], json!({"embedded": 0, "left": 0}), "{embedded}");
    client.end().await?;

    let web = embeddings().await?;
    folder.write("knowledge.toml", &[STORE, &meaning(&web)].concat());
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    let call = |arguments: Value| client.envelope("knowledge", arguments);
    let told = call(json!({"action": "search", "query": "water"})).await?;
    assert_eq!(told["message"], "3 of 3 passages have no vector yet: `embed` computes them.", "{told}");
    assert_eq!(told["next"]["arguments"]["action"], "embed", "{told}");
    let embedded = call(json!({"action": "embed"})).await?;
    assert_eq!(embedded["data"], json!({"embedded": 3, "left": 0}), "{embedded}");
    // The letters of the second passage, and none of its words.
    let query = "ediug llatsni llatsni tup eht retaw knat ni";
    for (mode, expected) in [("meaning", Some("k_0001/2")), ("hybrid", Some("k_0001/2")), ("words", None)] {
        let found = call(json!({"action": "search", "query": query, "mode": mode})).await?;
        assert_eq!(places(&found).first().map(String::as_str), expected, "{found}");
    }
    client.end().await
}

/// Adds documents of ten passages, one after another, and collects their ids.
async fn add(host: &mut Raw, who: &str, times: u64, ids: &mut BTreeSet<String>) -> Result<()> {
    for number in 0..times {
        let sections: String =
            (0..10).map(|part| format!("## Part {part}\n\nThe {who} thing, number {number}.\n\n")).collect();
        let source = format!("{who}/{number}");
        let add = json!({"action": "add", "text": sections, "source": source});
        let id = loop {
            host.call(number, "knowledge", &add).await?;
            let told = host.answer().await?;
            let envelope = &told["result"]["structuredContent"];
            match envelope["data"]["id"].as_str() {
                Some(id) => break id.to_owned(),
                None => ensure!(is_busy(envelope), "{told}"),
            }
        };
        ids.insert(id);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hosts_that_add_at_once_lose_nothing() -> Result<()> {
    const TIMES: u64 = 40;
    let folder = folder("knowledge", STORE);
    let (mut one, mut other) = (Raw::start(folder.path()).await?, Raw::start(folder.path()).await?);
    let (mut ones, mut others) = (BTreeSet::new(), BTreeSet::new());
    tokio::try_join!(add(&mut one, "one", TIMES, &mut ones), add(&mut other, "other", TIMES, &mut others))?;
    assert_eq!(ones.union(&others).count() as u64, 2 * TIMES, "each has an id of its own");
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    let call = |arguments: Value| client.envelope("knowledge", arguments);
    let list = call(json!({"action": "list", "limit": 100, "detail": "minimal"})).await?;
    assert_eq!(list["count"], 2 * TIMES, "{list}");
    for id in ones.union(&others) {
        let search =
            json!({"action": "search", "query": "thing", "id": id, "limit": 50, "detail": "minimal"});
        let found = call(search).await?;
        assert_eq!(found["count"], 10, "{id}: {found}");
    }
    client.end().await
}

#[tokio::test]
async fn the_largest_documents_fit_into_a_call() -> Result<()> {
    let web = embeddings().await?;
    let folder = folder("knowledge", &[STORE, &meaning(&web)].concat());
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    let call = |arguments: Value| client.envelope("knowledge", arguments);
    let text: String =
        (0..).map(|n| format!("Word{} and {}. ", n % 7919, n * 31 % 9973)).take(40_000).collect();
    let added = call(json!({"action": "add", "text": text[..512 * 1024]})).await?;
    ensure!(added["ok"] == true, "{added}");
    let cut = call(json!({"action": "chunk", "id": "k_0001", "size": 1100, "overlap": 550})).await?;
    ensure!(cut["ok"] == true && cut["total"].as_u64() > Some(800), "{cut}");
    let embedded = call(json!({"action": "embed"})).await?;
    assert_eq!(embedded["data"], json!({"embedded": cut["total"], "left": 0}), "{embedded}");
    let found = call(json!({"action": "search", "query": "word7918"})).await?;
    ensure!(found["count"].as_u64() > Some(0), "{found}");
    let deleted = call(json!({"action": "delete", "id": "k_0001"})).await?;
    ensure!(deleted["ok"] == true, "{deleted}");
    client.end().await
}
