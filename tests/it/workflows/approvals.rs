//! Questions to the person as steps, in both lifecycles, over both transports, and by a client that we did not write.

use anyhow::{Context, Result};
use loggia_tests::{Client, ERAS, Era, HttpHost, Kind, accepted, binary, cache, eventually, heard, soon};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ElicitResult, ElicitationAction, GetTaskParams, TaskPayload,
    TaskStatus, UpdateTaskParams,
};
use serde_json::{Value, json};
use tokio::process::Command;

use super::stage::{Stage, becomes, run};
use crate::clients;

fn said(action: ElicitationAction) -> ElicitResult {
    ElicitResult::new(action)
}

fn deploy() -> Value {
    json!({"action": "deploy_with_approval", "pr_number": "42"})
}

async fn client(stage: &Stage, host: &HttpHost, http: bool, era: Era, kind: Kind) -> Result<Client> {
    if http { Client::http_as(host, era, kind).await } else { stage.client_as(era, kind).await }
}

#[tokio::test]
async fn a_deployment_waits_for_its_approval() -> Result<()> {
    let stage = Stage::with(&["deploy_with_approval"]).await?;
    let host = stage.host().await?;
    for era in ERAS {
        for http in [false, true] {
            let before = stage.calls().len();
            let kind = Kind::person([accepted(json!({"approved": true}))]);
            let mut client = client(&stage, &host, http, era, kind).await?;
            let told = client.envelope("deploy_with_approval", deploy()).await?;
            let asked = json!({"ref": "sha-of-42", "environment": "production"});
            assert_eq!(
                told["data"],
                json!({"deployment": "dep-1", "asked": asked}),
                "{era:?} http {http}: {told}"
            );
            let question = heard("a question", &mut client.questions).await?;
            assert_eq!(question["message"], "[deploy_with_approval] Deploy PR #42 to production?");
            assert_eq!(question["requestedSchema"]["properties"], json!({"approved": {"type": "boolean"}}));
            // The text was converted to the number that the server takes. And no call was repeated.
            let pr = ("get_pull_request".to_owned(), json!({"pr": 42}));
            assert_eq!(stage.calls()[before..], [pr, ("trigger_deployment".to_owned(), asked)]);
            client.end().await?;
        }
    }
    Ok(())
}

#[tokio::test]
async fn unapproved_steps_are_skipped() -> Result<()> {
    let stage = Stage::with(&["deploy_with_approval"]).await?;
    for era in ERAS {
        let client = stage.client_as(era, Kind::person([accepted(json!({"approved": false}))])).await?;
        let told = client.envelope("deploy_with_approval", deploy()).await?;
        assert_eq!(told["ok"], true, "{era:?}: {told}");
        assert_eq!(
            told["data"],
            json!({"action": "accept", "content": {"approved": false}}),
            "{era:?}: {told}"
        );
        client.end().await?;
    }
    assert_eq!(stage.times("trigger_deployment"), 0);
    Ok(())
}

#[tokio::test]
async fn declining_or_closing_ends_the_workflow() -> Result<()> {
    let stage = Stage::with(&["deploy_with_approval"]).await?;
    let mut told = Vec::new();
    for action in [ElicitationAction::Decline, ElicitationAction::Cancel] {
        for era in ERAS {
            let client = stage.client_as(era, Kind::person([said(action.clone())])).await?;
            told.push(client.envelope("deploy_with_approval", deploy()).await?);
            client.end().await?;
        }
    }
    assert_eq!((&told[0], &told[2]), (&told[1], &told[3]), "both lifecycles tell the same");
    insta::assert_json_snapshot!("declined", told[0]);
    insta::assert_json_snapshot!("closed", told[2]);
    assert_eq!(stage.times("trigger_deployment"), 0);
    Ok(())
}

#[tokio::test]
async fn a_question_may_be_the_only_step() -> Result<()> {
    let stage = Stage::with(&["elicitation"]).await?;
    for era in ERAS {
        let kind = Kind::person([accepted(json!({"confirm": true}))]);
        let mut client = stage.client_as(era, kind).await?;
        let told = client.envelope("elicitation", json!({"action": "elicitation"})).await?;
        let data = json!({"action": "accept", "content": {"confirm": true}});
        assert_eq!(told, json!({"ok": true, "action": "elicitation", "data": data}), "{era:?}");
        let question = heard("a question", &mut client.questions).await?;
        assert_eq!(question["message"], "[elicitation] Proceed with deployment?");
        client.end().await?;
    }
    Ok(())
}

/// A workflow with a question, which handles a declined answer in this way.
fn asks(otherwise: &str) -> String {
    format!(
        "name: asks\ndescription: Asks.\nsteps:\n  - id: sure\n    type: elicitation\n    message: Sure?\n    \
         schema: {{type: object, properties: {{why: {{type: string}}}}}}\n    onDecline: {{action: {otherwise}}}\n    \
         onCancel: {{action: {otherwise}}}\n  - id: after\n    tool: backend.fetch\n    dependsOn: [sure]\n"
    )
}

