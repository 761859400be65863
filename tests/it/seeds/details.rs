//! Seed 004, second half: replies with the requested level of detail.

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::stage::{Stage, check, result};

fn memories() -> Stage {
    Stage::with(&["memories_lite"])
}

fn add(title: &str, body: &str) -> Value {
    json!({"cmd": "add", "params": {"title": title, "body": body, "tags": ["t"]}})
}

#[tokio::test]
async fn a_memory_is_added_found_changed_and_forgotten() -> Result<()> {
    let stage = memories();
    let client = stage.client().await?;
    let of = |cmd: &str| json!({"cmd": cmd, "params": {"id": "m_1"}});
    let update = json!({"cmd": "update", "detail": "full", "params": {"id": "m_1", "body": "Buy two."}});
    let calls = [
        (
            add("Milk", "Buy some."),
            json!({"ok": true, "cmd": "add", "data": {"id": "m_1", "excerpt": "Buy some."}}),
        ),
        (of("get"), json!({"cmd": "get", "data": {"title": "Milk"}})),
        (json!({"cmd": "search", "params": {"query": "milk"}}), json!({"count": 1})),
        (update, json!({"data": {"body": "Buy two.", "history": ["added", "updated"]}})),
        (of("delete"), json!({"ok": true, "cmd": "delete"})),
        (of("get"), json!({"ok": false, "cmd": "get", "code": "not_found"})),
        (json!({"cmd": "list"}), json!({"ok": true, "data": [], "count": 0})),
    ];
    check(&client, "memories", calls).await?;
    client.end().await
}

#[tokio::test]
async fn replies_follow_the_requested_detail() -> Result<()> {
    let stage = memories();
    let client = stage.client().await?;
    client.envelope("memories", add("Milk", &"Buy some milk, and then some more. ".repeat(20))).await?;
    let (minimal, standard) = (vec!["id", "title"], vec!["id", "title", "excerpt", "tags"]);
    let full = vec!["id", "title", "excerpt", "tags", "body", "history"];
    for (more, expected) in [
        (json!({"detail": "minimal"}), &minimal),
        (json!({"params": {"detail": "minimal"}}), &minimal),
        (json!({}), &standard),
        (json!({"detail": "standard"}), &standard),
        (json!({"detail": "full"}), &full),
    ] {
        let mut sizes = Vec::new();
        for (cmd, params) in
            [("list", json!({})), ("search", json!({"query": "milk"})), ("get", json!({"id": "m_1"}))]
        {
            let mut call = json!({"cmd": cmd, "params": params});
            for (key, value) in more.as_object().into_iter().flatten() {
                match value.as_object() {
                    Some(inner) => call[key].as_object_mut().context("params")?.extend(inner.clone()),
                    None => call[key] = value.clone(),
                }
            }
            let told = client.envelope("memories", call.clone()).await?;
            let one = if cmd == "get" { &told["data"] } else { &told["data"][0] };
            let members: Vec<&String> = one.as_object().context("a memory")?.keys().collect();
            assert_eq!(members, *expected, "{call}");
            sizes.push(told.to_string().len());
        }
        assert!(sizes.iter().all(|size| (*size > 500) == (*expected == full)), "{more}: {sizes:?}");
    }
    let wrong = json!({"cmd": "list", "detail": "tiny"});
    let error = "`detail` must be one of minimal, standard, full (got \"tiny\")";
    check(&client, "memories", [(wrong, json!({"error": error}))]).await?;
    client.end().await
}

#[tokio::test]
async fn a_search_ranks_and_obeys_its_limit() -> Result<()> {
    let stage = memories();
    let client = stage.client().await?;
    for (title, body) in [("Tea", "Buy green tea."), ("Milk", "Buy oat milk."), ("Walk", "In the park.")] {
        client.envelope("memories", add(title, body)).await?;
    }
    let search = |top_k: u32| json!({"cmd": "search", "params": {"query": "oat milk buy", "top_k": top_k}});
    let (tea, milk) = (json!({"id": "m_1", "title": "Tea"}), json!({"id": "m_2", "title": "Milk"}));
    for (top_k, found) in [(5, json!([milk, tea])), (1, json!([milk]))] {
        let mut call = search(top_k);
        call["detail"] = "minimal".into();
        let told = client.envelope("memories", call).await?;
        assert_eq!((&told["data"], &told["count"]), (&found, &json!(found.as_array().map(Vec::len))));
    }
    client.end().await
}

#[tokio::test]
async fn replies_hold_only_requested_data() -> Result<()> {
    let stage = memories();
    let client = stage.client().await?;
    client.envelope("memories", add("Milk", "Buy some.")).await?;
    // Nothing that a client could put into the conversation by itself.
    let (resources, prompts) =
        (client.service.list_all_resources().await?, client.service.list_all_prompts().await?);
    assert!(resources.is_empty() && prompts.is_empty(), "{resources:?} {prompts:?}");
    let told = result(&client, "memories", json!({"cmd": "search", "params": {"query": "tea"}})).await?;
    assert_eq!(told["content"].as_array().map(Vec::len), Some(1), "{told}");
    assert_eq!(told["structuredContent"]["data"], json!([]), "what does not fit is not brought up");
    client.end().await
}
