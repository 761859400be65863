//! Restrictions by the operator: `<name>.toml` next to `<name>.workflow.yaml`, and the servers' own policies.

use anyhow::Result;
use loggia_tests::{Era, Kind, accepted, heard};
use serde_json::{Value, json};

use super::stage::{Stage, Word};

fn research() -> Value {
    json!({"action": "research_topic", "query": "tea"})
}

/// The answer of the research under this policy.
async fn under(policy: &str) -> Result<(Stage, Value)> {
    let stage = Stage::with(&["research_topic"]).await?;
    stage.plugins.write("research_topic.toml", policy);
    let client = stage.client().await?;
    let told = client.envelope("research_topic", research()).await?;
    client.end().await?;
    Ok((stage, told))
}

#[tokio::test]
async fn without_a_policy_only_steps_are_callable() -> Result<()> {
    let (_, told) = under("").await?;
    assert_eq!(told["ok"], true, "{told}");
    Ok(())
}

#[tokio::test]
async fn a_policy_restricts_the_calls_of_steps() -> Result<()> {
    let (_, told) = under("[grants]\ninvoke = [\"arxiv:*\"]\n").await?;
    assert_eq!(told["ok"], true, "{told}");
    let (stage, told) = under("[grants]\ninvoke = [\"arxiv:search_papers\"]\n").await?;
    assert_eq!(told["ok"], false, "{told}");
    let error = told["error"].as_str().unwrap_or_default();
    assert!(error.contains("step `download`") && error.contains("the policy does not let"), "{told}");
    // Nothing starts.
    assert_eq!(stage.calls(), []);
    Ok(())
}

#[tokio::test]
async fn a_policy_may_forbid_questions() -> Result<()> {
    let stage = Stage::with(&["deploy_with_approval"]).await?;
    stage.plugins.write("deploy_with_approval.toml", "[grants]\nelicit = false\n");
    let kind = Kind::person([accepted(json!({"approved": true}))]);
    let mut client = stage.client_as(Era::Stateful, kind).await?;
    let call = json!({"action": "deploy_with_approval", "pr_number": "42"});
    let told = client.envelope("deploy_with_approval", call).await?;
    assert_eq!(told["ok"], false, "{told}");
    assert!(told.to_string().contains("grants.elicit"), "{told}");
    assert!(client.questions.try_recv().is_err(), "nobody was asked");
    assert_eq!(stage.times("trigger_deployment"), 0);
    client.end().await
}

#[tokio::test]
async fn a_policy_denies_or_confirms_a_workflow() -> Result<()> {
    let (stage, told) = under("[actions]\nconfirm = [\"research_topic\"]\n").await?;
    assert_eq!(told["data"]["run"]["status"], "waiting", "for an operator: {told}");
    assert_eq!(stage.calls(), []);
    let by_model = "[actions]\nconfirm = [\"research_topic\"]\nconfirm-by = \"model\"\n";
    let (stage, told) = under(by_model).await?;
    assert_eq!((&told["ok"], &told["code"]), (&json!(false), &json!("denied")), "{told}");
    assert_eq!(stage.calls(), []);
    let stage = Stage::with(&["refs", "reusable", "another"]).await?;
    stage.plugins.write("refs.toml", "[actions]\ndeny = [\"count_leaks\"]\n");
    let client = stage.client().await?;
    let refused = client.envelope("refs", json!({"action": "count_leaks", "repo": "acme/shop"})).await?;
    assert_eq!(refused["ok"], false, "{refused}");
    let call = json!({"action": "count_vulnerabilities", "package_name": "left-pad"});
    assert_eq!(client.envelope("refs", call).await?["data"], json!({"count": 2}));
    client.end().await
}

/// Actions that a server's own policy denies are denied to workflows too.
#[tokio::test]
async fn a_servers_own_policy_holds_for_steps() -> Result<()> {
    let stage = Stage::with(&["research_topic"]).await?;
    stage.server("arxiv", "[actions]\ndeny = [\"download_paper\"]\n");
    let client = stage.client().await?;
    let told = client.envelope("research_topic", research()).await?;
    assert_eq!(told["ok"], false, "{told}");
    assert!(told.to_string().contains("download_paper"), "{told}");
    assert_eq!(stage.times("download_paper"), 0);
    client.end().await
}

