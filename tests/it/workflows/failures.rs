//! Reports of failures: location, cause, completed steps and a remedy; and handling of errors.

use anyhow::Result;
use serde_json::{Value, json};

use super::stage::{Stage, Word};

#[tokio::test]
async fn a_failed_step_ends_with_a_report() -> Result<()> {
    let stage = Stage::with(&["research_topic"]).await?;
    stage.says("download_paper", Word::Fails(1, "unavailable"));
    let told = stage.run("research_topic", json!({"query": "tea"})).await?;
    insta::assert_json_snapshot!("step_failed", told);
    assert_eq!(stage.times("read_paper"), 0);
    Ok(())
}

/// `get_alerts` fails while the others wait: these are stopped.
#[tokio::test]
async fn running_steps_stop_when_the_workflow_aborts() -> Result<()> {
    let stage = Stage::with(&["investigate_incident"]).await?;
    stage.says("search_logs", Word::Waits);
    stage.says("get_metrics", Word::Waits);
    stage.says("list_alerts", Word::Fails(1, "not_found"));
    let told = stage.run("investigate_incident", json!({"incident_id": "INC-7"})).await?;
    let details = &told["details"];
    assert_eq!(
        (&details["step"], &details["cause"]["code"]),
        (&json!("get_alerts"), &json!("not_found")),
        "{told}"
    );
    assert_eq!(details["completed"], json!([]), "{told}");
    let stopped = details["stopped"].as_array().map_or(0, Vec::len);
    let not_run = details["not_run"].as_array().map_or(0, Vec::len);
    // Steps that had not reached their server were stopped too.
    assert_eq!((stopped, not_run), (2, 1), "{told}");
    stage.quiet().await;
    assert_eq!(stage.times("create_document"), 0);
    Ok(())
}

#[tokio::test]
async fn retries_end_with_the_last_error() -> Result<()> {
    let stage = Stage::with(&["retry"]).await?;
    stage.says("fetch", Word::Fails(9, "unavailable"));
    let told = stage.run("retry", json!({})).await?;
    insta::assert_json_snapshot!("tries_ended", told);
    assert_eq!(stage.times("fetch"), 4);
    Ok(())
}

#[tokio::test]
async fn a_step_that_takes_too_long_is_stopped() -> Result<()> {
    let workflow = "name: slow\ndescription: Slow.\nsteps:\n  - id: fetch\n    tool: backend.fetch\n    timeout: 100ms\n";
    for (more, ok) in [("", false), ("    onError: {action: continue}\n", true)] {
        let stage = Stage::of("slow", &format!("{workflow}{more}")).await?;
        stage.says("fetch", Word::Waits);
        let told = stage.run("slow", json!({})).await?;
        assert_eq!(told["ok"], ok, "{told}");
        if !ok {
            insta::assert_json_snapshot!("step_timed_out", told);
        }
        stage.quiet().await;
    }
    Ok(())
}

#[tokio::test]
async fn a_workflow_that_takes_too_long_is_stopped() -> Result<()> {
    let workflow = "name: slow\ndescription: Slow.\ntimeout: 5s\nsteps:\n  - id: first\n    tool: backend.process\n    \
        arguments: {data: 1}\n  - id: fetch\n    tool: backend.fetch\n    dependsOn: [first]\n    \
        onError: {action: continue}\n  - id: after\n    tool: backend.fetch\n    dependsOn: [fetch]\n";
    let stage = Stage::of("slow", workflow).await?;
    stage.says("fetch", Word::Waits);
    let told = stage.run("slow", json!({})).await?;
    assert_eq!(told["code"], "timed_out", "{told}");
    let details = &told["details"];
    assert_eq!(details["completed"], json!(["first"]), "{told}");
    assert_eq!(details["stopped"], json!(["fetch"]), "{told}");
    assert_eq!(details["not_run"], json!(["after"]), "{told}");
    stage.quiet().await;
    Ok(())
}

