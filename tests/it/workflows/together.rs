//! Many concurrent steps, and workflows that call workflows.

use std::fmt::Write;

use anyhow::Result;
use loggia_tests::{ERAS, Era, Kind, accepted, fixture, heard};
use serde_json::{Value, json};

use super::stage::{Stage, Word, becomes, run};

fn many(steps: usize) -> String {
    let mut text = "name: many\ndescription: Many steps.\nsteps:\n".to_owned();
    for step in 0..steps {
        let _ = write!(text, "  - id: s{step}\n    tool: backend.process\n    arguments: {{data: {step}}}\n");
    }
    text
}

#[tokio::test]
async fn ten_steps_run_at_once_and_no_more() -> Result<()> {
    let stage = Stage::of("many", &many(14)).await?;
    // Each of the first ten waits for the others, and would see an eleventh.
    stage.says("process", Word::Meets(10));
    let told = stage.run("many", json!({})).await?;
    assert_eq!(
        (&told["ok"], stage.desk.most_at_once(), stage.times("process")),
        (&json!(true), 10, 14),
        "{told}"
    );
    // The result is that of the last step in the file's order, whichever ended last.
    assert_eq!(told["data"]["asked"]["data"], 13, "{told}");
    Ok(())
}

#[tokio::test]
async fn a_workflow_has_at_most_100_steps() -> Result<()> {
    let stage = Stage::of("many", &many(100)).await?;
    let told = stage.run("many", json!({})).await?;
    assert_eq!((&told["ok"], stage.times("process")), (&json!(true), 100), "{told}");
    let stage = Stage::of("many", &many(101)).await?;
    let told = stage.run("many", json!({})).await?;
    assert_eq!((&told["code"], stage.times("process")), (&json!("unavailable"), 0), "{told}");
    Ok(())
}

#[tokio::test]
async fn retries_keep_their_idempotency_key() -> Result<()> {
    let workflow = "name: again\ndescription: Again.\nsteps:\n  - id: once\n    tool: backend.once\n    \
        onError: {action: retry, retryCount: 2, retryDelay: 1ms}\n  - id: other\n    tool: backend.once\n    \
        dependsOn: [once]\n";
    let stage = Stage::of("again", workflow).await?;
    stage.says("once", Word::Fails(2, "unavailable"));
    for _ in 0..2 {
        let told = stage.run("again", json!({})).await?;
        assert_eq!(told["ok"], true, "{told}");
    }
    let calls = stage.calls();
    let keys: Vec<&str> = calls.iter().filter_map(|(_, asked)| asked["key"].as_str()).collect();
    assert_eq!(keys.len(), 6, "{calls:?}");
    assert!(keys[0] == keys[1] && keys[1] == keys[2], "{keys:?}");
    let others: std::collections::BTreeSet<&str> = keys[2..].iter().copied().collect();
    assert_eq!(others.len(), 4, "another step or another run has another: {keys:?}");
    Ok(())
}

/// A workflow that calls a workflow of another file.
fn calls(name: &str, tool: &str, arguments: &Value) -> String {
    format!(
        "name: {name}\ndescription: Calls another.\nsteps:\n  - id: inner\n    tool: {tool}\n    arguments: {arguments}\n"
    )
}

#[tokio::test]
async fn a_workflow_may_call_one_of_another_file() -> Result<()> {
    let stage = Stage::with(&["research_topic"]).await?;
    stage.write("outer", &calls("outer", "research_topic.research_topic", &json!({"query": "tea"})));
    let told = stage.run("outer", json!({})).await?;
    assert!(told["data"]["text"].as_str().unwrap_or_default().contains("It works."), "{told}");
    // Its failure report names both steps.
    stage.says("read_paper", Word::Fails(1, "not_found"));
    let told = stage.run("outer", json!({})).await?;
    assert_eq!((&told["ok"], &told["details"]["step"]), (&json!(false), &json!("inner")), "{told}");
    assert!(told["details"]["cause"].to_string().contains("read"), "{told}");
    Ok(())
}

#[tokio::test]
async fn nested_workflows_can_ask_questions() -> Result<()> {
    let stage = Stage::with(&["deploy_with_approval"]).await?;
    let deploy = json!({"pr_number": "42", "environment": "test"});
    stage.write("outer", &calls("outer", "deploy_with_approval.deploy_with_approval", &deploy));
    for era in ERAS {
        let kind = Kind::person([accepted(json!({"approved": true}))]);
        let mut client = stage.client_as(era, kind).await?;
        let told = client.envelope("outer", json!({"action": "outer"})).await?;
        assert_eq!(told["data"]["asked"]["environment"], "test", "{era:?}: {told}");
        let question = heard("a question", &mut client.questions).await?;
        let message = question["message"].as_str().unwrap_or_default();
        assert!(message.ends_with("Deploy PR #42 to test?"), "{era:?}: {message}");
        client.end().await?;
    }
    Ok(())
}

