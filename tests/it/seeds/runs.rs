//! Seed 001, lessons 5, 6 and 8: calls with and without waiting, their inputs, and the state of runs.

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::stage::{Stage, check, ended, run_id, text};

fn pipelines() -> Stage {
    Stage::with(&["pipelines"])
}

#[tokio::test]
async fn one_flag_selects_waiting_for_a_run() -> Result<()> {
    let stage = pipelines();
    let host = stage.host().await?;
    for (which, client) in stage.clients(&host).await? {
        for waiting in [
            json!({"action": "run", "prompt": "x"}),
            json!({"action": "run", "prompt": "x", "wait": true}),
            json!({"action": "run", "params": {"prompt": "x", "wait": true}}),
        ] {
            let told = client.envelope("pipelines", waiting).await?;
            assert_eq!(told["data"]["text"], "About x.", "{which} {told}");
        }
        let begin = json!({"action": "run", "prompt": "x", "rounds": 3, "pause_ms": 100, "wait": false});
        let begun = client.envelope("pipelines", begin).await?;
        assert_eq!(begun["data"]["run"]["status"], "running", "{which} {begun}");
        let id = run_id(&begun)?;
        assert_eq!(begun["next"]["arguments"], json!({"action": "run_status", "run_id": id, "wait": true}));
        let run = ended(&client, "pipelines", &id).await?;
        assert_eq!(
            (&run["status"], &run["result"]["data"]["text"]),
            (&json!("succeeded"), &json!("About x."))
        );
        client.end().await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_run_is_cancelled_by_its_caller() -> Result<()> {
    let stage = pipelines();
    let client = stage.client().await?;
    let begin = json!({"action": "run", "prompt": "x", "rounds": 1000, "pause_ms": 1000, "wait": false});
    let id = run_id(&client.envelope("pipelines", begin).await?)?;
    client.envelope("pipelines", json!({"action": "run_cancel", "run_id": id})).await?;
    assert_eq!(ended(&client, "pipelines", &id).await?["status"], "cancelled");
    client.end().await
}

#[tokio::test]
async fn the_inputs_that_were_used_are_echoed() -> Result<()> {
    let stage = pipelines();
    let client = stage.client().await?;
    let used = |prompt: bool, depth: &str, rounds: u32| {
        let mut used = json!({"depth": depth, "rounds": rounds, "pause_ms": 1});
        if prompt {
            used["prompt"] = "x".into();
        }
        used
    };
    for (given, expected) in [
        // A run lists all of its inputs, a reply only those that differ from the caller's.
        (json!({"wait": false}), used(true, "m", 2)),
        (json!({"wait": false, "depth": "XS", "rounds": "1"}), used(true, "xs", 1)),
        (json!({}), used(false, "m", 2)),
        (json!({"depth": "L", "rounds": "1"}), used(false, "l", 1)),
        (json!({"depth": "s", "rounds": 1}), json!({"pause_ms": 1})),
    ] {
        let mut call = json!({"action": "run", "prompt": "x"});
        call.as_object_mut().context("an object")?.extend(given.as_object().cloned().unwrap_or_default());
        let told = client.envelope("pipelines", call.clone()).await?;
        assert_eq!(told["resolved_inputs"], expected, "{call}");
    }
    let restarted = json!({"action": "restart", "prompt": "x"});
    check(&client, "pipelines", [(restarted, json!({"resolved_inputs": {"from_round": 1}}))]).await?;
    client.end().await
}

#[tokio::test]
async fn one_action_returns_a_runs_state_and_result() -> Result<()> {
    let stage = pipelines();
    let host = stage.host().await?;
    for (which, client) in stage.clients(&host).await? {
        let begin = json!({"action": "run", "prompt": "x", "wait": false});
        let id = run_id(&client.envelope("pipelines", begin).await?)?;
        ended(&client, "pipelines", &id).await?;
        for (action, include_trace, traced) in [
            ("run_status", Value::Null, false),
            ("run_status", json!(true), true),
            ("status", Value::Null, false),
            ("status", json!(true), true),
            ("result", Value::Null, true),
            ("result", json!(false), false),
        ] {
            let mut call = json!({"action": action, "run_id": id});
            if !include_trace.is_null() {
                call["include_trace"] = include_trace;
            }
            let told = client.envelope("pipelines", call.clone()).await?;
            let run = &told["data"]["run"];
            assert_eq!((text(run, "status"), text(run, "id")), ("succeeded", &*id), "{which} {call}: {told}");
            assert_eq!(run["progress"], json!({"done": 2, "total": 2, "message": "round 2"}), "{which}");
            assert_eq!(run["result"]["data"]["text"], "About x.", "{which}");
            assert_eq!(run.get("trace").is_some(), traced, "{which} {call}");
        }
        client.end().await?;
    }
    Ok(())
}

#[tokio::test]
async fn lists_of_runs_omit_results_and_traces() -> Result<()> {
    let stage = pipelines();
    let client = stage.client().await?;
    let begin = json!({"action": "run", "prompt": "x", "wait": false});
    let id = run_id(&client.envelope("pipelines", begin).await?)?;
    ended(&client, "pipelines", &id).await?;
    let listed = client.envelope("pipelines", json!({"action": "run_status"})).await?;
    let [run] = listed["data"]["runs"].as_array().map(Vec::as_slice).unwrap_or_default() else {
        panic!("one run: {listed}")
    };
    let keys: Vec<&String> = run.as_object().context("a run")?.keys().collect();
    assert_eq!(keys, ["id", "action", "status", "progress"]);
    assert_eq!(listed["count"], 1);
    client.end().await
}