/// The person confirms such an action before it runs, in steps too.
#[tokio::test]
async fn confirmation_applies_within_workflows() -> Result<()> {
    let stage = Stage::with(&["research_topic"]).await?;
    stage.server("arxiv", "[actions]\nconfirm = [\"download_paper\"]\n");
    let kind = Kind::person([accepted(json!({"confirm": true}))]);
    let mut client = stage.client_as(Era::Stateless, kind).await?;
    let told = client.envelope("research_topic", research()).await?;
    assert_eq!(told["ok"], true, "{told}");
    let question = heard("a question", &mut client.questions).await?;
    assert!(question["message"].as_str().unwrap_or_default().contains("`download_paper`"), "{question}");
    client.end().await?;
    let client = stage.client().await?;
    let told = client.envelope("research_topic", research()).await?;
    let run = &told["data"]["run"];
    assert_eq!(run["status"], "waiting", "{told}");
    assert!(run["waiting_for"].to_string().contains("an operator must approve `download_paper`"), "{told}");
    assert_eq!(stage.times("download_paper"), 1);
    client.end().await
}

/// The audit log records each step as a call by the workflow.
#[tokio::test]
async fn every_step_is_audited() -> Result<()> {
    let stage = Stage::with(&["research_topic"]).await?;
    let (client, log) = loggia_tests::Client::stdio_logged(stage.plugins.path(), |command| {
        command.env("LOGGIA_LOG", "info,loggia::audit=debug");
    })
    .await?;
    client.envelope("research_topic", research()).await?;
    client.end().await?;
    let log = log.await??;
    let line = |name: &str| log.lines().find(|line| line.contains(name)).unwrap_or_default();
    for action in ["arxiv.search_papers: ok", "arxiv.download_paper: ok", "arxiv.read_paper: ok"] {
        assert!(line(action).contains("from"), "{action} is not told with the call that made it: {log}");
    }
    let root = line("research_topic.research_topic: ok");
    assert!(!root.is_empty() && !root.contains("from"), "{log}");
    Ok(())
}

/// A started call is recorded however it ended.
#[tokio::test]
async fn a_cancelled_step_is_audited() -> Result<()> {
    let stage = Stage::with(&["investigate_incident"]).await?;
    stage.says("search_logs", Word::Waits);
    stage.says("get_metrics", Word::Waits);
    stage.says("list_alerts", Word::Fails(1, "not_found"));
    let (client, log) = loggia_tests::Client::stdio_logged(stage.plugins.path(), |command| {
        command.env("LOGGIA_LOG", "info,loggia::audit=debug");
    })
    .await?;
    let call = json!({"action": "investigate_incident", "incident_id": "INC-7"});
    let told = client.envelope("investigate_incident", call).await?;
    assert_eq!(told["details"]["stopped"], json!(["get_logs", "get_metrics"]), "{told}");
    client.end().await?;
    let log = log.await??;
    for line in [
        "logging.search_logs: cancelled",
        "monitoring.get_metrics: cancelled",
        "pagerduty.list_alerts: not_found",
        "investigate_incident.investigate_incident: step_failed",
    ] {
        assert_eq!(log.matches(line).count(), 1, "{line}: {log}");
    }
    Ok(())
}

/// Grants without meaning for a workflow are refused instead of ignored.
#[tokio::test]
async fn grants_without_meaning_are_refused() -> Result<()> {
    let (_, told) = under("[grants]\nconfig = { a = 1 }\n").await?;
    assert_eq!(told["code"], "unavailable", "{told}");
    assert!(told["error"].as_str().unwrap_or_default().contains("policy"), "{told}");
    Ok(())
}

#[tokio::test]
async fn an_invalid_policy_keeps_the_previous_one() -> Result<()> {
    let stage = Stage::with(&["research_topic"]).await?;
    stage.plugins.write("research_topic.toml", "[grants]\ninvok = []\n");
    let client = stage.client().await?;
    let told = client.envelope("research_topic", research()).await?;
    assert_eq!(told["code"], "unavailable", "it never had a right one: {told}");
    stage.plugins.write("research_topic.toml", "[grants]\ninvoke = [\"arxiv:*\"]\n");
    loggia_tests::eventually(async || {
        let told = client.envelope("research_topic", research()).await.map_err(|error| error.to_string())?;
        if told["ok"] == true { Ok(()) } else { Err(told.to_string()) }
    })
    .await;
    client.end().await
}
