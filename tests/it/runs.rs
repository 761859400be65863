//! Calls that outlive their request, over the real process.

use anyhow::{Context, Result};
use loggia_tests::{Client, ERAS, Era, Folder, HttpHost, Kind, accepted, eventually, heard, soon};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, GetTaskParams, TaskPayload, TaskStatus,
    UpdateTaskParams,
};
use serde_json::{Value, json};

fn run_of(envelope: &Value) -> Result<(Value, String)> {
    let run = envelope["data"]["run"].clone();
    let id = run["id"].as_str().with_context(|| format!("no run in {envelope}"))?.to_owned();
    Ok((run, id))
}

#[tokio::test]
async fn a_run_reports_progress_log_and_result() -> Result<()> {
    let folder = Folder::with(&["worker"]);
    let host = HttpHost::start(folder.path()).await?;
    for era in ERAS {
        for http in [false, true] {
            let client = match http {
                // Over HTTP callers are anonymous; only the handle identifies the run.
                true => Client::http(&host, era).await?,
                false => Client::stdio(folder.path(), era).await?,
            };
            let work = json!({"action": "work", "steps": "4", "ms": 200, "key": "hush", "wait": false});
            let begun = client.envelope("worker", work).await?;
            let (run, id) = run_of(&begun)?;
            assert_eq!(run["status"], "running");
            assert_eq!(
                begun["resolved_inputs"],
                json!({"steps": 4, "ms": 200, "key": "(redacted)"}),
                "{begun}"
            );
            assert!(!begun.to_string().contains("hush"), "{begun}");
            let status = json!({"action": "run_status", "run_id": id, "wait": true, "include_trace": true});
            let (run, _) = run_of(&client.envelope("worker", status).await?)?;
            assert_eq!(run["status"], "succeeded");
            assert_eq!(run["result"]["data"], json!({"steps": 4}), "internal members stay inside");
            let trace = run["trace"].as_array().context("a trace")?;
            assert_eq!(trace[0]["log"], "work begins with a key");
            let last = trace.last().context("entries")?;
            assert_eq!((&last["message"], &last["progress"]["done"]), (&json!("step 4"), &json!(4)));
            let listed = client.envelope("worker", json!({"action": "run_status"})).await?;
            match http {
                true => assert_eq!(listed["code"], "invalid_params", "{listed}"),
                false => assert_eq!(listed["data"]["runs"][0]["id"], id.as_str(), "{listed}"),
            }
            client.end().await?;
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_run_outlives_the_client_that_began_it() -> Result<()> {
    let folder = Folder::with(&["worker"]);
    let host = HttpHost::start(folder.path()).await?;
    for era in ERAS {
        let client = Client::http(&host, era).await?;
        let work = json!({"action": "work", "steps": 10, "ms": 20, "wait": false});
        let (_, id) = run_of(&client.envelope("worker", work).await?)?;
        client.end().await?;
        let other = Client::http(&host, era).await?;
        let status = json!({"action": "result", "run_id": id, "wait": true});
        let (run, _) = run_of(&other.envelope("worker", status).await?)?;
        assert_eq!(run["result"]["data"]["steps"], 10, "{era:?}");
        other.end().await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_killed_host_interrupts_the_runs_of_its_plugins() -> Result<()> {
    let folder = Folder::with(&["worker"]);
    let mut host = HttpHost::start(folder.path()).await?;
    let client = Client::http(&host, Era::Stateful).await?;
    let (mut runs, endless) = (Vec::new(), 100_000);
    for steps in [2, endless] {
        let work = json!({"action": "work", "steps": steps, "ms": 5, "wait": false});
        runs.push(run_of(&client.envelope("worker", work).await?)?.1);
    }
    let status = |id: &str, wait: bool| json!({"action": "run_status", "run_id": id, "wait": wait, "include_trace": true});
    client.envelope("worker", status(&runs[0], true)).await?;
    host.child.start_kill()?;
    host.child.wait().await?;
    let host = HttpHost::start(folder.path()).await?;
    let client = Client::http(&host, Era::Stateful).await?;
    let (run, _) = run_of(&client.envelope("worker", status(&runs[0], false)).await?)?;
    assert_eq!(
        (&run["status"], &run["result"]["data"]),
        (&json!("succeeded"), &json!({"steps": 2})),
        "{run}"
    );
    assert_eq!(run["trace"][0]["log"], "work begins with no key", "{run}");
    eventually(async || {
        let told = client.envelope("worker", status(&runs[1], false)).await.map_err(|e| e.to_string())?;
        let run = &told["data"]["run"];
        match (&run["status"], &run["result"]["code"]) == (&json!("failed"), &json!("interrupted")) {
            true => Ok(()),
            false => Err(told.to_string()),
        }
    })
    .await;
    client.end().await
}

#[tokio::test]
async fn an_interrupted_run_of_an_idempotent_action_goes_on_from_its_checkpoint() -> Result<()> {
    let folder = Folder::with(&["keeps"]);
    folder.write("keeps.toml", "[grants]\nstore = true\n");
    let mut host = HttpHost::start(folder.path()).await?;
    let client = Client::http(&host, Era::Stateful).await?;
    let count = json!({"action": "count", "key": "sum", "times": 150, "ms": 10, "wait": false});
    let (_, id) = run_of(&client.envelope("keeps", count).await?)?;
    let sum = async |client: &Client| -> Result<i64> {
        let entry = client.envelope("keeps", json!({"action": "get", "key": "sum"})).await?;
        entry["data"]["value"].as_str().map_or(Ok(0), |value| Ok(value.parse()?))
    };
    eventually(async || match sum(&client).await {
        Ok(20..) => Ok(()),
        other => Err(format!("{other:?}")),
    })
    .await;
    host.child.start_kill()?;
    host.child.wait().await?;
    let host = HttpHost::start(folder.path()).await?;
    let client = Client::http(&host, Era::Stateful).await?;
    let query = json!({"action": "run_status", "run_id": id, "wait": true});
    let run = eventually(async || {
        let answer = client.envelope("keeps", query.clone()).await.map_err(|error| error.to_string())?;
        let run = &answer["data"]["run"];
        if run["status"] == "succeeded" { Ok(run.clone()) } else { Err(answer.to_string()) }
    })
    .await;
    let made = run["result"]["data"].as_i64().unwrap_or_default();
    assert!((1..=130).contains(&made), "it goes on from its checkpoint: {run}");
    assert_eq!(sum(&client).await?, 150, "each was made once");
    client.end().await
}

#[tokio::test]
async fn cancelling_a_run_reaches_its_guest() -> Result<()> {
    let folder = Folder::with(&["worker"]);
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    let work = json!({"action": "work", "steps": 100_000, "ms": 5, "wait": false});
    let (_, id) = run_of(&client.envelope("worker", work).await?)?;
    client.envelope("worker", json!({"action": "run_cancel", "run_id": id})).await?;
    let status = json!({"action": "run_status", "run_id": id, "wait": true});
    let (run, _) = run_of(&client.envelope("worker", status).await?)?;
    assert_eq!((&run["status"], &run["result"]["code"]), (&json!("cancelled"), &json!("cancelled")));
    for (arguments, code) in [
        (json!({"action": "run_status", "run_id": "run_AAAAAAAAAAAAAAAAAAAAAA"}), "not_found"),
        (json!({"action": "run_status", "run_id": 5}), "invalid_params"),
        (json!({"action": "run_cancel"}), "invalid_params"),
        (json!({"action": "run_status", "run": id}), "invalid_params"),
    ] {
        let refused = client.envelope("worker", arguments.clone()).await?;
        assert_eq!(refused["code"], code, "{arguments}: {refused}");
    }
    client.end().await
}

#[tokio::test]
async fn progress_is_sent_while_a_client_waits() -> Result<()> {
    let folder = Folder::with(&["worker"]);
    let mut client = Client::stdio(folder.path(), Era::Stateful).await?;
    let work = json!({"action": "work", "steps": 10, "ms": 30, "wait": false});
    let (_, id) = run_of(&client.envelope("worker", work).await?)?;
    let status = json!({"action": "run_status", "run_id": id, "wait": true});
    client.envelope("worker", status).await?;
    let told = heard("progress", &mut client.progress).await?;
    assert_eq!(told.total, Some(10.0));
    client.end().await
}

#[tokio::test]
async fn a_client_that_follows_tasks_gets_one() -> Result<()> {
    let folder = Folder::with(&["worker"]);
    folder.write("worker.toml", "[grants]\nelicit = true\n");
    let client = Client::stdio_as(folder.path(), Era::Stateless, Kind::person([]).tasks()).await?;
    let peer = client.service.peer();
    let begin = async |arguments: Value| -> Result<String> {
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        let request = CallToolRequestParams::new("worker").with_arguments(arguments);
        match soon("a task", peer.call_tool_once(request)).await?? {
            CallToolResponse::Task(created) => Ok(created.task.task_id),
            other => anyhow::bail!("no task but {other:?}"),
        }
    };
    let ended = async |id: &str| {
        eventually(async || {
            let told = peer.get_task(GetTaskParams::new(id)).await.map_err(|e| e.to_string())?;
            if told.task.status() == TaskStatus::Working { Err("working".to_owned()) } else { Ok(told.task) }
        })
        .await
    };

    let id = begin(json!({"action": "work", "steps": 2})).await?;
    let TaskPayload::Completed { result } = ended(&id).await.payload else { anyhow::bail!("completed") };
    assert_eq!(result["structuredContent"]["data"]["steps"], 2);
    assert_eq!(result["isError"], false);

    let id = begin(json!({"action": "clean_all"})).await?;
    let TaskPayload::InputRequired { input_requests } = ended(&id).await.payload else {
        anyhow::bail!("it asks")
    };
    let (key, _) = input_requests.first_key_value().context("a question")?;
    let answer = serde_json::to_value(accepted(json!({})))?;
    peer.update_task(UpdateTaskParams::new(&id, [(key.clone(), answer)].into())).await?;
    let TaskPayload::Completed { result } = ended(&id).await.payload else { anyhow::bail!("completed") };
    assert_eq!(result["structuredContent"]["data"], "all gone");

    let id = begin(json!({"action": "work", "steps": 100_000, "ms": 5})).await?;
    peer.cancel_task(CancelTaskParams::new(&id)).await?;
    assert_eq!(ended(&id).await.status(), TaskStatus::Cancelled);
    let unknown = peer.get_task(GetTaskParams::new("run_x")).await.expect_err("no such task").to_string();
    assert!(unknown.contains("-32602") && unknown.contains("Unknown task"), "{unknown}");

    // A call that ends within its request is not a task.
    let arguments = json!({"action": "tell"}).as_object().cloned().unwrap_or_default();
    let told = peer.call_tool_once(CallToolRequestParams::new("worker").with_arguments(arguments)).await?;
    assert!(matches!(told, CallToolResponse::Complete(_)), "{told:?}");
    client.end().await
}

#[tokio::test]
async fn content_follows_the_envelope_as_mcp_content() -> Result<()> {
    let folder = Folder::with(&["worker"]);
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    let shown = serde_json::to_value(client.call("worker", json!({"action": "show"})).await?)?;
    insta::assert_json_snapshot!("content", shown);
    let told = client.call("worker", json!({"action": "tell"})).await?;
    let envelope = told.structured_content.context("text hides nothing")?;
    assert_eq!(envelope["data"], "told");
    assert_eq!(told.content.len(), 2);
    client.end().await
}
