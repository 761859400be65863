//! Seed 004: one tool for each domain, one shape for each answer, and as much in it as is asked for.

use std::time::Duration;

use anyhow::{Context, Result};
use loggia_tests::{ERAS, eventually};
use serde_json::{Value, json};

use super::stage::{Stage, check, holds, result, text};

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

/// What an envelope may hold, and what it must.
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
async fn answers_are_told_apart_when_calls_overlap() -> Result<()> {
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
async fn as_much_is_told_as_is_asked_for() -> Result<()> {
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
async fn a_search_ranks_and_keeps_to_its_limit() -> Result<()> {
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
async fn a_domain_that_is_gone_says_so_and_the_others_go_on() -> Result<()> {
    let stage = Stage::with(&["memories_lite", "handoff"]);
    for era in ERAS {
        let client = stage.client_in(era).await?;
        assert_eq!(client.names().await?, ["handoff", "memories"]);
        stage.plugins.remove("memories_lite.wasm");
        let gone = eventually(async || {
            let told =
                client.envelope("memories", json!({"cmd": "list"})).await.map_err(|e| e.to_string())?;
            if told["ok"] == true { Err(told.to_string()) } else { Ok(told) }
        })
        .await;
        let expected =
            json!({"ok": false, "cmd": "list", "code": "unavailable", "hint": "available tools: handoff"});
        assert!(
            holds(&gone, &expected) && text(&gone, "error").contains("`memories` is unavailable"),
            "{gone}"
        );
        let other = json!({"cmd": "request_agent_handoff", "params": {"reason": "r"}});
        let asked =
            tokio::time::timeout(Duration::from_secs(10), client.envelope("handoff", other)).await??;
        assert_eq!(asked["ok"], true, "{era:?} {asked}");
        client.end().await?;
        stage.plugins.put("memories_lite", &loggia_tests::fixture("memories_lite"));
    }
    Ok(())
}

#[tokio::test]
async fn nothing_is_told_that_was_not_asked_for() -> Result<()> {
    let stage = memories();
    let client = stage.client().await?;
    let capabilities = client.service.peer_info().map(|info| serde_json::to_value(&info.capabilities));
    let capabilities = capabilities.context("what the server can do")??;
    for what in ["prompts", "resources", "completions"] {
        assert!(capabilities.get(what).is_none(), "{capabilities}");
    }
    client.envelope("memories", add("Milk", "Buy some.")).await?;
    let told = result(&client, "memories", json!({"cmd": "search", "params": {"query": "tea"}})).await?;
    assert_eq!(told["content"].as_array().map(Vec::len), Some(1), "{told}");
    assert_eq!(told["structuredContent"]["data"], json!([]), "what does not fit is not brought up");
    client.end().await
}
