//! Tests of calls.

use std::{collections::BTreeMap, sync::Arc};

use loggia_facade::Reply;
use loggia_gate::{
    call::Gate,
    catalog::Catalog,
    schedule::{Executor, InlinePolicy},
    testing::{entry, lanes, puppet},
};
use loggia_policy::model::FacadeRules;
use rmcp::ServiceExt;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::*;

/// A facade whose calls take this long.
fn slow(takes: Duration) -> Gate {
    let puppet = puppet("a", move |_| async move {
        tokio::time::sleep(takes).await;
        Ok(Reply::data("done"))
    });
    let catalog = Arc::new(Catalog::default());
    let slot = CatalogSlot::Serving(Arc::new(entry(puppet, FacadeRules::default())));
    catalog.swap(BTreeMap::from([("a".to_owned(), slot)]));
    catalog.mark_admitted();
    Gate::new(catalog, Executor::new(lanes(), InlinePolicy::Slots(1)))
}

/// Returns a client's result of a call of `a`, and the seconds it took.
async fn called(gate: Gate, arguments: Value) -> (Result<CallToolResult, rmcp::ServiceError>, u64) {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let handler = McpHandler::new(gate, CallOrigin::local(), CancellationToken::new());
    let serving = tokio::spawn(async move { handler.serve(ours).await.unwrap().waiting().await });
    let client = ().serve(theirs).await.unwrap();
    let Value::Object(arguments) = arguments else { unreachable!() };
    let begun = Instant::now();
    let request = CallToolRequestParams::new("a").with_arguments(arguments);
    let result = client.call_tool(request).await;
    let took = begun.elapsed().as_secs();
    client.cancel().await.unwrap();
    let _ = serving.await;
    (result, took)
}

/// Returns the data of the envelope, and the seconds it took.
async fn call_envelope(gate: Gate, arguments: Value) -> (Value, u64) {
    let (result, took) = called(gate, arguments).await;
    (result.unwrap().structured_content.unwrap(), took)
}

#[tokio::test(start_paused = true)]
async fn calls_during_loading_say_to_retry() {
    let executor = || Executor::new(lanes(), InlinePolicy::Slots(1));
    let (refused, took) = called(Gate::new(Arc::default(), executor()), json!({})).await;
    let message = "No tool \"a\" yet: plugins are still being loaded. Try again in some seconds.";
    assert!(refused.unwrap_err().to_string().contains(message));
    assert_eq!(took, 8);

    let catalog = Arc::new(Catalog::default());
    catalog.mark_admitted();
    let (refused, took) = called(Gate::new(catalog, executor()), json!({})).await;
    assert!(refused.unwrap_err().to_string().contains("Unknown tool: \"a\". Available tools: none."));
    assert_eq!(took, 0);
}

#[tokio::test(start_paused = true)]
async fn a_notice_says_that_an_older_version_answered() {
    let gate = slow(Duration::ZERO);
    let notice = |text: &str| BTreeMap::from([("a".to_owned(), text.to_owned())]);
    let notices = &gate.catalog().notices;
    assert_eq!(call_envelope(gate.clone(), json!({"action": "look"})).await.0.get("notice"), None);
    notices.set_loads(notice("the newest version of `a` does not load"));
    let notice_of = async || call_envelope(gate.clone(), json!({"action": "look"})).await.0["notice"].clone();
    assert_eq!(notice_of().await, "the newest version of `a` does not load; an older version answered");
    notices.set_builds(notice("the newest source of `a` does not build"));
    assert_eq!(notice_of().await, "the newest source of `a` does not build; an older version answered");

    let catalog = Arc::new(Catalog::default());
    catalog.mark_admitted();
    catalog.notices.set_builds(notice("the newest source of `a` does not build"));
    let gate = Gate::new(catalog, Executor::new(lanes(), InlinePolicy::Slots(1)));
    let refused = called(gate, json!({})).await.0.unwrap_err().to_string();
    assert!(refused.contains("No tool \"a\": the newest source of `a` does not build"), "{refused}");
}

#[tokio::test(start_paused = true)]
async fn long_calls_become_runs_after_forty_seconds() {
    let minute = || slow(Duration::from_secs(60));
    let (run, took) = call_envelope(minute(), json!({"action": "dig"})).await;
    assert_eq!((run["data"]["run"]["status"].clone(), took), (json!("running"), 40));
    assert_eq!(run["next"]["arguments"]["action"], "run_status");
    let (soon, took) = call_envelope(slow(Duration::from_secs(20)), json!({"action": "dig"})).await;
    assert_eq!((soon["data"].clone(), took), (json!("done"), 20));
    let (late, took) = call_envelope(minute(), json!({"action": "look"})).await;
    assert_eq!((late["code"].clone(), took), (json!("timed_out"), 30), "its own clock");
}

#[tokio::test(start_paused = true)]
async fn waiting_for_a_run_returns_after_forty_seconds() {
    let gate = slow(Duration::from_secs(100));
    let (begun, took) = call_envelope(gate.clone(), json!({"action": "dig", "wait": false})).await;
    assert_eq!(took, 0);
    let id = begun["data"]["run"]["id"].clone();
    let request = json!({"action": "run_status", "run_id": id, "wait": true});
    let mut ends = Vec::new();
    for _ in 0..3 {
        let (status, took) = call_envelope(gate.clone(), request.clone()).await;
        ends.push((status["data"]["run"]["status"].clone(), took));
    }
    assert_eq!(ends, [(json!("running"), 40), (json!("running"), 40), (json!("succeeded"), 20)]);
}
