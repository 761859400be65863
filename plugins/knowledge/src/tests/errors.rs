//! Failing calls and their error messages.

use super::*;

#[test]
fn an_unknown_action_lists_the_available_ones() {
    assert_eq!(
        World::new().failure("frobnicate", json!({})).to_string(),
        "invalid_params: Unknown action: \"frobnicate\". \
         Available actions: add, get, list, search, embed, chunk, delete, describe, run_status, run_cancel."
    );
}

#[test]
fn each_action_reports_missing_and_invalid_parameters() {
    let world = World::filled();
    let cases = [
        ("add", json!({})),
        ("add", json!({"text": ""})),
        ("add", json!({"text": " \n "})),
        ("add", json!({"text": "<style>p {}</style>", "format": "html"})),
        ("add", json!({"text": "a", "format": "pdf"})),
        ("add", json!({"text": "é".repeat(300_000)})),
        ("add", json!({"text": "a", "source": "é".repeat(500)})),
        ("add", json!({"text": "a", "tags": "b"})),
        ("add", json!({"text": "a", "tags": ["b".repeat(65)]})),
        ("get", json!({})),
        ("get", json!({"id": "k_0001", "chunk": 0})),
        ("list", json!({"limit": 101})),
        ("list", json!({"cursor": "?"})),
        ("search", json!({})),
        ("search", json!({"query": "a", "mode": "sense"})),
        ("search", json!({"query": "a", "limit": 51})),
        ("embed", json!({"id": 1})),
        ("chunk", json!({"id": "k_0001", "size": 10})),
        ("chunk", json!({"id": "k_0001", "size": 400, "overlap": 201})),
        ("delete", json!({})),
    ];
    let lines: Vec<_> = cases
        .into_iter()
        .map(|(action, params)| format!("{action}: {}", world.failure(action, params)))
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn missing_documents_are_reported_with_a_hint() {
    let world = World::filled();
    let cases = [
        ("get", json!({"id": "k_0009"})),
        ("get", json!({"id": "k_0001", "chunk": 9})),
        ("search", json!({"query": "a", "id": "k_0009"})),
        ("embed", json!({"id": "k_0009"})),
        ("chunk", json!({"id": "k_0009"})),
        ("delete", json!({"id": "k_0009"})),
        ("add", json!({"text": "a", "replace": "k_0009"})),
        ("add", json!({"text": GUIDE, "source": "docs/guide.md"})),
        ("add", json!({"text": "Other.", "source": "docs/guide.md"})),
        ("add", json!({"text": "Other.", "source": "docs/guide.md", "replace": "k_0002"})),
        ("add", json!({"text": "# a\n".repeat(1001)})),
    ];
    let lines: Vec<_> = cases
        .into_iter()
        .map(|(action, params)| format!("{action}: {}", told(&world.failure(action, params))))
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
    let page = world.detailed(Detail::Full, "get", json!({"id": "k_0001", "chunk": 4, "limit": 9}));
    assert_eq!(page["text"], "### Cleaning\n\nRinse it with vinegar.\n");
    let failure = world.host().detail(Detail::Full).call(
        &Knowledge,
        "get",
        json!({"id": "k_0001", "chunk": 5, "limit": 9}),
    );
    assert_eq!(failure.unwrap_err().code, "not_found");
}

#[test]
fn without_the_grant_nothing_is_stored() {
    for (action, params) in
        [("add", json!({"text": "a"})), ("list", json!({})), ("search", json!({"query": "a"}))]
    {
        let failure = testing::call(&Knowledge, action, params).unwrap_err();
        assert_eq!((&*failure.code, failure.hint.is_some()), ("denied", true), "{action}: {failure}");
    }
}

#[test]
fn a_document_of_too_many_passages_is_refused() {
    let world = World::new();
    world.data("add", json!({"text": "A sentence of some words. ".repeat(10_000)}));
    let failure = world.failure("chunk", json!({"id": "k_0001", "size": 200, "overlap": 100}));
    assert_eq!(
        told(&failure),
        "invalid_params: it exceeds the limit of 1000 passages\n    \
         Set a larger `size` than 200, or a smaller `overlap`."
    );
    assert_eq!(world.data("get", json!({"id": "k_0001"}))["chunks"].as_u64(), Some(186));
}

#[test]
fn headings_without_number_do_not_fill_the_memory() {
    let world = World::new();
    let failure = world.failure("add", json!({"text": "###### a\n".repeat(58_000)}));
    assert_eq!(failure.message, "it exceeds the limit of 1000 passages");
}
