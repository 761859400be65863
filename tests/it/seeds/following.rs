//! Seed 002, second half: the host makes next calls, in every notation for them.

use anyhow::Result;
use serde_json::json;

use super::{
    chaining::{WHY, bank, handoff, transfer},
    stage::{holds, result, text},
};

#[tokio::test]
async fn the_host_makes_next_calls_by_policy() -> Result<()> {
    let stage = bank();
    stage.policy("bank", "invoke = [\"handoff:request_agent_handoff\"]", "[actions]\nchain = \"follow\"");
    let host = stage.host().await?;
    for (which, client) in stage.clients(&host).await? {
        let told = result(&client, "bank", transfer("checking")).await?;
        let trail = json!([
            {"tool": "bank", "action": "prepare_money_transfer", "ok": true, "message": "The account is locked.",
                "data": {"status": "locked", "account": "checking"}},
            {"tool": "handoff", "action": "request_agent_handoff", "ok": true, "message": "An agent was asked for."},
        ]);
        let expected =
            json!({"ok": true, "action": "prepare_money_transfer", "data": {"reason": WHY}, "trail": trail});
        assert!(holds(&told["structuredContent"], &expected), "{which} {told}");
        assert!(
            told["structuredContent"].get("next").is_none() && told.get("_meta").is_none(),
            "{which} {told}"
        );
        // The person sees the reason although the last call answers.
        let notice = json!({"annotations": {"audience": ["user"]}});
        assert!(
            holds(&told["content"][1], &notice) && text(&told["content"][1], "text").contains("is locked")
        );
        client.end().await?;
    }
    Ok(())
}

#[tokio::test]
async fn only_granted_calls_are_followed() -> Result<()> {
    let stage = bank();
    for (grants, chain, next) in [
        ("", "advise", true),
        ("", "follow", true),
        ("invoke = [\"handoff:other\", \"bank:*\"]", "follow", true),
        ("invoke = [\"handoff:*\"]", "off", false),
    ] {
        stage.policy("bank", grants, &format!("[actions]\nchain = \"{chain}\""));
        let client = stage.client().await?;
        let told = result(&client, "bank", transfer("checking")).await?;
        let envelope = &told["structuredContent"];
        assert_eq!((envelope["data"]["status"].as_str(), envelope.get("trail")), (Some("locked"), None));
        let expected = next.then(handoff);
        assert_eq!(envelope.get("next"), expected.as_ref(), "{chain} {grants}");
        assert_eq!(told["_meta"].get("nextTool"), expected.as_ref(), "{chain} {grants}");
        client.end().await?;
    }
    Ok(())
}

#[tokio::test]
async fn the_words_of_other_servers_are_read() -> Result<()> {
    let stage = bank();
    let client = stage.client().await?;
    let whole = json!({"tool": "handoff", "arguments": {"action": "request_agent_handoff", "reason": "r"}});
    for (action, next) in [
        ("arguments", whole.clone()),
        ("parameters", whole.clone()),
        ("namespaced", whole),
        ("bare", json!({"tool": "handoff", "arguments": {}})),
    ] {
        let told = result(&client, "foreign_chain", json!({"action": action})).await?;
        assert_eq!(told["_meta"], json!({"nextTool": next, "loggia/nextTool": next}), "{action}");
    }
    client.end().await
}
