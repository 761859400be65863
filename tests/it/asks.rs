//! Questions to the person, in both lifecycles and over both transports.

use anyhow::{Context, Result};
use loggia_tests::{Client, ERAS, Era, Folder, HttpHost, Kind, accepted, eventually, heard, soon};
use rmcp::model::{CallToolRequestParams, CallToolResponse, ElicitResult, ElicitationAction};
use serde_json::{Value, json};

fn folder(policy: &str) -> Folder {
    let folder = Folder::with(&["worker"]);
    folder.write("worker.toml", policy);
    folder
}

const MAY_ASK: &str = "[grants]\nelicit = true\n";

fn declined() -> ElicitResult {
    ElicitResult::new(ElicitationAction::Decline)
}

#[tokio::test]
async fn a_plugin_asks_the_person_and_continues() -> Result<()> {
    let folder = folder(MAY_ASK);
    let host = HttpHost::start(folder.path()).await?;
    for era in ERAS {
        for http in [false, true] {
            let kind = Kind::person([accepted(json!({"newest": 3, "why": "dust"})), declined()]);
            let mut client = match http {
                true => Client::http_as(&host, era, kind).await?,
                false => Client::stdio_as(folder.path(), era, kind).await?,
            };
            let clean = || client.envelope("worker", json!({"action": "clean"}));
            assert_eq!(clean().await?["data"], "kept 3 because dust", "{era:?} http {http}");
            assert_eq!(clean().await?["data"], "declined", "{era:?} http {http}");
            let question = heard("a question", &mut client.questions).await?;
            assert_eq!(question["message"], "[worker] Delete the old notes?");
            let newest = &question["requestedSchema"]["properties"]["newest"];
            assert_eq!((&newest["type"], &newest["maximum"]), (&json!("integer"), &json!(10)), "{question}");
            client.end().await?;
        }
    }
    Ok(())
}

#[tokio::test]
async fn clients_without_elicitation_get_a_hint() -> Result<()> {
    let told = async |folder: &Folder, kind: Kind| -> Result<Value> {
        let client = Client::stdio_as(folder.path(), Era::Stateful, kind).await?;
        let envelope = client.envelope("worker", json!({"action": "clean"})).await?;
        client.end().await?;
        Ok(envelope)
    };
    let unable = told(&folder(MAY_ASK), Kind::default()).await?;
    assert_eq!(unable["code"], "unavailable");
    assert_eq!(unable["error"], "unavailable: this client cannot ask the person");
    assert!(unable["hint"].as_str().context("a hint")?.starts_with("ask the person and pass"));
    let ungranted = told(&folder(""), Kind::person([])).await?;
    assert_eq!(ungranted["code"], "denied");
    assert_eq!(ungranted["hint"], "the operator can set `grants.elicit = true`");
    let unfit = told(&folder(MAY_ASK), Kind::person([accepted(json!({"newest": 11}))])).await?;
    assert_eq!(unfit["code"], "invalid_params");
    assert_eq!(unfit["error"], "the answer does not fit the question: `newest` does not fit `maximum`");
    Ok(())
}

#[tokio::test]
async fn a_confirmed_action_asks_before_anything_runs() -> Result<()> {
    let folder = folder("[actions]\nconfirm = [\"work\"]\n");
    for era in ERAS {
        let kind = Kind::person([declined(), accepted(json!({"confirm": true}))]);
        let mut client = Client::stdio_as(folder.path(), era, kind).await?;
        let work = json!({"action": "work", "steps": 0, "key": "hush"});
        let refused = client.envelope("worker", work.clone()).await?;
        assert_eq!(refused["error"], "access denied: the person did not agree to `work`", "{era:?}");
        assert_eq!(client.envelope("worker", work).await?["data"]["steps"], 0, "{era:?}");
        let question = heard("a question", &mut client.questions).await?;
        let message = question["message"].as_str().context("a message")?;
        assert!(message.starts_with("[worker] Run `work` (write) with {"), "{message}");
        assert!(message.contains("\"steps\":0") && !message.contains("hush"), "{message}");
        client.end().await?;
    }
    // The policy may accept the word of a model.
    folder.write("worker.toml", "[actions]\nconfirm = [\"work\"]\nconfirm-by = \"model\"\n");
    let client = Client::stdio(folder.path(), Era::Stateful).await?;
    let refused = client.envelope("worker", json!({"action": "work", "steps": 0})).await?;
    assert_eq!(refused["error"], "access denied: `work` needs the person's consent");
    let agreed = json!({"action": "work", "steps": 0, "confirm": true});
    assert_eq!(client.envelope("worker", agreed).await?["ok"], true);
    client.end().await
}