#[tokio::test]
async fn a_report_holds_no_secret() -> Result<()> {
    let workflow = "name: hush\ndescription: Hush.\nparameters:\n  type: object\n  properties:\n    \
        key: {type: string, writeOnly: true}\n  required: [key]\nsteps:\n  - id: use\n    tool: backend.tool\n    \
        arguments:\n      arg1: plain\n      key: '{{.params.key}}'\n";
    let stage = Stage::of("hush", workflow).await?;
    let told = stage.run("hush", json!({"key": "swordfish"})).await?;
    // The server received it.
    assert_eq!(told["data"]["asked"], json!({"arg1": "plain", "key": "9 bytes"}), "{told}");
    stage.says("tool", Word::Fails(1, "denied"));
    let told = stage.run("hush", json!({"key": "swordfish"})).await?;
    assert_eq!(told["details"]["inputs"]["arg1"], "plain", "{told}");
    assert!(!told.to_string().contains("swordfish"), "{told}");
    Ok(())
}

#[tokio::test]
async fn invalid_arguments_are_named() -> Result<()> {
    let workflow = "name: unfit\ndescription: Unfit.\nparameters:\n  type: object\n  properties: {n: {type: string}}\n\
        steps:\n  - id: take\n    tool: backend.kinds\n    arguments:\n      whole: '{{.params.n}}'\n";
    let stage = Stage::of("unfit", workflow).await?;
    let told = stage.run("unfit", json!({"n": "many"})).await?;
    assert_eq!((&told["ok"], &told["details"]["step"]), (&json!(false), &json!("take")), "{told}");
    assert_eq!(told["details"]["cause"]["code"], "invalid_params", "{told}");
    assert!(told.to_string().contains("`whole` must be an integer"), "{told}");
    assert_eq!(stage.calls(), [], "it never reached the server");
    Ok(())
}

#[tokio::test]
async fn unresolved_references_are_named() -> Result<()> {
    // Our own files are strict; those written for ToolHive print `<no value>`, as it does.
    let tool = |indent: &str| {
        format!(
            "{indent}name: typo\n{indent}description: A slip.\n{indent}steps:\n{indent}- id: fetch\n{indent}  tool: backend.fetch\n\
             {indent}- id: use\n{indent}  tool: backend.tool\n{indent}  dependsOn: [fetch]\n{indent}  arguments:\n\
             {indent}    arg1: '{{{{.steps.fetch.output.valeu}}}}'\n"
        )
    };
    let own = Stage::of("typo", &tool("")).await?;
    let told = own.run("typo", json!({})).await?;
    assert_eq!((&told["ok"], &told["details"]["step"]), (&json!(false), &json!("use")), "{told}");
    let said = told.to_string();
    assert!(said.contains("valeu") && said.contains("value"), "{said}");
    let resource = format!(
        "apiVersion: toolhive.stacklok.dev/v1alpha1\nkind: VirtualMCPCompositeToolDefinition\nmetadata: {{name: typo}}\nspec:\n{}",
        tool("  ")
    );
    let theirs = Stage::of("typo", &resource).await?;
    let told = theirs.run("typo", json!({})).await?;
    assert_eq!(told["data"]["asked"]["arg1"], "<no value>", "{told}");
    Ok(())
}

/// One call per item: at most two at once, results in the items' order, failures counted.
#[tokio::test]
async fn for_each_calls_once_per_item() -> Result<()> {
    let workflow = |then: &str| {
        format!(
            "name: each\ndescription: Each.\nsteps:\n  - id: fetch\n    tool: backend.fetch\n  - id: all\n    type: forEach\n    \
             dependsOn: [fetch]\n    collection: '{{{{json .steps.fetch.output.items}}}}'\n    itemVar: letter\n    \
             maxParallel: 2\n    onError: {{action: {then}}}\n    step:\n      type: tool\n      tool: backend.tool\n      \
             arguments:\n        arg1: '{{{{.forEach.index}}}}: {{{{.forEach.letter}}}}'\n"
        )
    };
    let stage = Stage::of("each", &workflow("continue")).await?;
    let told = stage.run("each", json!({})).await?;
    let data = &told["data"];
    assert_eq!(
        (&data["count"], &data["completed"], &data["failed"]),
        (&json!(3), &json!(3), &json!(0)),
        "{told}"
    );
    let asked = |n: usize| &data["iterations"][n]["output"]["asked"]["arg1"];
    assert_eq!([asked(0), asked(1), asked(2)], [&json!("0: a"), &json!("1: b"), &json!("2: c")], "{told}");
    assert!(stage.desk.most_at_once() <= 2);

    stage.says("tool", Word::Fails(1, "unavailable"));
    let told = stage.run("each", json!({})).await?;
    let data: &Value = &told["data"];
    assert_eq!((&data["completed"], &data["failed"]), (&json!(2), &json!(1)), "{told}");

    let stage = Stage::of("each", &workflow("abort")).await?;
    stage.says("tool", Word::Fails(1, "unavailable"));
    let told = stage.run("each", json!({})).await?;
    assert_eq!((&told["ok"], &told["details"]["step"]), (&json!(false), &json!("all")), "{told}");
    Ok(())
}

