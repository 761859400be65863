//! The result never exceeds the budget.

use super::*;
use crate::tokens::estimate;

/// Tokens of a reply as the facade counts them, and as o200k_base does.
fn tokens(reply: &Reply<Value>) -> (usize, usize) {
    let json = reply.data.to_string();
    let message = reply.message.clone().unwrap_or_default();
    let count = |text: &str| bpe_openai::o200k_base().count(text);
    (estimate(&json) + estimate(&message), count(&json) + count(&message))
}

/// Each source finds many long texts.
fn crowded() -> Host {
    let passage = |number: usize| {
        format!("Passage {number} about Sicily and its volcano. ").repeat(number % 40 + 1)
            + &"word ".repeat(number)
    };
    let list = move |key: &'static str| {
        move |_: &Object| {
            let items = (1..=20).map(|number| {
                json!({key: format!("x_{number}"), "title": format!("Sicily {key} {number}"), "position": number,
                    "text": format!("{key} {}", passage(number))})
            });
            Ok(Reply::new(Value::from_iter(items)))
        }
    };
    Host::new()
        .answer("memories", "search", list("id"))
        .answer("conversations", "search", list("conversation"))
        .answer("projects", "list", list("id"))
        .refuse("knowledge", "search", Failure::unavailable("unavailable for a reason ".repeat(20)))
}

#[test]
fn no_budget_is_exceeded() {
    let store = Store::new();
    let host = crowded().store(&store);
    host.call(&Context, "set_persona", json!({"text": "A patient guide. ".repeat(100)})).unwrap();
    host.call(&Context, "set_preference", json!({"name": "topics", "list": ["trains", "tea"]})).unwrap();
    let mut before = 0;
    for budget in [250, 251, 300, 400, 500, 700, 1000, 1500, 2000, 3000, 5000, 10_000, 20_000] {
        let mut params = trip(budget);
        params["include"] = json!(["persona", "preferences"]);
        let reply = suggest(&host, params);
        let (estimated, real) = tokens(&reply);
        let shown = reply.data["tokens"].as_u64().unwrap() as usize;
        assert!(estimated <= budget && shown <= budget, "{budget}: {estimated}, {shown}");
        assert!(real <= estimated, "{budget}: {real} real tokens, estimated {estimated}");
        let count = ids(&reply.data).len();
        assert!(count + 1 >= before, "{budget}: more room, fewer suggestions");
        before = count;
    }
    assert!(before >= 30, "{before}");
}

#[test]
fn the_smallest_budget_holds_the_bad_news() {
    let store = Store::new();
    let name = |at: usize| format!("preference_{at}");
    let host = Host::new().store(&store);
    host.call(&Context, "set_persona", json!({"text": "x y ".repeat(999)})).unwrap();
    for at in 0..50 {
        host.call(&Context, "set_preference", json!({"name": name(at), "text": "a b ".repeat(50)})).unwrap();
    }
    let mut params = trip(250);
    params["include"] = json!(["persona", "preferences"]);
    let reply = suggest(&host, params);
    assert!(tokens(&reply).0 <= 250, "{:?}", tokens(&reply));
    insta::assert_snapshot!(shown(&reply));
}

#[test]
fn what_does_not_fit_is_named() {
    let reply = suggest(&world(), trip(420));
    insta::assert_snapshot!(shown(&reply));
    let (found, left): (usize, u64) = (
        ids(&reply.data).len(),
        reply.data["left_out"].as_array().unwrap().iter().filter_map(|entry| entry["count"].as_u64()).sum(),
    );
    assert_eq!(found as u64 + left, ids(&suggest(&world(), trip(4000)).data).len() as u64);
}

#[test]
fn too_small_budgets_are_refused() {
    let failure = world().call(&Context, "context", trip(249)).unwrap_err();
    insta::assert_snapshot!(explained(&failure), @"invalid_params: `budget` must be at least 250 (got 249)");
}
