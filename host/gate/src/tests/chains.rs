//! Calls that follow a call.

use loggia_facade::Next;

use super::*;
use crate::call::chain::MAX_TRAIL_DATA;

fn next(facade: &str, action: &str, n: i64) -> Option<Next> {
    let mut params = Object::new();
    params.insert("n".into(), n.into());
    Some(Next { facade: facade.into(), action: action.into(), params, reason: Some("it says so".into()) })
}

/// Leads to the same action of `to`, with `n` one less, while there is an `n`.
fn leading(name: &'static str, to: &'static str) -> PuppetFacade {
    puppet(name, move |call: Call| {
        let n = call.params["n"].as_i64().unwrap_or_default();
        let next = if n > 0 { next(to, &call.action, n - 1) } else { None };
        let message = Some(format!("{name} {n}"));
        async move { Ok(Reply { message, next, ..Reply::data(json!({"by": name, "n": n})) }) }
    })
}

fn chained(chain: ChainRule, invoke: &[&str]) -> FacadeRules {
    FacadeRules { chain, ..invoking(invoke) }
}

async fn look(gate: &Gate, n: i64) -> Value {
    finish(tool(gate, "a", json!({"action": "look", "n": n}))).await
}

#[tokio::test]
async fn the_policy_decides_whether_next_is_shown() {
    let of = async |chain| look(&gate(vec![(leading("a", "b"), chained(chain, &[]))]), 1).await;
    let advised = of(ChainRule::Advise).await;
    let expected = json!({"tool": "b", "arguments": {"action": "look", "n": 0}, "reason": "it says so"});
    assert_eq!(advised["next"], expected);
    assert!(of(ChainRule::Off).await.get("next").is_none());
}

#[tokio::test]
async fn a_followed_call_answers_with_the_trail() {
    let gate = gate(vec![
        (leading("a", "b"), chained(ChainRule::Follow, &["b:*"])),
        (leading("b", "a"), chained(ChainRule::Follow, &["a:look"])),
    ]);
    let reply = look(&gate, 2).await;
    assert_eq!(reply["data"], json!({"by": "a", "n": 0}), "the last result");
    assert_eq!(reply["action"], "look");
    assert_eq!(
        reply["trail"],
        json!([
            {"tool": "a", "action": "look", "ok": true, "message": "a 2", "data": {"by": "a", "n": 2}},
            {"tool": "b", "action": "look", "ok": true, "message": "b 1", "data": {"by": "b", "n": 1}},
            {"tool": "a", "action": "look", "ok": true, "message": "a 0"},
        ])
    );
    assert!(look(&gate, 0).await.get("trail").is_none(), "nothing followed");
}

#[tokio::test]
async fn a_star_follows_only_to_other_facades() {
    for (to, rule, follows) in [("b", "*", true), ("a", "*", false), ("a", "a:look", true)] {
        let gate = gate(vec![
            (leading("a", to), chained(ChainRule::Follow, &[rule])),
            (leading("b", "b"), FacadeRules::default()),
        ]);
        let reply = look(&gate, 1).await;
        assert_eq!(reply.get("trail").is_some(), follows, "{to} {rule}: {reply}");
    }
}

#[tokio::test]
async fn what_a_trail_holds_of_results_is_bounded() {
    let first = puppet("a", async |_| {
        Ok(Reply {
            next: next("b", "look", 1),
            message: Some("found".into()),
            ..Reply::data("x".repeat(MAX_TRAIL_DATA + 1))
        })
    });
    let second = puppet("b", async |_| Ok(Reply::data("done")));
    let gate = gate(vec![(first, chained(ChainRule::Follow, &["b:*"])), (second, FacadeRules::default())]);
    let reply = look(&gate, 1).await;
    assert!(reply["trail"][0].get("data").is_none());
    let message = reply["trail"][0]["message"].as_str().unwrap();
    assert!(message.starts_with("found (its data, 256 KiB, does not fit here"), "{message}");
    assert_eq!(reply["data"], "done");
}

