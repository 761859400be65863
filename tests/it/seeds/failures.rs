//! Seed 000, its fifth kind of test: calls that go wrong.

use anyhow::Result;
use loggia_tests::ERAS;
use serde_json::{Value, json};

use super::stage::{Stage, holds, result, text};

fn projects() -> Stage {
    Stage::with(&["projects"])
}

#[tokio::test]
async fn failures_have_plain_texts_and_one_form() -> Result<()> {
    let stage = projects();
    let client = stage.client().await?;
    for (call, code, said) in [
        (json!({"action": "update", "id": "p_9", "name": "n"}), "not_found", "not found"),
        (json!({"action": "get", "id": "p_9"}), "not_found", "not found"),
        (json!({"action": "delete", "id": "p_1"}), "denied", "access denied"),
        (json!({"action": "create", "name": ""}), "invalid_params", "must not be empty"),
        (json!({"action": "list", "cursor": "x"}), "invalid_params", "not a number"),
    ] {
        let told = result(&client, "projects", call.clone()).await?;
        assert_eq!(told["isError"], true, "{call}");
        let envelope = &told["structuredContent"];
        let expected = json!({"ok": false, "action": call["action"], "code": code});
        assert!(holds(envelope, &expected) && text(envelope, "error").contains(said), "{call}: {envelope}");
        // The text for clients without structured content is the same JSON, without a prefix.
        assert_eq!(&serde_json::from_str::<Value>(text(&told["content"][0], "text"))?, envelope);
        assert_eq!(told["content"][0]["type"], "text");
    }
    client.end().await
}

#[tokio::test]
async fn slow_backends_time_out() -> Result<()> {
    let stage = projects();
    stage.policy("projects", "", "[limits]\nwall = \"300ms\"");
    for era in ERAS {
        let client = stage.client_in(era).await?;
        let told = client.envelope("projects", json!({"action": "sync"})).await?;
        assert_eq!(told["code"], "timed_out", "{era:?} {told}");
        assert!(text(&told, "error").contains("timed out"), "{told}");
        client.end().await?;
    }
    Ok(())
}

#[tokio::test]
async fn faults_are_errors_without_internals() -> Result<()> {
    let stage = Stage::with(&["misbehaves"]);
    let client = stage.client().await?;
    let told = result(&client, "misbehaves", json!({"action": "panic"})).await?;
    assert!(holds(&told["structuredContent"], &json!({"ok": false, "code": "internal"})), "{told}");
    assert!(!told.to_string().contains(".rs") && told["isError"] == true, "{told}");
    client.end().await
}
