//! Seed 001, lessons 4, 7, 9 and 12: information that a caller needs for a correct next call.

use anyhow::{Context, Result};
use loggia_tests::{Client, ERAS};
use serde_json::{Value, json};

use super::stage::{Stage, check, holds, text};

fn pipelines() -> Stage {
    Stage::with(&["pipelines"])
}

#[tokio::test]
async fn describe_returns_only_what_callers_need() -> Result<()> {
    let stage = pipelines();
    let client = stage.client().await?;
    let list = client.envelope("pipelines", json!({"action": "describe"})).await?;
    let run = "run(prompt: string, depth?: xs|s|m|l, rounds?: integer, pause_ms?: integer)";
    assert_eq!(list["data"]["actions"][0]["signature"], run);
    let one = client.envelope("pipelines", json!({"action": "describe", "of": "run"})).await?;
    let when = "Use xs or s for fast drafts, m for production.";
    let params = json!({
        "prompt": {"type": "string", "required": true},
        "depth": {"type": "xs|s|m|l", "description": "How thorough; default m", "when_to_change": when},
        "rounds": {"hint": "Two rounds are enough for most texts."},
    });
    assert!(holds(&one["data"]["params"], &params), "{one}");
    assert!(one["data"].get("data").is_none() && !one.to_string().contains("additionalProperties"), "{one}");
    let full = json!({"action": "describe", "of": "run", "detail": "full"});
    let depth = json!({"type": "string", "enum": ["xs", "s", "m", "l"], "default": "m"});
    let whole = json!({"data": {"params": {"properties": {"depth": depth, "rounds": {"maximum": 1000}}}}});
    check(&client, "pipelines", [(full, whole)]).await?;
    client.end().await
}

#[tokio::test]
async fn lists_are_brief_and_load_is_complete() -> Result<()> {
    let stage = pipelines();
    let client = stage.client().await?;
    let listed = client.envelope("pipelines", json!({"action": "list"})).await?;
    let inputs =
        json!({"prompt": {"required": true}, "depth": {"enum": ["xs", "s", "m", "l"], "default": "m"}});
    assert!(holds(&listed["data"][0], &json!({"name": "research", "inputs": inputs})), "{listed}");
    assert!(listed["data"][0].get("definition").is_none(), "{listed}");
    let loaded = client.envelope("pipelines", json!({"action": "load", "name": "research"})).await?;
    assert_eq!(loaded["data"]["definition"]["steps"].as_array().map(Vec::len), Some(3));
    assert!(loaded.to_string().len() > listed.to_string().len());
    client.end().await
}

#[tokio::test]
async fn errors_help_the_next_call() -> Result<()> {
    let stage = pipelines();
    let client = stage.client().await?;
    let run = |more: Value| {
        let mut call = json!({"action": "run", "prompt": "x"});
        call.as_object_mut()
            .into_iter()
            .for_each(|call| call.extend(more.as_object().cloned().unwrap_or_default()));
        call
    };
    let fast = "Use xs or s for fast drafts, m for production.";
    let rounds = "Two rounds are enough for most texts.";
    for (call, error, hint) in [
        (run(json!({"depth": "standard"})), "`depth` must be one of xs, s, m, l (got \"standard\")", fast),
        (run(json!({"rounds": 1001})), "`rounds` must be at most 1000 (got 1001)", rounds),
        (run(json!({"rounds": 0})), "`rounds` must be at least 1 (got 0)", rounds),
        (run(json!({"dept": "s"})), "`dept` is not a parameter of `run` (did you mean `depth`?)", ""),
    ] {
        let told = client.envelope("pipelines", call.clone()).await?;
        assert_eq!((text(&told, "error"), text(&told, "hint")), (error, hint), "{call}: {told}");
        assert!(text(&told, "expected").starts_with("run(prompt: string, depth?: xs|s|m|l"), "{told}");
        // The example in the error works.
        let mended = client.envelope("pipelines", told["example"].clone()).await?;
        assert_eq!(mended["ok"], true, "{mended}");
    }
    client.end().await
}

#[tokio::test]
async fn instructions_give_the_order_of_calls() -> Result<()> {
    for (fixture, runs) in [("pipelines", true), ("handoff", false)] {
        let stage = Stage::with(&[fixture]);
        let host = stage.host().await?;
        for era in ERAS {
            // Instructions name loaded plugins, so a second client reads them.
            let first = Client::http(&host, era).await?;
            first.names_become(&[fixture]).await;
            let client = Client::http(&host, era).await?;
            let said =
                client.service.peer_info().and_then(|info| info.instructions.clone()).unwrap_or_default();
            let describe = said.find("\"describe\", with `of`").context("describe")?;
            assert!(said.find("read `hint`, fix the call, try again").context("errors")? > describe);
            let status = said.find("\"run_status\" with its `run_id` and `wait`: true");
            assert_eq!(status.is_some(), runs, "{era:?} {said}");
            first.end().await?;
            client.end().await?;
        }
    }
    Ok(())
}
