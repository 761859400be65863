//! Failing calls and their error messages.

use super::*;

#[test]
fn an_unknown_action_lists_the_available_ones() {
    let failure = testing::call(&Search, "images", json!({})).unwrap_err();
    assert_eq!(
        failure.to_string(),
        "invalid_params: Unknown action: \"images\". Available actions: hybrid, semantic, describe."
    );
}

#[test]
fn each_action_reports_missing_and_invalid_parameters() {
    let cases = [
        ("hybrid", json!({})),
        ("hybrid", json!({"query": ""})),
        ("hybrid", json!({"query": "x", "limit": 51})),
        ("hybrid", json!({"query": "x", "sources": []})),
        ("hybrid", json!({"query": "x", "sources": ["web"]})),
        ("semantic", json!({})),
        ("semantic", json!({"query": "x", "limit": 0})),
    ];
    let line = |(action, params): (&str, Value)| {
        let failure = world().call(&Search, action, params.clone()).unwrap_err();
        format!("{action} {params}\n    {}", told(&failure))
    };
    let lines: Vec<_> = cases.into_iter().map(line).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn without_sources_the_missing_grants_are_named() {
    let denied = testing::call(&Search, "hybrid", json!({"query": "x", "sources": ["files", "memories"]}));
    let mixed = Host::new().answer("memories", "search", |_| Err(Failure::timed_out("timed out"))).call(
        &Search,
        "hybrid",
        json!({"query": "x", "sources": ["files", "memories"]}),
    );
    insta::assert_snapshot!([denied, mixed].map(|reply| told(&reply.unwrap_err())).join("\n"));
}