/// A request state goes through the client's hands, and is good for nothing else.
#[tokio::test]
async fn a_parked_call_resumes_only_with_its_state() -> Result<()> {
    let folder = folder(MAY_ASK);
    folder.put("echo", &loggia_tests::fixture("echo"));
    let client = Client::stdio_as(folder.path(), Era::Stateless, Kind::person([])).await?;
    let request = |tool: &str| {
        let arguments = json!({"action": "clean"}).as_object().cloned().unwrap_or_default();
        CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments)
    };
    let once = async |request: CallToolRequestParams| -> Result<CallToolResponse> {
        Ok(soon("an answer or a question", client.service.peer().call_tool_once(request)).await??)
    };
    let CallToolResponse::InputRequired(asked) = once(request("worker")).await? else {
        anyhow::bail!("it asks")
    };
    let (key, _) = asked.input_requests.context("questions")?.pop_first().context("one")?;
    let state = asked.request_state.context("a state")?;
    let answers = |newest: u32| {
        let answer = json!({"action": "accept", "content": {"newest": newest}});
        Some([(key.clone(), answer)].into())
    };
    let mut repeated = request("worker");
    (repeated.input_responses, repeated.request_state) = (answers(1), Some(state.clone()));
    for (tool, state) in [("echo", state.clone()), ("worker", format!("{state}x")), ("worker", "x".into())] {
        let mut forged = repeated.clone();
        (forged.name, forged.request_state) = (tool.into(), Some(state));
        let refused = once(forged).await.err().context("it is refused")?.to_string();
        assert!(refused.contains("`requestState` is not valid for this call"), "{refused}");
    }
    // An invalid answer keeps the question open.
    let mut nonsense = repeated.clone();
    nonsense.input_responses = Some([(key.clone(), json!(12345))].into());
    assert!(matches!(once(nonsense).await?, CallToolResponse::InputRequired(_)));
    let data = async |request: CallToolRequestParams| -> Result<Value> {
        let CallToolResponse::Complete(result) = once(request).await? else { anyhow::bail!("it ends") };
        Ok(result.structured_content.context("an envelope")?["data"].clone())
    };
    assert_eq!(data(repeated.clone()).await?, "kept 1 because ");
    // A client that lost its connection repeats the request; the call runs only once.
    repeated.input_responses = answers(2);
    assert_eq!(data(repeated).await?, "kept 1 because ");
    client.end().await
}

#[tokio::test]
async fn a_waiting_run_is_answered_through_its_status() -> Result<()> {
    let folder = folder(MAY_ASK);
    let host = HttpHost::start(folder.path()).await?;
    for era in ERAS {
        let client = Client::http_as(&host, era, Kind::person([accepted(json!({}))])).await?;
        let begun = client.envelope("worker", json!({"action": "clean_all", "wait": false})).await?;
        let id = begun["data"]["run"]["id"].as_str().context("a run")?.to_owned();
        let waiting = eventually(async || {
            let status = json!({"action": "run_status", "run_id": id});
            let told = client.envelope("worker", status).await.map_err(|e| e.to_string())?;
            let run = told["data"]["run"].clone();
            if run["status"] == "waiting" { Ok(run) } else { Err(run.to_string()) }
        })
        .await;
        assert_eq!(waiting["waiting_for"], json!(["[worker] Really all?"]), "{era:?}");
        let status = json!({"action": "run_status", "run_id": id, "wait": true});
        let ended = client.envelope("worker", status).await?;
        let run = &ended["data"]["run"];
        assert_eq!(
            (&run["status"], &run["result"]["data"]),
            (&json!("succeeded"), &json!("all gone")),
            "{era:?}"
        );
        client.end().await?;
    }
    Ok(())
}