#[tokio::test]
async fn cyclic_workflows_end() -> Result<()> {
    let stage = Stage::empty().await?;
    stage.write("left", &calls("left", "right.right", &json!({})));
    stage.write("right", &calls("right", "left.left", &json!({})));
    stage.write("own", &calls("own", "own.own", &json!({})));
    for name in ["left", "right", "own"] {
        let told = stage.run(name, json!({})).await?;
        assert_eq!(told["ok"], false, "{name}: {told}");
    }
    Ok(())
}

/// A question of the plugin that a step calls goes to the same person.
#[tokio::test]
async fn a_plugin_that_a_step_calls_may_ask() -> Result<()> {
    let stage = Stage::empty().await?;
    stage.plugins.put("worker", &fixture("worker"));
    stage.plugins.write("worker.toml", "[grants]\nelicit = true\n");
    stage.write("outer", &calls("outer", "worker.clean", &json!({})));
    for era in ERAS {
        let kind = Kind::person([accepted(json!({"newest": 3, "why": "dust"}))]);
        let mut client = stage.client_as(era, kind).await?;
        let told = client.envelope("outer", json!({"action": "outer"})).await?;
        // A text is not an object, so it is under `data`.
        assert_eq!(told["data"]["data"], "kept 3 because dust", "{era:?}: {told}");
        let question = heard("a question", &mut client.questions).await?;
        assert_eq!(question["message"], "[worker] Delete the old notes?", "{era:?}");
        client.end().await?;
    }
    Ok(())
}

/// Several runs may wait for one person without blocking others; there is a limit.
#[tokio::test]
async fn several_runs_wait_for_a_person_at_once() -> Result<()> {
    let stage = Stage::with(&["deploy_with_approval"]).await?;
    let kind = Kind::person([accepted(json!({"approved": true}))]);
    let client = stage.client_as(Era::Stateful, kind).await?;
    let mut runs = Vec::new();
    for pr in 1..=5 {
        let call = json!({"action": "deploy_with_approval", "pr_number": pr.to_string(), "wait": false});
        let (_, id) = run(&client.envelope("deploy_with_approval", call).await?)?;
        let status = if pr < 5 { "waiting" } else { "failed" };
        let told = becomes(&client, "deploy_with_approval", &id, status).await;
        if pr == 5 {
            let cause = &told["result"]["details"]["cause"];
            assert_eq!(cause["error"], "busy: 4 calls of yours wait for an answer already", "{told}");
        }
        runs.push(id);
    }
    assert_eq!((stage.times("get_pull_request"), stage.times("trigger_deployment")), (5, 0));
    let status = json!({"action": "run_status", "run_id": runs[2], "wait": true});
    let (ended, _) = run(&client.envelope("deploy_with_approval", status).await?)?;
    assert_eq!(ended["result"]["data"]["asked"]["ref"], "sha-of-3", "{ended}");
    client.end().await
}

/// While a question is open, the other steps continue; they are not repeated after the answer.
#[tokio::test]
async fn steps_continue_while_a_question_is_open() -> Result<()> {
    let workflow = "name: both\ndescription: Both.\nsteps:\n  - id: sure\n    type: elicitation\n    message: Sure?\n    \
        schema: {type: object, properties: {why: {type: string}}}\n  - id: fetch\n    tool: backend.fetch\n  - id: twice\n    \
        tool: backend.process\n    dependsOn: [fetch]\n    arguments: {data: 1}\n  - id: after\n    tool: backend.tool\n    \
        dependsOn: [sure, twice]\n    arguments: {arg1: '{{.steps.sure.content.why}} {{.steps.fetch.output.value}}'}\n";
    let stage = Stage::of("both", workflow).await?;
    for (round, era) in ERAS.into_iter().enumerate() {
        let client = stage.client_as(era, Kind::person([accepted(json!({"why": "dust"}))])).await?;
        let (_, id) = run(&client.envelope("both", json!({"action": "both", "wait": false})).await?)?;
        becomes(&client, "both", &id, "waiting").await;
        stage.called("process", round + 1).await;
        let status = json!({"action": "run_status", "run_id": id, "wait": true});
        let (ended, _) = run(&client.envelope("both", status).await?)?;
        assert_eq!(ended["result"]["data"]["asked"]["arg1"], "dust 1234567", "{era:?}: {ended}");
        assert_eq!((stage.times("fetch"), stage.times("process")), (round + 1, round + 1), "{era:?}");
        client.end().await?;
    }
    Ok(())
}
