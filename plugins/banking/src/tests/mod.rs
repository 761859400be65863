//! The facade as its callers meet it.

mod asking;
mod locked;

use loggia_sdk::{
    prelude::*,
    testing::{self, Host, Store},
};

use crate::Banking;

/// Calls a bank that may ask nobody.
fn call(store: &Store, action: &str, params: Value) -> Result<Reply<Value>> {
    Host::new().store(store).call(&Banking, action, params)
}

/// The data of a call that works.
fn data(store: &Store, action: &str, params: Value) -> Value {
    call(store, action, params).unwrap().data
}

/// Renders a failure with all that teaches.
fn explained(failure: &Failure) -> String {
    let hint = failure.hint.as_ref().map(|hint| format!("\n    {hint}")).unwrap_or_default();
    let next = failure.next.as_ref().map(|next| {
        let facade = next.facade.as_ref().map(|facade| format!("{facade}.")).unwrap_or_default();
        let reason = next.reason.as_ref().map(|reason| format!(", {reason}")).unwrap_or_default();
        format!("\n    > {facade}{} {}{reason}", next.action, Value::Object(next.params.clone()))
    });
    format!("{failure}{hint}{}", next.unwrap_or_default())
}

/// Balances of all accounts, in order.
fn balances(store: &Store) -> Vec<f64> {
    let accounts = data(store, "list_accounts", json!({}));
    accounts.as_array().into_iter().flatten().filter_map(|account| account["balance"].as_f64()).collect()
}

#[test]
fn the_host_accepts_the_facade() {
    insta::assert_snapshot!(testing::outline(&Banking));
}

#[test]
fn examples_are_there_before_the_first_change() {
    let store = Store::new();
    insta::assert_snapshot!(format!("{:#}", data(&store, "list_accounts", json!({}))));
    assert_eq!(store.commits(), 0, "reading stores nothing");
}

#[test]
fn a_transfer_changes_both_accounts() {
    let store = Store::new();
    let reply = call(
        &store,
        "transfer",
        json!({"from": "acc_002", "to": "acc_003", "amount": 50.25, "memo": "Rome"}),
    );
    let reply = reply.unwrap();
    insta::assert_snapshot!(format!("{}\n+ {}", reply.data, reply.message.unwrap()), @r#"
    {"from":"acc_002","to":"acc_003","amount":50.25,"memo":"Rome","accounts":[{"id":"acc_002","name":"High Yield Savings","balance":8349.75,"currency":"EUR"},{"id":"acc_003","name":"Travel Fund","balance":370.75,"currency":"EUR"}]}
    + 50.25 EUR went from High Yield Savings to Travel Fund.
    "#);
    assert_eq!(balances(&store), [1250.0, 8349.75, 370.75]);
    insta::assert_snapshot!(data(&store, "get_balance", json!({"account": "acc_003"})), @r#"{"id":"acc_003","name":"Travel Fund","balance":370.75,"currency":"EUR","transfers":[{"from":"acc_002","to":"acc_003","amount":50.25,"memo":"Rome"}]}"#);
}

#[test]
fn a_locked_account_still_receives() {
    let store = Store::new();
    for _ in 0..2 {
        assert_eq!(data(&store, "lock_account", json!({"account": "acc_003"}))["locked"], true);
    }
    data(&store, "transfer", json!({"from": "acc_002", "to": "acc_003", "amount": 1}));
    assert_eq!(balances(&store), [1250.0, 8399.0, 321.5]);
}

#[test]
fn the_history_is_bounded() {
    let store = Store::new();
    for _ in 0..101 {
        data(&store, "transfer", json!({"from": "acc_002", "to": "acc_003", "amount": 0.01}));
    }
    let stored = store.value("bank").unwrap();
    assert_eq!(stored["transfers"].as_array().unwrap().len(), 100);
    let shown = data(&store, "get_balance", json!({"account": "acc_002"}));
    assert_eq!(shown["transfers"].as_array().unwrap().len(), 5);
}

#[test]
fn refused_transfers_change_nothing() {
    let store = Store::new();
    let requests = [
        json!({"from": "acc_009", "to": "acc_003", "amount": 5}),
        json!({"from": "acc_002", "to": "acc_009", "amount": 5}),
        json!({"from": "acc_002", "to": "acc_002", "amount": 5}),
        json!({"from": "acc_003", "to": "acc_002", "amount": 320.51}),
        json!({"from": "acc_003", "to": "acc_002", "amount": 0.015}),
        json!({"from": "acc_003", "to": "acc_002", "amount": 0}),
        json!({"from": "acc_003", "to": "acc_002"}),
    ];
    let lines = requests.map(|params| {
        format!("{params}\n  {}", explained(&call(&store, "transfer", params.clone()).unwrap_err()))
    });
    insta::assert_snapshot!(lines.join("\n"));
    assert_eq!(store.commits(), 0);
}

#[test]
fn conflicts_only_cost_a_retry() {
    let store = Store::new();
    store.conflicts(3);
    data(&store, "transfer", json!({"from": "acc_002", "to": "acc_003", "amount": 1}));
    assert_eq!(balances(&store), [1250.0, 8399.0, 321.5], "once");
}
