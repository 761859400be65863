//! Workflows that take long: as runs, with their progress, and stopped.

use anyhow::{Context, Result};
use loggia_tests::{Client, ERAS, Era, Kind, PATIENCE, soon};
use rmcp::{
    ServiceError,
    model::{CallToolRequest, CallToolRequestParams, ClientRequest},
    service::PeerRequestOptions,
};
use serde_json::{Value, json};

use super::stage::{Stage, Word, becomes, run};

fn research() -> Value {
    json!({"action": "research_topic", "query": "tea"})
}

#[tokio::test]
async fn a_workflow_continues_as_a_run() -> Result<()> {
    let stage = Stage::with(&["research_topic"]).await?;
    for era in ERAS {
        let client = stage.client_as(era, Kind::default()).await?;
        let mut call = research();
        call["wait"] = json!(false);
        let begun = client.envelope("research_topic", call).await?;
        let (started, id) = run(&begun)?;
        assert_eq!(started["status"], "running", "{begun}");
        assert_eq!(begun["resolved_inputs"], json!({"query": "tea"}), "{begun}");
        let status = json!({"action": "run_status", "run_id": id, "wait": true, "include_trace": true});
        let (ended, _) = run(&client.envelope("research_topic", status).await?)?;
        assert_eq!(ended["status"], "succeeded", "{era:?}: {ended}");
        let text = ended["result"]["data"]["text"].as_str().context("a text")?;
        assert!(text.contains("It works."), "{era:?}: {ended}");
        // The trace names the steps.
        let trace = ended["trace"].to_string();
        for step in ["search", "download", "read"] {
            assert!(trace.contains(step), "{era:?}: {step} is not in {trace}");
        }
        client.end().await?;
    }
    Ok(())
}

#[tokio::test]
async fn progress_names_the_steps_under_way() -> Result<()> {
    let stage = Stage::with(&["research_topic"]).await?;
    stage.says("download_paper", Word::Waits);
    for era in ERAS {
        let mut client = stage.client_as(era, Kind::default()).await?;
        let arguments = research().as_object().cloned().unwrap_or_default();
        let request = CallToolRequestParams::new("research_topic").with_arguments(arguments);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(request));
        let call =
            client.service.peer().send_cancellable_request(request, PeerRequestOptions::default()).await?;
        // Messages in quick succession are merged; the last one is always delivered.
        let mut told = Vec::new();
        let named = async {
            while let Some(progress) = client.progress.recv().await {
                let message = progress.message.unwrap_or_default();
                told.push((progress.progress, progress.total, message.clone()));
                if message.contains("running: download") {
                    break;
                }
            }
        };
        let named = tokio::time::timeout(PATIENCE, named).await;
        assert!(named.is_ok(), "{era:?}: {told:?}");
        assert!(told.is_sorted_by(|a, b| a.0 < b.0), "{era:?}: {told:?}");
        let last = told.last().cloned().unwrap_or_default();
        assert_eq!(
            (last.0, last.1),
            (1.5, Some(3.0)),
            "{era:?}: one of three is done, one has begun: {told:?}"
        );
        call.cancel(None).await?;
        stage.quiet().await;
        client.end().await?;
    }
    Ok(())
}

/// Running steps are stopped, and no further one starts.
#[tokio::test]
async fn a_cancelled_call_stops_its_steps() -> Result<()> {
    let stage = Stage::with(&["investigate_incident"]).await?;
    for action in ["search_logs", "get_metrics"] {
        stage.says(action, Word::Waits);
    }
    let params = json!({"action": "investigate_incident", "incident_id": "INC-7"});
    let host = stage.host().await?;
    for (round, (era, http)) in ERAS.into_iter().flat_map(|era| [(era, false), (era, true)]).enumerate() {
        let client = match http {
            true => Client::http(&host, era).await?,
            false => stage.client_as(era, Kind::default()).await?,
        };
        let arguments = params.as_object().cloned().unwrap_or_default();
        let request = CallToolRequestParams::new("investigate_incident").with_arguments(arguments);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(request));
        let peer = client.service.peer();
        let call = peer.send_cancellable_request(request, PeerRequestOptions::default()).await?;
        stage.called("search_logs", round + 1).await;
        stage.called("get_metrics", round + 1).await;
        call.cancel(Some("enough".into())).await?;
        stage.quiet().await;
        assert_eq!(stage.times("create_document"), 0, "{era:?} http {http}");
        client.end().await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_client_that_leaves_stops_its_steps() -> Result<()> {
    let stage = Stage::with(&["research_topic"]).await?;
    stage.says("download_paper", Word::Waits);
    let client = stage.client().await?;
    let peer = client.service.peer().clone();
    let waiting = tokio::spawn(async move {
        let arguments = research().as_object().cloned().unwrap_or_default();
        peer.call_tool(CallToolRequestParams::new("research_topic").with_arguments(arguments)).await
    });
    stage.called("download_paper", 1).await;
    client.end().await?;
    stage.quiet().await;
    let ended: Result<_, ServiceError> = soon("the call's end", waiting).await??;
    assert!(ended.is_err(), "{ended:?}");
    assert_eq!(stage.times("read_paper"), 0);
    Ok(())
}

#[tokio::test]
async fn a_cancelled_run_stops_steps_and_reports() -> Result<()> {
    let stage = Stage::with(&["research_topic"]).await?;
    stage.says("download_paper", Word::Waits);
    let client = stage.client().await?;
    let mut call = research();
    call["wait"] = json!(false);
    let (_, id) = run(&client.envelope("research_topic", call).await?)?;
    stage.called("download_paper", 1).await;
    client.envelope("research_topic", json!({"action": "run_cancel", "run_id": id})).await?;
    let ended = becomes(&client, "research_topic", &id, "cancelled").await;
    assert_eq!(ended["result"]["code"], "cancelled", "{ended}");
    stage.quiet().await;
    assert_eq!(stage.times("read_paper"), 0);
    client.end().await
}

#[tokio::test]
async fn a_run_outlives_the_client_that_began_it() -> Result<()> {
    let stage = Stage::with(&["research_topic"]).await?;
    let host = stage.host().await?;
    let client = Client::http(&host, Era::Stateful).await?;
    let mut call = research();
    call["wait"] = json!(false);
    let (_, id) = run(&client.envelope("research_topic", call).await?)?;
    client.end().await?;
    let other = Client::http(&host, Era::Stateless).await?;
    let ended = becomes(&other, "research_topic", &id, "succeeded").await;
    assert!(ended["result"]["data"]["text"].is_string(), "{ended}");
    other.end().await
}
