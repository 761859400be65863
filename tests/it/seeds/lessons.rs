//! Seed 001, lessons 1 to 4 and 7 to 13: the tool and its results as a model sees them.

use anyhow::{Context, Result};
use loggia_sdk::testing;
use loggia_tests::ERAS;
use serde_json::{Value, json};

use super::stage::{Stage, check, ended, result, run_id, text, tools};

/// The guest itself, natively.
#[path = "../../fixtures/examples/pipelines.rs"]
mod guest;

fn pipelines() -> Stage {
    Stage::with(&["pipelines"])
}

#[tokio::test]
async fn one_tool_can_show_exactly_two_fields() -> Result<()> {
    let stage = pipelines();
    stage.policy("pipelines", "", "[expose]\nschema = \"signatures\"");
    for era in ERAS {
        let client = stage.client_in(era).await?;
        let tools = tools(&client).await?;
        assert_eq!(tools.len(), 1, "{era:?}");
        let properties = tools[0]["inputSchema"]["properties"].as_object().context("properties")?;
        let own: Vec<&String> = properties.keys().filter(|name| *name != "wait").collect();
        assert_eq!(own, ["action", "params"], "{era:?}");
        let load = json!({"action": "load", "params": {"name": "research"}});
        check(&client, "pipelines", [(load, json!({"ok": true, "data": {"name": "research"}}))]).await?;
        client.end().await?;
    }
    Ok(())
}

#[tokio::test]
async fn the_action_is_a_field_with_its_values() -> Result<()> {
    let tools = pipelines().tools().await?;
    let action = &tools[0]["inputSchema"]["properties"]["action"];
    let names = ["run", "restart", "list", "load", "describe", "run_status", "run_cancel"];
    assert_eq!((&action["type"], &action["enum"]), (&json!("string"), &json!(names)));
    assert_eq!(tools[0]["inputSchema"]["required"], json!(["action"]));
    assert!(tools[0]["inputSchema"]["properties"].get("request").is_none(), "nothing hides in a text");
    Ok(())
}

#[tokio::test]
async fn results_are_not_encoded_twice() -> Result<()> {
    let stage = pipelines();
    let client = stage.client().await?;
    for call in [
        json!({"action": "load", "name": "research"}),
        json!({"action": "list"}),
        json!({"action": "run", "prompt": "x"}),
        json!({"action": "describe"}),
    ] {
        let told = result(&client, "pipelines", call.clone()).await?;
        let data = &told["structuredContent"]["data"];
        assert!(data.is_object() || data.is_array(), "{call}: {data}");
        // Parsed once, the text is the same structure.
        assert_eq!(
            serde_json::from_str::<Value>(text(&told["content"][0], "text"))?,
            told["structuredContent"]
        );
    }
    client.end().await
}

#[tokio::test]
async fn internal_fields_are_removed() -> Result<()> {
    let stage = pipelines();
    let host = stage.host().await?;
    for (which, client) in stage.clients(&host).await? {
        let mut told = Vec::new();
        for call in [
            json!({"action": "run", "prompt": "x"}),
            json!({"action": "restart", "prompt": "x"}),
            json!({"action": "list", "detail": "full"}),
            json!({"action": "load", "name": "research"}),
            json!({"action": "run", "prompt": "fail"}),
            json!({"action": "describe", "of": "run", "detail": "full"}),
        ] {
            told.push(result(&client, "pipelines", call).await?);
        }
        for action in ["run", "restart"] {
            let begin = json!({"action": action, "prompt": "x", "wait": false});
            let begun = client.envelope("pipelines", begin).await?;
            let id = run_id(&begun)?;
            let run = ended(&client, "pipelines", &id).await?;
            assert_eq!(run["result"]["data"]["text"], "About x.", "{which} {run}");
            let trace = json!({"action": "run_status", "run_id": id, "include_trace": true});
            told.extend([begun, run, result(&client, "pipelines", trace).await?]);
        }
        for told in told {
            let whole = told.to_string();
            for own in ["_shared", "_trace\\\"", "\"_trace\"", "_run_log_path", "secret", "/srv"] {
                assert!(!whole.contains(own), "{which} {own}: {whole}");
            }
        }
        client.end().await?;
    }
    Ok(())
}

#[tokio::test]
async fn the_call_context_is_never_a_parameter() -> Result<()> {
    let stage = pipelines();
    let client = stage.client().await?;
    // First in `run`, last in `restart`, where a parameter with a default goes before it.
    for (action, signature) in [
        ("run", "run(prompt: string, depth?: xs|s|m|l, rounds?: integer, pause_ms?: integer)"),
        ("restart", "restart(prompt: string, from_round?: integer)"),
    ] {
        let describe = json!({"action": "describe", "of": action});
        check(&client, "pipelines", [(describe, json!({"data": {"signature": signature}}))]).await?;
        check(&client, "pipelines", [(json!({"action": action, "prompt": "x"}), json!({"ok": true}))])
            .await?;
    }
    client.end().await
}

#[test]
fn a_facade_is_called_without_mcp() {
    let call = |action: &str, params: Value| testing::call(&guest::Pipelines, action, params);
    let reply = call("run", json!({"prompt": "x", "rounds": "1"})).expect("it runs");
    assert_eq!(
        (&reply.data["text"], reply.message.as_deref()),
        (&json!("About x."), Some("The pipeline ran."))
    );
    let failure = call("run", json!({"prompt": "x", "depth": "standard"})).expect_err("no such depth");
    assert_eq!(failure.message, "`depth` must be one of xs, s, m, l (got \"standard\")");
    assert_eq!(call("load", json!({"name": "x"})).expect_err("no such pipeline").code, "not_found");
    assert!(testing::describe(&guest::Pipelines).is_object());
}
