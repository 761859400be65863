//! `conversations` over MCP: persistence across hosts, and concurrent hosts.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use loggia_tests::{Client, Era, Folder, Raw};
use serde_json::{Value, json};

use super::is_busy;

fn folder() -> Folder {
    super::folder("conversations", "[grants]\nstore = { quota = \"64MiB\" }\n")
}

/// Reads the texts of all messages, page by page from the first.
async fn texts(client: &Client, id: &str) -> Result<Vec<String>> {
    let mut texts = Vec::new();
    let mut call = json!({"action": "get", "conversation": id, "from": 1, "limit": 50, "detail": "full"});
    loop {
        let page = client.envelope("conversations", call.clone()).await?;
        let messages = page["data"]["messages"].as_array().context("messages")?;
        texts.extend(messages.iter().filter_map(|message| message["text"].as_str().map(str::to_owned)));
        match page.get("cursor") {
            Some(cursor) => call["cursor"] = cursor.clone(),
            None => return Ok(texts),
        }
    }
}

/// Removes timestamps.
fn timeless(mut value: Value) -> Value {
    match &mut value {
        Value::Object(members) => members.iter_mut().for_each(|(name, member)| {
            let is_time = matches!(name.as_str(), "at" | "created" | "updated");
            *member = if is_time { json!("(time)") } else { timeless(member.take()) };
        }),
        Value::Array(items) => items.iter_mut().for_each(|item| *item = timeless(item.take())),
        _ => {}
    }
    value
}

#[tokio::test]
async fn a_conversation_outlives_its_host() -> Result<()> {
    let folder = folder();
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    let call = |arguments: Value| client.envelope("conversations", arguments);
    let messages = json!([
        {"role": "user", "text": "Where is the Etna?"},
        {"role": "assistant", "text": "# Etna\n\nIt is a volcano on *Sicily*.\n\n```json\n{\"height\": 3403}\n```"},
    ]);
    let begun = call(json!({"action": "append", "messages": messages})).await?;
    let other = call(json!({"action": "append", "role": "user", "text": "How do I bake bread?"})).await?;
    let more = call(json!({
        "action": "append", "conversation": "c_0001", "role": "tool", "name": "maps", "text": "{\"distance\": 12}",
    }))
    .await?;
    client.end().await?;

    let client = Client::stdio(folder.path(), Era::Stateless).await?;
    let call = |arguments: Value| client.envelope("conversations", arguments);
    let list = call(json!({"action": "list"})).await?;
    let got = call(json!({"action": "get", "conversation": "c_0001"})).await?;
    let found = call(json!({"action": "search", "query": "volcanoes of sicily"})).await?;
    let archived = call(json!({"action": "archive", "conversation": "c_0002"})).await?;
    let left = call(json!({"action": "list", "detail": "minimal"})).await?;
    let missing = call(json!({"action": "get", "conversation": "c_0003"})).await?;
    let all = [begun, other, more, list, got, found, archived, left, missing];
    insta::assert_json_snapshot!(all.map(timeless));
    client.end().await
}

#[tokio::test]
async fn an_export_is_a_resource_to_append() -> Result<()> {
    let folder = folder();
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    let said = json!([{"role": "user", "text": "One?"}, {"role": "assistant", "text": "## 2. user\n> no"}]);
    client.envelope("conversations", json!({"action": "append", "messages": said})).await?;
    let mut exports = Vec::new();
    for format in ["markdown", "json"] {
        let result = client
            .call("conversations", json!({"action": "export", "conversation": "c_0001", "format": format}))
            .await?;
        let blocks = serde_json::to_value(&result.content)?;
        let resource = &blocks[1]["resource"];
        exports.push(resource["text"].as_str().context("no resource")?.to_owned());
        ensure!(
            resource["uri"].as_str().is_some_and(|uri| uri.starts_with("conversations://c_0001.")),
            "{blocks}"
        );
    }
    let heads = exports[0].lines().filter(|line| line.starts_with("## ")).count();
    assert_eq!(heads, 2, "{}", exports[0]);
    let document: Value = serde_json::from_str(&exports[1])?;
    let again = json!({"action": "append", "messages": document["messages"], "title": document["title"]});
    client.envelope("conversations", again).await?;
    assert_eq!(texts(&client, "c_0001").await?, texts(&client, "c_0002").await?);
    client.end().await
}

/// Appends messages one after another, each until it is acknowledged.
async fn append(host: &mut Raw, who: &str, times: usize) -> Result<()> {
    for number in 0..times {
        let text = format!("{who} {number}");
        let call = json!({"action": "append", "conversation": "c_0001", "role": "user", "text": text});
        loop {
            host.call(1, "conversations", &call).await?;
            let told = host.answer().await?;
            let envelope = &told["result"]["structuredContent"];
            if envelope["ok"] == true {
                break;
            }
            ensure!(is_busy(envelope), "{told}");
        }
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_appends_keep_every_message_in_order() -> Result<()> {
    const TIMES: usize = 200;
    let folder = folder();
    let (mut one, mut other) = (Raw::start(folder.path()).await?, Raw::start(folder.path()).await?);
    let begin = json!({"action": "append", "role": "system", "text": "begun"});
    one.call(1, "conversations", &begin).await?;
    one.answer().await?;
    tokio::try_join!(append(&mut one, "ann", TIMES), append(&mut other, "bob", TIMES))?;

    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    let texts = texts(&client, "c_0001").await?;
    assert_eq!(texts.len(), 2 * TIMES + 1);
    let mut by: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (who, number) in texts.iter().filter_map(|text| text.split_once(' ')) {
        by.entry(who).or_default().push(number.parse()?);
    }
    let in_order: Vec<usize> = (0..TIMES).collect();
    assert_eq!(by, BTreeMap::from([("ann", in_order.clone()), ("bob", in_order)]));

    let found =
        client.envelope("conversations", json!({"action": "search", "query": "bob", "limit": 50})).await?;
    assert_eq!(found["count"], 50, "{found}");
    let one =
        client.envelope("conversations", json!({"action": "search", "query": "ann 199", "limit": 1})).await?;
    assert_eq!(one["data"][0]["text"], "ann 199", "{one}");
    let list = client.envelope("conversations", json!({"action": "list"})).await?;
    assert_eq!(list["data"][0]["messages"], 2 * TIMES + 1, "{list}");
    assert_eq!(list["count"], 1, "{list}");
    client.end().await
}
