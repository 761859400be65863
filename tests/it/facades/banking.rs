//! `banking` and `support` over MCP: a locked account always ends with an agent, and the person is envelope.

use anyhow::{Context, Result};
use loggia_tests::{Client, ERAS, Era, Folder, Kind, accepted, heard};
use serde_json::{Value, json};

use super::add;

const STORE: &str = "[grants]\nstore = true\n";
const REASON: &str =
    "The customer wanted to transfer 50.00 EUR from the locked account Everyday Checking (acc_001).";

/// Both facades; `banking` with these grants and this treatment of `next`.
fn folder(grants: &str, chain: &str) -> Folder {
    let folder = Folder::new();
    add(&folder, "banking", &format!("{STORE}{grants}\n[actions]\nchain = \"{chain}\"\n"));
    add(&folder, "support", STORE);
    folder
}

fn followed() -> Folder {
    folder("invoke = [\"support:request_handoff\"]", "follow")
}

async fn client(folder: &Folder, era: Era) -> Result<Client> {
    let client = Client::stdio(folder.path(), era).await?;
    client.names_become(&["banking", "support"]).await;
    Ok(client)
}

fn transfer(from: &str) -> Value {
    json!({"action": "transfer", "from": from, "to": "acc_003", "amount": 50})
}

/// Without the times.
fn timeless(mut envelope: Value) -> Value {
    for time in ["created", "closed"] {
        if let Some(time) = envelope["data"].get_mut(time) {
            *time = json!("(time)");
        }
    }
    envelope
}

#[tokio::test]
async fn advice_names_the_handoff() -> Result<()> {
    for era in ERAS {
        let folder = folder("", "advise");
        let client = client(&folder, era).await?;
        let refused = client.envelope("banking", transfer("acc_001")).await?;
        for _ in 0..3 {
            assert_eq!(client.envelope("banking", transfer("acc_001")).await?, refused, "{era:?}");
        }
        let listed = client.envelope("support", json!({"action": "list"})).await?;
        assert_eq!(listed["data"], json!([]), "{era:?}: nothing was called");
        // The arguments are complete: the next call is made as it is.
        let next = &refused["next"];
        let tool = next["tool"].as_str().context("a tool")?;
        let ticket = client.envelope(tool, next["arguments"].clone()).await?;
        assert_eq!(ticket["data"]["reason"], REASON, "{era:?}: {ticket}");
        insta::assert_json_snapshot!("advice_names_the_handoff", [refused, timeless(ticket)]);
        client.end().await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_followed_handoff_keeps_both_messages() -> Result<()> {
    for era in ERAS {
        let folder = followed();
        let client = client(&folder, era).await?;
        let envelope = timeless(client.envelope("banking", transfer("acc_001")).await?);
        let trail = envelope["trail"].as_array().context("a trail")?;
        let messages: Vec<&str> = trail.iter().filter_map(|hop| hop["message"].as_str()).collect();
        assert!(
            messages[0].contains("Your account Everyday Checking (acc_001) is locked"),
            "{era:?}: {envelope}"
        );
        assert_eq!(messages[1], envelope["message"], "{era:?}: {envelope}");
        assert_eq!(
            (&trail[0]["ok"], &envelope["data"]["reason"]),
            (&json!(false), &json!(REASON)),
            "{era:?}"
        );
        insta::assert_json_snapshot!("a_followed_handoff_keeps_both_messages", envelope);
        client.end().await?;
    }
    Ok(())
}

#[tokio::test]
async fn the_same_handoff_is_one_ticket() -> Result<()> {
    for era in ERAS {
        let folder = followed();
        let client = client(&folder, era).await?;
        for _ in 0..5 {
            let envelope = client.envelope("banking", transfer("acc_001")).await?;
            assert_eq!(envelope["data"]["id"], "s_0001", "{era:?}: {envelope}");
        }
        let listed = client.envelope("support", json!({"action": "list"})).await?;
        assert_eq!(listed["count"], 1, "{era:?}: {listed}");
        let accounts = client.envelope("banking", json!({"action": "list_accounts"})).await?;
        assert_eq!(accounts["data"][0]["balance"], 1250.0, "{era:?}: nothing was transferred");
        client.end().await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_chosen_locked_account_is_handed_over() -> Result<()> {
    for era in ERAS {
        let folder = folder("elicit = true\ninvoke = [\"support:request_handoff\"]", "follow");
        let person = Kind::person([accepted(json!({"from": "acc_001"}))]);
        let mut client = Client::stdio_as(folder.path(), era, person).await?;
        client.names_become(&["banking", "support"]).await;
        let envelope = client.envelope("banking", json!({"action": "transfer", "amount": 50})).await?;
        assert_eq!(envelope["data"]["reason"], REASON, "{era:?}: {envelope}");
        let question = heard("a question", &mut client.questions).await?;
        insta::assert_json_snapshot!("the_question_offers_all_accounts", question);
        client.end().await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_person_chooses_both_accounts() -> Result<()> {
    for era in ERAS {
        let folder = folder("elicit = true", "advise");
        let answers = [accepted(json!({"from": "acc_002"})), accepted(json!({"to": "acc_003"}))];
        let client = Client::stdio_as(folder.path(), era, Kind::person(answers)).await?;
        client.names_become(&["banking", "support"]).await;
        let envelope = client.envelope("banking", json!({"action": "transfer", "amount": 20})).await?;
        assert_eq!(
            envelope["message"], "20.00 EUR went from High Yield Savings to Travel Fund.",
            "{era:?}: {envelope}"
        );
        client.end().await?;
    }
    Ok(())
}

#[tokio::test]
async fn without_questions_the_failure_lists_accounts() -> Result<()> {
    for era in ERAS {
        let folder = folder("", "advise");
        let client = client(&folder, era).await?;
        let refused = client.envelope("banking", json!({"action": "transfer", "amount": 20})).await?;
        insta::assert_json_snapshot!("without_questions_the_failure_lists_accounts", refused);
        client.end().await?;
    }
    Ok(())
}

#[tokio::test]
async fn an_absent_desk_leaves_the_advice() -> Result<()> {
    for era in ERAS {
        let folder = followed();
        folder.remove("support.wasm");
        let client = Client::stdio(folder.path(), era).await?;
        let envelope = client.envelope("banking", transfer("acc_001")).await?;
        assert_eq!(
            (&envelope["ok"], &envelope["code"]),
            (&json!(false), &json!("account_locked")),
            "{era:?}: {envelope}"
        );
        let handoff = json!({"action": "request_handoff", "reason": REASON});
        assert_eq!(envelope["next"]["arguments"], handoff, "{era:?}: {envelope}");
        client.end().await?;
    }
    Ok(())
}
