//! A locked account leads to an agent.

use super::*;

#[test]
fn a_locked_account_leads_to_an_agent() {
    let store = Store::new();
    let transfer =
        || call(&store, "transfer", json!({"from": "acc_001", "to": "acc_003", "amount": 50})).unwrap_err();
    insta::assert_snapshot!(explained(&transfer()), @r#"
    account_locked: Your account Everyday Checking (acc_001) is locked, so 50.00 EUR could not be transferred. An agent has to unlock it.
        Tell the person. The call `next` asks for an agent; do not try another account unless the person wishes it.
        > support.request_handoff {"reason":"The customer wanted to transfer 50.00 EUR from the locked account Everyday Checking (acc_001)."}, an agent unlocks the account
    "#);
    // Deterministic, and nothing is stored.
    assert_eq!(transfer(), transfer());
    assert_eq!(store.commits(), 0);
}

#[test]
fn nothing_is_asked_after_a_locked_account() {
    let store = Store::new();
    let host = Host::new().store(&store).person(Answer::Accepted(json!({"from": "acc_001"})));
    let failure = host.call(&Banking, "transfer", json!({"amount": 50})).unwrap_err();
    assert_eq!(failure.code, "account_locked");
    assert_eq!(failure.next.as_ref().unwrap().facade.as_deref(), Some("support"));
    assert_eq!(host.questions().len(), 1);
}

#[test]
fn the_handoff_names_account_and_amount() {
    let store = Store::new();
    data(&store, "lock_account", json!({"account": "acc_002"}));
    let failure = call(&store, "transfer", json!({"from": "acc_002", "amount": 7.5})).unwrap_err();
    let next = failure.next.as_ref().unwrap();
    assert_eq!(
        next.params["reason"],
        "The customer wanted to transfer 7.50 EUR from the locked account High Yield Savings (acc_002)."
    );
}
