//! Seed 004: one tool per domain, and one shape for all replies.

use anyhow::Result;
use loggia_tests::{ERAS, eventually};
use serde_json::{Value, json};

use super::stage::{Stage, check, holds, text};

const DOMAINS: [&str; 5] = ["bank", "handoff", "memories_lite", "pipelines", "projects"];

fn memories() -> Stage {
    Stage::with(&["memories_lite"])
}

fn add(title: &str, body: &str) -> Value {
    json!({"cmd": "add", "params": {"title": title, "body": body, "tags": ["t"]}})
}

#[tokio::test]
async fn each_domain_is_one_tool() -> Result<()> {
    let tools = Stage::with(&DOMAINS).tools().await?;
    let names: Vec<&str> = tools.iter().map(|tool| text(tool, "name")).collect();
    assert_eq!(names, ["bank", "handoff", "memories", "pipelines", "projects"]);
    let actions =
        tools.iter().filter_map(|tool| tool["inputSchema"]["properties"]["action"]["enum"].as_array());
    assert!(actions.map(Vec::len).sum::<usize>() >= 25, "five tools do the work of many");
    Ok(())
}

#[tokio::test]
async fn a_small_server_may_show_its_verbs() -> Result<()> {
    let stage = memories();
    stage.policy("memories_lite", "", "[expose]\nschema = \"granular\"");
    let client = stage.client().await?;
    let names = ["add", "delete", "get", "list", "search", "update"].map(|verb| format!("memories_{verb}"));
    assert_eq!(client.names().await?, names);
    let add = json!({"title": "Milk", "body": "Buy some."});
    check(&client, "memories_add", [(add, json!({"ok": true, "data": {"id": "m_1"}}))]).await?;
    client.end().await
}

/// Checks an envelope for required and unknown members.
fn is_an_envelope(told: &Value, key: &str) -> bool {
    let ok = told["ok"] == true;
    let may: &[&str] = match ok {
        true => &["ok", key, "data", "count", "total", "cursor", "message", "resolved_inputs", "next"],
        false => {
            &["ok", key, "code", "error", "hint", "details", "expected", "example", "resolved_inputs", "next"]
        }
    };
    let must: &[&str] = if ok { &["ok", key] } else { &["ok", key, "code", "error"] };
    let members = told.as_object().cloned().unwrap_or_default();
    members.keys().all(|name| may.contains(&name.as_str()))
        && must.iter().all(|name| members.contains_key(*name))
}

#[tokio::test]
async fn every_domain_answers_in_the_same_shape() -> Result<()> {
    let stage = Stage::with(&DOMAINS);
    let host = stage.host().await?;
    for (which, client) in stage.clients(&host).await? {
        for (tool, arguments) in [
            ("bank", json!({"cmd": "accounts"})),
            ("bank", json!({"cmd": "close_account", "params": {"id": "nowhere"}})),
            ("handoff", json!({"cmd": "request_agent_handoff", "params": {"reason": "r"}})),
            ("handoff", json!({"cmd": "request_agent_handoff"})),
            ("memories", add("Milk", "Buy some.")),
            ("memories", json!({"cmd": "get", "params": {"id": "m_99"}})),
            ("pipelines", json!({"cmd": "run", "params": {"prompt": "x"}})),
            ("pipelines", json!({"cmd": "run", "params": {"prompt": "fail"}})),
            ("projects", json!({"cmd": "list"})),
            ("projects", json!({"cmd": "delete", "params": {"id": "p_1"}})),
            ("projects", json!({"cmd": "frobnicate"})),
        ] {
            let told = client.envelope(tool, arguments.clone()).await?;
            assert!(is_an_envelope(&told, "cmd"), "{which} {tool} {arguments}: {told}");
            assert_eq!(told["cmd"], arguments["cmd"], "{which} {tool} {arguments}: {told}");
        }
        client.end().await?;
    }
    Ok(())
}

#[tokio::test]
async fn the_command_is_echoed_under_the_callers_key() -> Result<()> {
    let stage = memories();
    let client = stage.client().await?;
    for key in ["cmd", "action"] {
        for (name, ok) in [("list", true), ("get", false), ("frobnicate", false)] {
            let told = client.envelope("memories", json!({key: name})).await?;
            assert_eq!((&told["ok"], &told[key]), (&json!(ok), &json!(name)), "{told}");
            assert!(is_an_envelope(&told, key), "{told}");
        }
    }
    client.end().await
}

#[tokio::test]
async fn overlapping_calls_get_their_own_answers() -> Result<()> {
    let stage = Stage::with(&["memories_lite", "pipelines"]);
    for era in ERAS {
        let client = stage.client_in(era).await?;
        let slow = json!({"cmd": "run", "params": {"prompt": "x", "pause_ms": 100}});
        let call = |tool: &'static str, arguments: Value| client.envelope(tool, arguments);
        let (run, list, unknown, loaded) = tokio::try_join!(
            call("pipelines", slow),
            call("memories", json!({"cmd": "list"})),
            call("memories", json!({"cmd": "frobnicate"})),
            call("pipelines", json!({"cmd": "load", "params": {"name": "research"}})),
        )?;
        let echoed = [run, list, unknown, loaded].map(|told| text(&told, "cmd").to_owned());
        assert_eq!(echoed, ["run", "list", "frobnicate", "load"], "{era:?}");
        client.end().await?;
    }
    Ok(())
}

#[tokio::test]
async fn commands_are_found_in_any_case() -> Result<()> {
    let stage = memories();
    let client = stage.client().await?;
    let calls = ["LIST", "List", "lIsT"].map(|cmd| (json!({"cmd": cmd}), json!({"ok": true, "cmd": "list"})));
    check(&client, "memories", calls).await?;
    let unknown = client.envelope("memories", json!({"cmd": "FROBNICATE"})).await?;
    assert!(holds(&unknown, &json!({"ok": false, "cmd": "FROBNICATE"})), "{unknown}");
    assert!(text(&unknown, "error").contains("Unknown action: \"FROBNICATE\". Available actions: add, get"));
    client.end().await
}

#[tokio::test]
async fn an_unavailable_domain_does_not_affect_the_others() -> Result<()> {
    let stage = Stage::with(&["memories_lite", "handoff"]);
    for era in ERAS {
        let client = stage.client_in(era).await?;
        client.names_become(&["handoff", "memories"]).await;
        stage.plugins.remove("memories_lite.wasm");
        let gone = eventually(async || {
            let told =
                client.envelope("memories", json!({"cmd": "list"})).await.map_err(|e| e.to_string())?;
            if told["ok"] == true { Err(told.to_string()) } else { Ok(told) }
        })
        .await;
        let expected =
            json!({"ok": false, "cmd": "list", "code": "unavailable", "hint": "available facades: handoff"});
        assert!(
            holds(&gone, &expected) && text(&gone, "error").contains("`memories` is unavailable"),
            "{gone}"
        );
        let other = json!({"cmd": "request_agent_handoff", "params": {"reason": "r"}});
        let asked = client.envelope("handoff", other).await?;
        assert_eq!(asked["ok"], true, "{era:?} {asked}");
        client.end().await?;
        stage.plugins.put("memories_lite", &loggia_tests::fixture("memories_lite"));
    }
    Ok(())
}
