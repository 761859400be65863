//! Seed 002: a result names the next call, so that the model need not work it out.

use anyhow::Result;
use loggia_tests::{Client, ERAS, Kind, accepted, heard};
use serde_json::{Value, json};

use super::stage::{Stage, check, holds, result, text};

pub(super) const WHY: &str =
    "The customer wanted to transfer 5 from the locked account Daily Money (checking).";

pub(super) fn bank() -> Stage {
    Stage::with(&["bank", "handoff", "foreign_chain"])
}

pub(super) fn transfer(from: &str) -> Value {
    json!({"action": "prepare_money_transfer", "from_account": from, "amount": 5})
}

pub(super) fn handoff() -> Value {
    json!({"tool": "handoff", "arguments": {"action": "request_agent_handoff", "reason": WHY}})
}

#[tokio::test]
async fn a_locked_account_names_the_next_call() -> Result<()> {
    let stage = bank();
    let host = stage.host().await?;
    for (which, client) in stage.clients(&host).await? {
        // Deterministic: the same call suggests the same next call each time.
        for _ in 0..3 {
            let told = result(&client, "bank", transfer("checking")).await?;
            for key in ["nextTool", "loggia/nextTool"] {
                assert_eq!(told["_meta"][key], handoff(), "{which} {key}");
            }
            // For a model, which cannot see `_meta`.
            assert_eq!(told["structuredContent"]["next"], handoff(), "{which}");
            assert!(holds(&told["structuredContent"], &json!({"ok": true, "data": {"status": "locked"}})));
        }
        client.end().await?;
    }
    Ok(())
}

#[tokio::test]
async fn the_person_gets_a_separate_text() -> Result<()> {
    let stage = bank();
    for era in ERAS {
        let client = stage.client_in(era).await?;
        let told = result(&client, "bank", transfer("checking")).await?;
        let notice = json!({"type": "text", "annotations": {"audience": ["user"]},
            "text": "Daily Money (checking) is locked. An agent has to unlock it first."});
        assert!(holds(&told["content"][1], &notice), "{era:?} {told}");
        client.end().await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_client_that_knows_no_chains_loses_nothing() -> Result<()> {
    let stage = bank();
    let client = stage.client().await?;
    let told = result(&client, "bank", transfer("checking")).await?;
    let read: Value = serde_json::from_str(text(&told["content"][0], "text"))?;
    assert_eq!(told["isError"], false);
    assert_eq!((text(&read, "message"), &read["next"]), ("The account is locked.", &handoff()));
    client.end().await
}

#[tokio::test]
async fn an_unlocked_account_suggests_no_call() -> Result<()> {
    let stage = bank();
    let client = stage.client().await?;
    let told = result(&client, "bank", transfer("savings")).await?;
    assert_eq!(told["structuredContent"]["data"]["status"], "prepared");
    assert!(told.get("_meta").is_none_or(|meta| meta.get("nextTool").is_none()), "{told}");
    assert!(told["structuredContent"].get("next").is_none(), "{told}");
    client.end().await
}

#[tokio::test]
async fn the_next_call_carries_the_reason() -> Result<()> {
    let stage = bank();
    for era in ERAS {
        let client = stage.client_in(era).await?;
        let next = result(&client, "bank", transfer("checking")).await?["_meta"]["nextTool"].clone();
        let arrived = client.envelope(text(&next, "tool"), next["arguments"].clone()).await?;
        assert!(holds(&arrived, &json!({"ok": true, "data": {"reason": WHY, "options": ["call", "chat"]}})));
        client.end().await?;
    }
    Ok(())
}

#[tokio::test]
async fn two_actions_share_a_next_call() -> Result<()> {
    let stage = bank();
    let client = stage.client().await?;
    let close = json!({"action": "close_account", "id": "checking"});
    for (call, wanted) in [(transfer("checking"), "transfer 5 from"), (close, "close")] {
        let next = client.envelope("bank", call).await?["next"].clone();
        assert_eq!(
            (text(&next, "tool"), text(&next["arguments"], "action")),
            ("handoff", "request_agent_handoff")
        );
        assert!(text(&next["arguments"], "reason").contains(wanted), "{next}");
    }
    client.end().await
}

#[tokio::test]
async fn a_failure_can_name_a_recovery_call() -> Result<()> {
    let stage = bank();
    let client = stage.client().await?;
    let told = result(&client, "bank", transfer("nowhere")).await?;
    let next = json!({"tool": "bank", "arguments": {"action": "accounts"}});
    assert_eq!((&told["isError"], &told["_meta"]["nextTool"]), (&json!(true), &next));
    check(&client, "bank", [(next["arguments"].clone(), json!({"ok": true, "count": 2}))]).await?;
    client.end().await
}

#[tokio::test]
async fn the_person_is_asked_for_missing_values() -> Result<()> {
    let stage = bank();
    stage.policy("bank", "elicit = true", "");
    for era in ERAS {
        let kind = Kind::person([accepted(json!({"from_account": "checking"}))]);
        let mut client = Client::stdio_as(stage.plugins.path(), era, kind).await?;
        let told = client.envelope("bank", json!({"action": "prepare_money_transfer", "amount": 5})).await?;
        assert_eq!(told["next"], handoff(), "{era:?} {told}");
        let question = heard("a question", &mut client.questions).await?;
        assert_eq!(question["message"], "[bank] From which account?");
        client.end().await?;
    }
    Ok(())
}
