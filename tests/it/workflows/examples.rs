//! Each example of the page runs, and calls its servers as the page describes.

use anyhow::Result;
use loggia_tests::{Client, ERAS, Kind, accepted, heard};
use rmcp::model::{ElicitResult, ElicitationAction};
use serde_json::{Value, json};

use super::stage::{Stage, Word};

fn call(action: &str, params: Value) -> (String, Value) {
    (action.to_owned(), params)
}

/// Concurrent calls arrive in any order.
fn sorted(mut calls: Vec<(String, Value)>) -> Vec<(String, Value)> {
    calls.sort_by(|a, b| a.0.cmp(&b.0));
    calls
}

fn research() -> Vec<(String, Value)> {
    vec![
        call("search_papers", json!({"query": "tea", "max_results": 1})),
        call("download_paper", json!({"paper_id": "2401.00001"})),
        call("read_paper", json!({"paper_id": "2401.00001"})),
    ]
}

/// Answer of `read_paper`, a text.
const PAPER: &str =
    r##"{"status":"success","content":"# Paper 2401.00001\n\nIt works.","asked":{"paper_id":"2401.00001"}}"##;

#[tokio::test]
async fn a_topic_is_searched_downloaded_and_read() -> Result<()> {
    let stage = Stage::with(&["research_topic"]).await?;
    let host = stage.host().await?;
    for era in ERAS {
        for http in [false, true] {
            let client = match http {
                true => Client::http(&host, era).await?,
                false => stage.client_as(era, Kind::default()).await?,
            };
            let before = stage.calls().len();
            let told = client
                .envelope("research_topic", json!({"action": "research_topic", "query": "tea"}))
                .await?;
            let expected = json!({"ok": true, "action": "research_topic", "data": {"text": PAPER}});
            assert_eq!(told, expected, "{era:?} http {http}");
            assert_eq!(stage.calls()[before..], research(), "{era:?} http {http}");
            client.end().await?;
        }
    }
    Ok(())
}

#[tokio::test]
async fn the_complete_example_runs_with_everything_around_it() -> Result<()> {
    let stage = Stage::with(&["research_vmcp"]).await?;
    let client = stage.client().await?;
    let told = client.envelope("research_vmcp", json!({"action": "research_topic", "query": "tea"})).await?;
    assert_eq!(told, json!({"ok": true, "action": "research_topic", "data": {"text": PAPER}}));
    assert_eq!(stage.calls(), research());
    client.end().await
}

#[tokio::test]
async fn an_incident_is_investigated_in_parallel() -> Result<()> {
    let stage = Stage::with(&["investigate_incident"]).await?;
    // None of the three is answered before all have arrived.
    for action in ["search_logs", "get_metrics", "list_alerts"] {
        stage.says(action, Word::Meets(3));
    }
    let told = stage.run("investigate_incident", json!({"incident_id": "INC-7"})).await?;
    let logs = "Logs: [map[level:error line:17] map[level:warn line:21]]";
    let asked = json!({"title": "Incident INC-7 Summary", "content": logs, "body": null});
    let expected = json!({"id": "doc-1", "asked": asked});
    assert_eq!(told, json!({"ok": true, "action": "investigate_incident", "data": expected}));
    let calls = stage.calls();
    assert_eq!(
        sorted(calls[..3].to_vec()),
        [
            call("get_metrics", json!({"filter": "error_rate", "timerange": "1h"})),
            call("list_alerts", json!({"incident": "INC-7"})),
            call("search_logs", json!({"query": "incident_id=INC-7", "timerange": "1h"})),
        ]
    );
    assert_eq!(calls[3..], [call("create_document", asked)]);
    Ok(())
}

#[tokio::test]
async fn scans_are_reported_in_one_issue() -> Result<()> {
    let stage = Stage::with(&["security_scan_report"]).await?;
    let params = json!({"package_name": "left-pad", "ecosystem": "npm", "repo": "acme/shop"});
    for action in ["query_vulnerability", "scan_repo"] {
        stage.says(action, Word::Meets(2));
    }
    let told = stage.run("security_scan_report", params.clone()).await?;
    let body = "Vulnerability scan completed for left-pad";
    let asked = json!({"repo": "acme/shop", "title": "Security Scan Results", "body": body});
    assert_eq!(
        told,
        json!({"ok": true, "action": "security_scan_report", "data": {"number": 7, "asked": asked}})
    );
    assert_eq!(
        sorted(stage.calls()),
        [
            call("create_issue", asked),
            call("query_vulnerability", json!({"package_name": "left-pad", "ecosystem": "npm"})),
            call("scan_repo", json!({"repository": "acme/shop"})),
        ]
    );

    // `onError: continue`: the workflow continues, and its result is that of the last successful step.
    stage.says("create_issue", Word::Fails(1, "unavailable"));
    let told = stage.run("security_scan_report", params).await?;
    let scanned = json!({"findings": [], "asked": {"repository": "acme/shop"}});
    assert_eq!(told, json!({"ok": true, "action": "security_scan_report", "data": scanned}));
    Ok(())
}

