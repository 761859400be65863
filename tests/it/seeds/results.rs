//! Seed 000, its second half: lists and messages, several steps in one call, and rights.

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::stage::{Stage, check, text};

fn projects() -> Stage {
    Stage::with(&["projects"])
}

#[tokio::test]
async fn results_have_message_data_and_page() -> Result<()> {
    let stage = projects();
    let client = stage.client().await?;
    for n in 1..=5 {
        let made = client.envelope("projects", json!({"action": "create", "name": format!("n{n}")})).await?;
        assert_eq!(made["message"], "The project was created.");
        assert_eq!(made["data"]["id"], format!("p_{n}"));
    }
    let (mut names, mut cursor) = (Vec::new(), Value::Null);
    for count in [2, 2, 1] {
        let page = json!({"action": "list", "limit": 2, "cursor": cursor});
        let page = client.envelope("projects", page).await?;
        assert_eq!((&page["count"], &page["total"]), (&json!(count), &json!(5)), "{page}");
        assert_eq!(page["message"], "There are 5 projects.");
        names.extend(page["data"].as_array().context("a list")?.iter().map(|p| text(p, "name").to_owned()));
        cursor = page["cursor"].clone();
    }
    assert_eq!(cursor, Value::Null, "the last page has none");
    assert_eq!(names, ["n1", "n2", "n3", "n4", "n5"]);
    client.end().await
}

#[tokio::test]
async fn a_hierarchy_is_created_atomically() -> Result<()> {
    let stage = projects();
    let client = stage.client().await?;
    let all = |drafts: Value| json!({"action": "create_all", "drafts": drafts});
    let refused = [
        (json!([{"name": "a"}, {"name": "b", "after": 1}]), "`drafts[1].after` must be the index"),
        (json!([{"name": "a"}, {"name": ""}]), "`drafts[1].name` must not be empty"),
    ];
    for (drafts, error) in refused {
        let told = client.envelope("projects", all(drafts)).await?;
        assert!(text(&told, "error").starts_with(error), "{told}");
        let listed = client.envelope("projects", json!({"action": "list"})).await?;
        assert_eq!(listed["total"], 0, "none of them was made");
    }
    let drafts = json!([{"name": "a"}, {"name": "b", "after": 0}, {"name": "c", "after": 1}]);
    let made = client.envelope("projects", all(drafts)).await?;
    let told: Vec<(&str, &Value)> =
        made["data"].as_array().context("a list")?.iter().map(|p| (text(p, "id"), &p["after"])).collect();
    assert_eq!(told, [("p_1", &Value::Null), ("p_2", &json!("p_1")), ("p_3", &json!("p_2"))]);
    client.end().await
}

#[tokio::test]
async fn completion_validates_and_lists_open_items() -> Result<()> {
    let stage = projects();
    let client = stage.client().await?;
    let drafts = json!([{"name": "a"}, {"name": "b", "after": 0}]);
    let complete = |id: &str| json!({"action": "complete", "id": id});
    let open = json!({"ok": false, "code": "conflict", "details": {"open": ["p_1"]},
        "next": {"tool": "projects", "arguments": complete("p_1")}});
    let calls = [
        (json!({"action": "create_all", "drafts": drafts}), json!({"count": 2})),
        (complete("p_2"), open),
        (json!({"action": "get", "id": "p_2"}), json!({"data": {"done": false}})),
        // A task without dependencies needs no checks.
        (complete("p_1"), json!({"data": {"done": true}})),
        (complete("p_2"), json!({"data": {"done": true}})),
    ];
    check(&client, "projects", calls).await?;
    client.end().await
}

#[tokio::test]
async fn batches_are_checked_before_any_call_runs() -> Result<()> {
    let stage = projects();
    stage.policy("projects", "", "[actions]\nbatch = true");
    let client = stage.client().await?;
    let batch = |items: Value| json!({"action": "batch", "items": items});
    let make = |name: &str| json!({"action": "create", "name": name});
    let calls = [
        (batch(json!([make("a"), {"action": "create"}])), json!({"error": "`items[1]`: `name` is required"})),
        (json!({"action": "list"}), json!({"total": 0})),
        (batch(json!([make("a"), make("b"), make("c")])), json!({"ok": true, "count": 3})),
        (json!({"action": "list"}), json!({"total": 3})),
    ];
    check(&client, "projects", calls).await?;
    client.end().await
}

#[tokio::test]
async fn actions_of_other_rights_can_be_separate() -> Result<()> {
    let stage = projects();
    stage.policy("projects", "", "[expose]\nsplit = \"effect\"\n[actions]\ndeny = [\"delete\"]");
    let client = stage.client().await?;
    client.names_become(&["projects", "projects_write"]).await;
    let make = json!({"action": "create", "name": "n"});
    check(
        &client,
        "projects",
        [(make.clone(), json!({"hint": "Call the tool `projects_write` with the same arguments."}))],
    )
    .await?;
    let delete = json!({"action": "delete", "id": "p_2"});
    check(&client, "projects_write", [(make, json!({"ok": true})), (delete, json!({"code": "denied"}))])
        .await?;
    client.end().await
}
