//! `validate`, `read` and `execute`.

use loggia_sdk::failure::code;

use super::*;

/// The gate's failure for a call whose effect exceeds that of the calling action.
fn effect_refusal() -> Failure {
    Failure::denied("access denied: a read action may not call `memories.add`, which is write")
        .details(json!({"effect": "write"}))
}

/// The gate's failure for wrong parameters.
fn parameter_refusal() -> Failure {
    let mut failure = Failure::invalid_params("`title` is required").hint("Add `title`.");
    failure.expected = Some("add(title: string)".to_owned());
    failure.example = Some(json!({"action": "add", "title": "Tea"}));
    failure.next = Some(Next::of("memories", "get").param("id", "m_0001"));
    failure
}

#[test]
fn a_reply_passes_through_whole() {
    let host = world().detail(Detail::Full).idempotency_key("once");
    let reply =
        host.call(&Tools, "execute", json!({"call": "memories.get", "arguments": {"id": "m_0001"}})).unwrap();
    assert_eq!(reply.content.len(), 1);
    insta::assert_snapshot!(show_reply(&reply));
    let request = &host.requests()[0];
    assert_eq!((&*request.facade, &*request.action), ("memories", "get"));
    assert_eq!(Value::Object(request.params.clone()), json!({"id": "m_0001"}));
    assert_eq!((request.detail, request.idempotency_key.as_deref()), (Detail::Full, Some("once")));
}

#[test]
fn detail_among_the_arguments_counts() {
    for (given, inner, expected) in [
        (Detail::Standard, json!("minimal"), Detail::Minimal),
        (Detail::Full, json!("minimal"), Detail::Full),
        (Detail::Standard, Value::Null, Detail::Standard),
    ] {
        let host = world().detail(given);
        let params = json!({"call": "memories.get", "arguments": {"id": "m_0001", "detail": inner}});
        host.call(&Tools, "read", params).unwrap();
        assert_eq!(host.requests()[0].detail, expected, "{given:?} {inner}");
        assert_eq!(host.requests()[0].params.contains_key("detail"), inner.is_null());
    }
}

#[test]
fn a_failure_passes_through_whole() {
    for (action, refused) in [("execute", parameter_refusal()), ("validate", parameter_refusal())] {
        let host = world().refuse("memories", "add", refused);
        let failure = host.call(&Tools, action, json!({"call": "memories.add"})).unwrap_err();
        insta::assert_snapshot!("failure", show_failure(&failure));
    }
    for other in [code::CONFLICT, code::INTERNAL, code::TIMED_OUT, code::UNAVAILABLE, "own_code"] {
        let refused = Failure::new(other, "failed").hint("Wait.").details(json!({"n": 1}));
        let host = world().refuse("memories", "add", refused.clone());
        assert_eq!(host.call(&Tools, "execute", json!({"call": "memories.add"})).unwrap_err(), refused);
    }
    // The action exists, so the failure is its own.
    let refused = Failure::not_found("not found: no memory `m_0009`");
    let host = world().refuse("memories", "get", refused.clone());
    assert_eq!(host.call(&Tools, "read", json!({"call": "memories.get"})).unwrap_err(), refused);
}

#[test]
fn a_missing_scope_is_passed_on() {
    let refused = Failure::denied("access denied").details(json!({"scope": "memories:purge"}));
    let host = world().refuse("memories", "purge", refused.clone());
    assert_eq!(host.call(&Tools, "execute", json!({"call": "memories.purge"})).unwrap_err(), refused);
}

#[test]
fn validation_makes_no_call() {
    let cases = [
        ("memories.add", json!({"call": "memories.add", "valid": true, "effect": "write"})),
        ("memories.get", json!({"call": "memories.get", "valid": true, "effect": "read"})),
        (
            "memories.delete",
            json!({"call": "memories.delete", "valid": true, "effect": "destructive", "confirm": true}),
        ),
    ];
    for (call, expected) in cases {
        let host = world();
        assert_eq!(host.call(&Tools, "validate", json!({"call": call})).unwrap().data, expected);
        assert!(host.requests().is_empty());
    }
    // The effect is that of `execute`, not of this action.
    let host = world().refuse("memories", "add", effect_refusal());
    assert!(host.call(&Tools, "validate", json!({"call": "memories.add"})).is_ok());
}

#[test]
fn reading_calls_that_write_name_execute() {
    let host = world().refuse("memories", "add", effect_refusal());
    let failure = host.call(&Tools, "read", json!({"call": "memories.add"})).unwrap_err();
    assert_eq!(failure.hint.as_deref(), Some("`read` calls only actions that read: use `execute`."));
    assert_eq!(failure.message, effect_refusal().message);
}