#[tokio::test]
async fn a_skipped_scan_has_default_results() -> Result<()> {
    let stage = Stage::with(&["optional_security_check"]).await?;
    for (scan, found, scans) in [(None, 0, 0), (Some(false), 0, 0), (Some(true), 2, 1)] {
        let mut params = json!({"package_name": "left-pad", "ecosystem": "npm"});
        if let Some(scan) = scan {
            params["run_vuln_scan"] = json!(scan);
        }
        let told = stage.run("optional_security_check", params).await?;
        let body = format!("Found {found} vulnerabilities");
        let asked = json!({"title": "Security Report", "content": null, "body": body});
        assert_eq!(told["data"], json!({"id": "doc-1", "asked": asked}), "{scan:?}: {told}");
        assert_eq!(stage.times("query_vulnerability"), scans, "{scan:?}");
    }
    Ok(())
}

#[tokio::test]
async fn a_source_that_fails_has_default_results() -> Result<()> {
    let stage = Stage::with(&["multi_source_data"]).await?;
    let fresh = json!({"rows": [1, 2.5, "x"]});
    stage.says("get_data", Word::Fails(1, "unavailable"));
    for primary in [Value::Null, fresh] {
        let told = stage.run("multi_source_data", json!({})).await?;
        // A null stays null, and an object stays an object.
        let expected = json!({"asked": {"primary": primary}});
        assert_eq!(told, json!({"ok": true, "action": "multi_source_data", "data": expected}));
    }
    assert_eq!(stage.times("get_data"), 2);
    Ok(())
}

/// The caller learns that it is unavailable; the operator sees the reasons in the log, as `check` reports them.
#[tokio::test]
async fn missing_default_results_are_refused() -> Result<()> {
    let stage = Stage::with(&["validation_error"]).await?;
    let (client, log) = Client::stdio_logged(stage.plugins.path(), |_| {}).await?;
    client.names_become(&["backend"]).await;
    let call = json!({"action": "validation_error", "enabled": true});
    let refused = client.envelope("validation_error", call).await?;
    assert_eq!(refused["code"], "unavailable", "{refused}");
    assert_eq!(refused["error"], "`validation_error` is unavailable: its workflows cannot be used");
    client.end().await?;
    let log = log.await??;
    let sentence = "step 'conditional_step' can be skipped but is referenced by downstream steps without \
                    defaultResults defined";
    let line = log.lines().find(|line| line.contains(sentence)).unwrap_or_default();
    assert!(line.contains("value") && line.contains("line "), "the field and the line are not named: {log}");
    assert_eq!(stage.calls(), []);
    Ok(())
}

#[tokio::test]
async fn references_lead_to_other_files() -> Result<()> {
    let stage = Stage::with(&["refs", "reusable", "another"]).await?;
    let client = stage.client().await?;
    let counted = json!({"action": "count_vulnerabilities", "package_name": "left-pad"});
    let leaks = json!({"action": "count_leaks", "repo": "acme/shop"});
    for (facade, call, data) in [
        ("refs", counted.clone(), json!({"count": 2})),
        ("refs", leaks.clone(), json!({"findings": [], "asked": {"repository": "acme/shop"}})),
        // A definition serves its workflow itself, too.
        ("reusable", counted, json!({"count": 2})),
        ("another", leaks, json!({"findings": [], "asked": {"repository": "acme/shop"}})),
    ] {
        let told = client.envelope(facade, call.clone()).await?;
        assert_eq!(told, json!({"ok": true, "action": call["action"], "data": data}), "{facade}");
    }
    client.end().await
}

#[tokio::test]
async fn the_tools_of_a_server_are_found() -> Result<()> {
    let stage = Stage::with(&["configuration_location"]).await?;
    let client = stage.client().await?;
    let told = client.envelope("configuration_location", json!({"action": "my_workflow"})).await?;
    assert_eq!((&told["ok"], &told["data"]["approved"]), (&json!(true), &json!(true)), "{told}");
    client.end().await
}

