//! Missing accounts are asked for.

use super::*;

fn host(store: &Store, answers: &[Value]) -> Host {
    let host = Host::new().store(store);
    answers.iter().fold(host, |host, answer| host.person(Answer::Accepted(answer.clone())))
}

#[test]
fn a_person_chooses_both_accounts() {
    let store = Store::new();
    let host = host(&store, &[json!({"from": "acc_002"}), json!({"to": "acc_003"})]);
    let reply = host.call(&Banking, "transfer", json!({"amount": 20})).unwrap();
    assert_eq!(reply.message.unwrap(), "20.00 EUR went from High Yield Savings to Travel Fund.");
    let questions: Vec<String> = host
        .questions()
        .into_iter()
        .map(|question| format!("{}\n{:#}", question.message, Value::Object(question.form)))
        .collect();
    insta::assert_snapshot!(questions.join("\n"));
}

#[test]
fn a_balance_is_asked_for_too() {
    let store = Store::new();
    let reply =
        host(&store, &[json!({"account": "acc_003"})]).call(&Banking, "get_balance", json!({})).unwrap();
    assert_eq!(reply.data["balance"], 320.5);
}

#[test]
fn without_questions_the_accounts_are_listed() {
    let store = Store::new();
    let calls = [
        ("get_balance", json!({})),
        ("transfer", json!({"amount": 5})),
        ("transfer", json!({"amount": 5, "from": "acc_002"})),
    ];
    let lines = calls.map(|(action, params)| {
        format!("{action} {params}\n  {}", explained(&call(&store, action, params.clone()).unwrap_err()))
    });
    insta::assert_snapshot!(lines.join("\n"), @r#"
    get_balance {}
      invalid_params: `account` is missing, and the person could not be asked: access denied
        Ask the person for the account, then pass `account`: `acc_001` (Everyday Checking, 1250.00 EUR, locked), `acc_002` (High Yield Savings, 8400.00 EUR), `acc_003` (Travel Fund, 320.50 EUR).
    transfer {"amount":5}
      invalid_params: `from` is missing, and the person could not be asked: access denied
        Ask the person for the account, then pass `from`: `acc_001` (Everyday Checking, 1250.00 EUR, locked), `acc_002` (High Yield Savings, 8400.00 EUR), `acc_003` (Travel Fund, 320.50 EUR).
    transfer {"amount":5,"from":"acc_002"}
      invalid_params: `to` is missing, and the person could not be asked: access denied
        Ask the person for the account, then pass `to`: `acc_001` (Everyday Checking, 1250.00 EUR, locked), `acc_003` (Travel Fund, 320.50 EUR).
    "#);
}

#[test]
fn a_persons_no_ends_the_call() {
    for (answer, code) in [(Answer::Declined, "denied"), (Answer::Cancelled, "cancelled")] {
        let store = Store::new();
        let host = Host::new().store(&store).person(answer);
        let failure = host.call(&Banking, "transfer", json!({"amount": 5})).unwrap_err();
        assert_eq!((failure.code.as_str(), store.commits()), (code, 0));
    }
}