/// Default results are not validated against the step's output.
#[tokio::test]
async fn default_results_are_of_any_type() -> Result<()> {
    for default in
        [json!(null), json!(true), json!(7), json!("text"), json!([1, "two"]), json!({"value": null})]
    {
        let workflow = format!(
            "name: any\ndescription: Any.\nsteps:\n  - id: fetch\n    tool: backend.fetch\n    \
             onError: {{action: continue}}\n    defaultResults: {default}\n  - id: use\n    tool: backend.process\n    \
             dependsOn: [fetch]\n    arguments: {{data: '{{{{json .steps.fetch.output}}}}'}}\n"
        );
        let stage = Stage::of("any", &workflow).await?;
        stage.says("fetch", Word::Fails(1, "unavailable"));
        let told = stage.run("any", json!({})).await?;
        let given = told["data"]["asked"]["data"].as_str().unwrap_or_default();
        assert_eq!(serde_json::from_str::<Value>(given).ok().as_ref(), Some(&default), "{told}");
    }
    Ok(())
}

#[tokio::test]
async fn a_failure_mode_holds_for_all_steps() -> Result<()> {
    let workflow = "name: mode\ndescription: Mode.\nfailureMode: continue\nsteps:\n  - id: fetch\n    tool: backend.fetch\n  \
        - id: after\n    tool: backend.tool\n    dependsOn: [fetch]\n    arguments: {arg1: '{{.steps.fetch.status}}'}\n";
    let stage = Stage::of("mode", workflow).await?;
    stage.says("fetch", Word::Fails(1, "unavailable"));
    let told = stage.run("mode", json!({})).await?;
    assert_eq!((&told["ok"], &told["data"]["asked"]["arg1"]), (&json!(true), &json!("failed")), "{told}");
    Ok(())
}

/// Arguments that a step's server does not accept are reported before any call.
#[tokio::test]
async fn unknown_arguments_are_reported_before_any_call() -> Result<()> {
    for (step, said) in [
        ("tool: backend.tool", "needs the argument `arg1`"),
        ("tool: backend.tool, arguments: {arg1: x, kye: y}", "has no argument `kye`"),
        ("tool: backend.tol, arguments: {arg1: x}", "tol"),
        ("tool: bakend.tool, arguments: {arg1: x}", "bakend"),
    ] {
        let stage = Stage::empty().await?;
        stage.server("backend", "");
        let workflow = format!(
            "name: wrong\ndescription: Wrong.\nsteps:\n  - {{id: a, tool: backend.fetch}}\n  - {{id: b, {step}, dependsOn: [a]}}\n"
        );
        stage.write("wrong", &workflow);
        let told = stage.run("wrong", json!({})).await?;
        assert_eq!(told["code"], "unavailable", "{step}: {told}");
        let error = told["error"].as_str().unwrap_or_default();
        assert!(error.contains("step `b`") && error.contains(said), "{step}: {told}");
        assert_eq!(stage.calls(), [], "{step}");
    }
    Ok(())
}

/// The operator's limit applies whatever the file requests.
#[tokio::test]
async fn the_policys_clock_holds_for_workflows() -> Result<()> {
    let stage = Stage::with(&["research_topic"]).await?;
    stage.plugins.write("research_topic.toml", "[limits]\nlong-wall = \"1s\"\n");
    stage.says("download_paper", Word::Waits);
    let told = stage.run("research_topic", json!({"query": "tea"})).await?;
    assert_eq!(told["code"], "timed_out", "{told}");
    assert!(told.to_string().contains("long-wall"), "{told}");
    stage.quiet().await;
    Ok(())
}