#[tokio::test]
async fn parameters_have_types_and_defaults() -> Result<()> {
    let stage = Stage::with(&["parameters"]).await?;
    let asked = |text: &str, whole: i64| json!({"whole": whole, "real": null, "flag": null, "list": null, "object": null, "text": text});
    for (params, expected) in [
        (json!({"required_param": "x"}), asked("x", 10)),
        (json!({"required_param": "7", "optional_param": 1_234_567}), asked("7", 1_234_567)),
    ] {
        let told = stage.run("parameters", params.clone()).await?;
        assert_eq!(told["data"]["asked"], expected, "{params}: {told}");
    }
    for (params, error) in [
        (json!({}), "`required_param` is required"),
        (json!({"required_param": "x", "optional_param": "many"}), "`optional_param` must be an integer"),
    ] {
        let told = stage.run("parameters", params.clone()).await?;
        assert_eq!(told["code"], "invalid_params", "{params}: {told}");
        assert!(told["error"].as_str().unwrap_or_default().starts_with(error), "{params}: {told}");
    }
    Ok(())
}

#[tokio::test]
async fn steps_wait_for_dependencies_and_conditions() -> Result<()> {
    let stage = Stage::with(&["steps"]).await?;
    let told = stage.run("steps", json!({"input": "milk"})).await?;
    assert_eq!(told["data"], json!({"asked": {"arg1": "milk", "key": null}}), "{told}");
    let names: Vec<String> = stage.calls().into_iter().map(|(action, _)| action).collect();
    assert_eq!(names, ["fetch", "fetch", "tool"]);

    stage.says("fetch", Word::Answers(json!({"approved": false})));
    let told = stage.run("steps", json!({"input": "milk"})).await?;
    assert_eq!(told["data"], json!({"approved": false}), "that of the last step that ran: {told}");
    assert_eq!(stage.times("tool"), 1);

    // `onError: abort`.
    stage.says("fetch", Word::Fails(1, "unavailable"));
    let told = stage.run("steps", json!({"input": "milk"})).await?;
    assert_eq!((&told["ok"], &told["details"]["step"]), (&json!(false), &json!("check")), "{told}");
    assert_eq!(stage.times("fetch"), 5);
    Ok(())
}

#[tokio::test]
async fn a_step_is_retried_as_configured() -> Result<()> {
    let stage = Stage::with(&["retry"]).await?;
    for (fails, calls, ok) in [(0, 1, true), (3, 4, true), (4, 4, false)] {
        stage.says("fetch", Word::Fails(fails, "unavailable"));
        let before = stage.times("fetch");
        let told = stage.run("retry", json!({})).await?;
        assert_eq!(told["ok"], ok, "{fails}: {told}");
        assert_eq!(stage.times("fetch") - before, calls, "{fails}");
    }
    Ok(())
}

#[tokio::test]
async fn every_template_of_the_page_expands() -> Result<()> {
    let stage = Stage::with(&["template_syntax"]).await?;
    let content = json!({"why": "taste"});
    for (answer, action, content) in [
        (accepted(content.clone()), "accept", content),
        (ElicitResult::new(ElicitationAction::Decline), "decline", Value::Null),
    ] {
        for era in ERAS {
            let mut client = stage.client_as(era, Kind::person([answer.clone()])).await?;
            let call = json!({"action": "template_syntax", "name": "green \"tea\""});
            let told = client.envelope("template_syntax", call).await?;
            let question = heard("a question", &mut client.questions).await?;
            assert_eq!(question["message"], "[template_syntax] Is it \"green \\\"tea\\\"\"?");
            let asked = &told["data"]["asked"]["data"];
            let text = json!({
                "papers": [{"id": "2401.00001", "title": "green \"tea\", part 1"}],
                "asked": {"query": "green \"tea\"", "max_results": 1},
            });
            let output = json!({"value": 1_234_567, "approved": true, "items": ["a", "b", "c"], "asked": {}});
            let expected = json!({
                "parameter": "green \"tea\"",
                "output": output,
                "text": text.to_string(),
                "content": content,
                "action": action,
                "content_in_output": content,
                "action_in_output": action,
                "from_json": text["papers"],
                "json": "[\"a\",\"b\",\"c\"]",
                "quote": "\"green \\\"tea\\\"\"",
                "index": "a",
                "whole": "1234567",
                "in_text": "value 1234567",
                "built_in": "green \"tea\" has 3",
            });
            if action == "accept" {
                assert_eq!(*asked, expected, "{era:?}: {told}");
            } else {
                // The form was not filled in, so there is no content.
                assert_eq!(asked["action"], action, "{era:?}: {told}");
                assert_eq!(asked["action_in_output"], action, "{era:?}: {told}");
            }
            client.end().await?;
        }
    }
    Ok(())
}