#[tokio::test]
async fn authors_handle_declined_questions() -> Result<()> {
    for (otherwise, ok, calls) in [("abort", false, 0), ("continue", true, 1), ("skip_remaining", true, 0)] {
        for action in [ElicitationAction::Decline, ElicitationAction::Cancel] {
            let stage = Stage::of("asks", &asks(otherwise)).await?;
            let client = stage.client_as(Era::Stateless, Kind::person([said(action.clone())])).await?;
            let told = client.envelope("asks", json!({"action": "asks"})).await?;
            assert_eq!(
                (&told["ok"], stage.times("fetch")),
                (&json!(ok), calls),
                "{otherwise} {action:?}: {told}"
            );
            client.end().await?;
        }
    }
    Ok(())
}

/// A workflow with two concurrent questions.
fn two() -> String {
    let ask = |id: &str| {
        format!(
            "  - id: {id}\n    type: elicitation\n    message: '{id}?'\n    \
             schema: {{type: object, properties: {{why: {{type: string}}}}}}\n"
        )
    };
    format!(
        "name: asks\ndescription: Asks twice.\nsteps:\n{}{}  - id: after\n    tool: backend.tool\n    \
         dependsOn: [left, right]\n    arguments:\n      \
         arg1: '{{{{.steps.left.content.why}}}} {{{{.steps.right.content.why}}}}'\n",
        ask("left"),
        ask("right")
    )
}

#[tokio::test]
async fn two_questions_at_once_are_both_answered() -> Result<()> {
    let stage = Stage::of("asks", &two()).await?;
    for era in ERAS {
        let kind = Kind::person([accepted(json!({"why": "same"})), accepted(json!({"why": "same"}))]);
        let mut client = stage.client_as(era, kind).await?;
        let told = client.envelope("asks", json!({"action": "asks"})).await?;
        assert_eq!(told["data"]["asked"]["arg1"], "same same", "{era:?}: {told}");
        let mut asked = Vec::new();
        for _ in 0..2 {
            let question = heard("a question", &mut client.questions).await?;
            asked.push(question["message"].as_str().unwrap_or_default().to_owned());
        }
        asked.sort();
        assert_eq!(asked, ["[asks] left?", "[asks] right?"], "{era:?}");
        client.end().await?;
    }
    Ok(())
}

/// A question that times out counts as closed, so `onCancel` applies. Repeated, since two clocks expire at once, the
/// workflow's and the gate's.
#[tokio::test]
async fn a_question_times_out() -> Result<()> {
    for (otherwise, ok, calls) in [("abort", false, 0), ("continue", true, 1), ("skip_remaining", true, 0)] {
        let text = asks(otherwise).replace("    onDecline", "    timeout: 50ms\n    onDecline");
        let stage = Stage::of("asks", &text).await?;
        let client = stage.client_as(Era::Stateful, Kind::person([])).await?;
        for round in 1..=4 {
            let told = client.envelope("asks", json!({"action": "asks"})).await?;
            assert_eq!(told["ok"], ok, "{otherwise}: {told}");
            assert_eq!(stage.times("fetch"), calls * round, "{otherwise}: {told}");
            if !ok {
                assert_eq!(
                    (&told["code"], &told["details"]["step"]),
                    (&json!("timed_out"), &json!("sure")),
                    "{told}"
                );
            }
        }
        client.end().await?;
    }
    Ok(())
}

/// A form that is no longer awaited is withdrawn. (In the other lifecycle the client asks again itself.)
#[tokio::test]
async fn a_question_that_is_closed_is_taken_back() -> Result<()> {
    let text = asks("abort").replace("    onDecline", "    timeout: 2s\n    onDecline");
    let stage = Stage::of("asks", &text).await?;
    let mut client = stage.client_as(Era::Stateful, Kind::person([])).await?;
    let told = client.envelope("asks", json!({"action": "asks"})).await?;
    assert_eq!(told["code"], "timed_out", "{told}");
    heard("`notifications/cancelled`", &mut client.withdrawn).await?;
    client.end().await
}

#[tokio::test]
async fn approvals_are_answered_through_run_status() -> Result<()> {
    let stage = Stage::with(&["deploy_with_approval"]).await?;
    let host = stage.host().await?;
    for era in ERAS {
        let kind = Kind::person([accepted(json!({"approved": true}))]);
        let client = Client::http_as(&host, era, kind).await?;
        let mut call = deploy();
        call["wait"] = json!(false);
        let (_, id) = run(&client.envelope("deploy_with_approval", call).await?)?;
        let waiting = becomes(&client, "deploy_with_approval", &id, "waiting").await;
        let question = "[deploy_with_approval] Deploy PR #42 to production?";
        assert_eq!(waiting["waiting_for"], json!([question]), "{era:?}");
        let status = json!({"action": "run_status", "run_id": id, "wait": true});
        let (ended, _) = run(&client.envelope("deploy_with_approval", status).await?)?;
        assert_eq!(ended["status"], "succeeded", "{era:?}: {ended}");
        assert_eq!(ended["result"]["data"]["deployment"], "dep-1", "{era:?}: {ended}");
        client.end().await?;
    }
    Ok(())
}