#[tokio::test]
async fn a_chain_ends_after_five_hops() {
    let long = gate(vec![(leading("a", "a"), chained(ChainRule::Follow, &["a:*"]))]);
    let reply = look(&long, 9).await;
    assert_eq!((reply["data"]["n"].clone(), reply["trail"].as_array().unwrap().len()), (json!(4), 6));
    assert_eq!(reply["next"]["arguments"]["n"], 3, "what was not followed is told");

    let round = puppet("a", async |_| Ok(Reply { next: next("a", "look", 1), ..Reply::default() }));
    let reply = look(&gate(vec![(round, chained(ChainRule::Follow, &["a:*"]))]), 1).await;
    assert!(reply.get("trail").is_none());
    assert_eq!(reply["next"]["tool"], "a");
}

#[tokio::test]
async fn policy_and_effect_bound_what_is_followed() {
    let of = async |action: &'static str, invoke: &[&str]| {
        let first =
            puppet("a", move |_| async move { Ok(Reply { next: next("b", action, 1), ..Reply::default() }) });
        let second = puppet("b", async |_| Ok(Reply::data("done")));
        let gate = gate(vec![(first, chained(ChainRule::Follow, invoke)), (second, FacadeRules::default())]);
        let reply = look(&gate, 1).await;
        reply.get("trail").is_some()
    };
    assert!(of("look", &["b:*"]).await);
    assert!(of("look", &["b:look"]).await);
    assert!(!of("look", &["b:touch"]).await, "not granted");
    assert!(!of("look", &[]).await, "nothing granted");
    assert!(!of("touch", &["b:*"]).await, "what reads leads to nothing that writes");
    assert!(!of("describe", &["b:*"]).await, "the host's own");
    assert!(!of("nothing", &["b:*"]).await);
}

#[tokio::test]
async fn a_next_call_that_is_none_is_dropped() {
    for (facade, action) in [("", "look"), ("a b", "look"), ("a", "lo\nok"), ("a", &*"x".repeat(65))] {
        let (facade, action) = (facade.to_owned(), action.to_owned());
        let puppet = puppet("a", move |_| {
            let next = next(&facade, &action, 1);
            async move { Ok(Reply { next, ..Reply::default() }) }
        });
        assert!(look(&one(puppet), 1).await.get("next").is_none());
    }
}

#[tokio::test]
async fn failures_may_lead_on_and_hops_may_fail() {
    let first = puppet("a", async |_| {
        let failure =
            Failure { next: next("b", "look", 1), ..Failure::new("locked", "the account is locked") };
        Err(Stop::Failure(failure))
    });
    let second = puppet("b", async |_| Err(Failure::new(code::NOT_FOUND, "nobody is there").into()));
    let gate = gate(vec![(first, chained(ChainRule::Follow, &["b:*"])), (second, FacadeRules::default())]);
    let reply = look(&gate, 1).await;
    assert_eq!(failed(&reply), ("not_found", "nobody is there"));
    assert_eq!(reply["trail"][0]["message"], "the account is locked");
    assert_eq!(reply["trail"][1]["ok"], false);
}

#[tokio::test]
async fn content_of_hops_comes_first() {
    use loggia_facade::{Block, Content};
    fn shows(text: &str) -> Vec<Content> {
        vec![Content { block: Block::Text(text.into()), extras: Object::new() }]
    }
    let first = puppet("a", async |_| {
        Ok(Reply { next: next("b", "look", 1), content: shows("locked"), ..Reply::default() })
    });
    let second = puppet("b", async |_| Ok(Reply { content: shows("an agent comes"), ..Reply::default() }));
    let gate = gate(vec![(first, chained(ChainRule::Follow, &["b:*"])), (second, FacadeRules::default())]);
    let mut exec = tool(&gate, "a", json!({"action": "look"}));
    let envelope = loop {
        if let CallEvent::Done(envelope) = exec.next().await {
            break envelope;
        }
    };
    let texts: Vec<Block> = envelope.into_parts().1.into_iter().map(|content| content.block).collect();
    assert_eq!(texts, [Block::Text("locked".into()), Block::Text("an agent comes".into())]);
}