#[tokio::test]
async fn clients_with_tasks_answer_through_the_task() -> Result<()> {
    let stage = Stage::with(&["deploy_with_approval"]).await?;
    let client = stage.client_as(Era::Stateless, Kind::person([]).tasks()).await?;
    let peer = client.service.peer();
    let arguments = deploy().as_object().cloned().unwrap_or_default();
    let request = CallToolRequestParams::new("deploy_with_approval").with_arguments(arguments);
    let CallToolResponse::Task(created) = peer.call_tool_once(request).await? else {
        anyhow::bail!("no task")
    };
    let id = created.task.task_id;
    let stands = async || {
        eventually(async || {
            let told = peer.get_task(GetTaskParams::new(&id)).await.map_err(|error| error.to_string())?;
            if told.task.status() == TaskStatus::Working { Err("working".to_owned()) } else { Ok(told.task) }
        })
        .await
    };
    let TaskPayload::InputRequired { input_requests } = stands().await.payload else {
        anyhow::bail!("it asks")
    };
    let (key, _) = input_requests.first_key_value().context("a question")?;
    let answer = serde_json::to_value(accepted(json!({"approved": true})))?;
    peer.update_task(UpdateTaskParams::new(&id, [(key.clone(), answer)].into())).await?;
    let TaskPayload::Completed { result } = stands().await.payload else { anyhow::bail!("completed") };
    assert_eq!(result["structuredContent"]["data"]["deployment"], "dep-1", "{result:?}");
    client.end().await
}

/// One call as the client makes it in the era without sessions: an answer, or a question.
async fn once(client: &Client, tool: &str, answers: Option<(Value, String)>) -> Result<CallToolResponse> {
    let arguments = json!({"action": tool}).as_object().cloned().unwrap_or_default();
    let mut request = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
    if let Some((Value::Object(answers), state)) = answers {
        (request.input_responses, request.request_state) = (Some(answers.into_iter().collect()), Some(state));
    }
    Ok(soon("an answer or a question", client.service.peer().call_tool_once(request)).await??)
}

/// Keys of the questions, and the state for the continuation.
fn asked(response: CallToolResponse) -> Result<(Vec<String>, String)> {
    let CallToolResponse::InputRequired(asked) = response else { anyhow::bail!("it asks: {response:?}") };
    let requests = asked.input_requests.context("questions")?;
    Ok((requests.into_keys().collect(), asked.request_state.context("a state")?))
}

fn envelope(response: CallToolResponse) -> Result<Value> {
    let CallToolResponse::Complete(result) = response else { anyhow::bail!("it ends: {response:?}") };
    result.structured_content.context("an envelope")
}

#[tokio::test]
async fn questions_may_be_answered_one_after_the_other() -> Result<()> {
    let stage = Stage::of("asks", &two()).await?;
    let client = stage.client_as(Era::Stateless, Kind::person([])).await?;
    let yes = |why: &str| json!({"action": "accept", "content": {"why": why}});
    // Both questions are open at once, and the client may receive one before the other.
    let (keys, state) = asked(once(&client, "asks", None).await?)?;
    let first = json!({keys[0].as_str(): yes("x")});
    let (left, state) = asked(once(&client, "asks", Some((first, state))).await?)?;
    assert!(left.len() == 1 && left[0] != keys[0], "the other is asked (again): {keys:?}, {left:?}");
    let second = json!({left[0].as_str(): yes("x")});
    let told = envelope(once(&client, "asks", Some((second, state))).await?)?;
    assert_eq!(told["data"]["asked"]["arg1"], "x x", "{told}");
    client.end().await
}

/// The person answers after the workflow has continued without them, and gets its result.
#[tokio::test]
async fn a_late_answer_gets_the_result() -> Result<()> {
    let text = asks("continue").replace("    onDecline", "    timeout: 2s\n    onDecline");
    let stage = Stage::of("asks", &text).await?;
    let client = stage.client_as(Era::Stateless, Kind::person([])).await?;
    let (keys, state) = asked(once(&client, "asks", None).await?)?;
    stage.called("fetch", 1).await;
    let answers = json!({keys[0].as_str(): {"action": "accept", "content": {}}});
    let told = envelope(once(&client, "asks", Some((answers, state))).await?)?;
    assert_eq!((&told["ok"], &told["data"]["approved"]), (&json!(true), &json!(true)), "{told}");
    assert_eq!(stage.times("fetch"), 1);
    client.end().await
}

#[tokio::test]
async fn the_official_python_client_approves() -> Result<()> {
    let python = clients::python().await?;
    let stage = Stage::with(&["deploy_with_approval"]).await?;
    let host = stage.host().await?;
    let (host_binary, cache) = (binary(), cache());
    let stdio = [
        host_binary.as_os_str(),
        "serve".as_ref(),
        stage.plugins.path().as_os_str(),
        "--cache".as_ref(),
        cache.as_os_str(),
    ];
    for target in [&stdio[..], &[host.url.as_ref()]] {
        let approval = clients::script("approval.py");
        let told = clients::run(Command::new(&python).arg(approval).args(target)).await?;
        insta::assert_snapshot!("python_approval", told);
    }
    Ok(())
}
