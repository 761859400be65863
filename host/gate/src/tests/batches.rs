//! Several calls in one, and calls that must be confirmed.

use std::sync::atomic::AtomicUsize;

use loggia_schema::ConsentSource;

use super::*;

fn batching() -> ActionPolicy {
    ActionPolicy { batch: true, ..ActionPolicy::default() }
}

/// Counts its calls; fails where `n` is 13.
fn counting(calls: &Arc<AtomicUsize>) -> PuppetFacade {
    let calls = Arc::clone(calls);
    puppet("a", move |call: Call| {
        calls.fetch_add(1, Ordering::Relaxed);
        async move {
            match call.params["n"].as_i64() {
                Some(13) => Err(Failure::new("unlucky", "thirteen").hint("use twelve").into()),
                n => Ok(Reply::data(n)),
            }
        }
    })
}

async fn batch(terms: ActionPolicy, arguments: Value) -> (Value, usize) {
    let calls = Arc::new(AtomicUsize::new(0));
    let gate = gate_under(counting(&calls), FacadeRules::default(), terms);
    let reply = finish(tool(&gate, "a", arguments)).await;
    (reply, calls.load(Ordering::Relaxed))
}

#[tokio::test]
async fn a_batch_needs_the_policy() {
    let arguments = json!({"action": "batch", "items": [{"action": "look"}]});
    let (reply, calls) = batch(ActionPolicy::default(), arguments).await;
    assert!(failed(&reply).1.starts_with("access denied: the policy does not allow `batch`."), "{reply}");
    assert_eq!(calls, 0);
}

#[tokio::test]
async fn each_item_has_its_result_with_its_index() {
    let items = json!([{"action": "look", "n": 1}, {"cmd": "touch", "params": {"n": "2"}}]);
    let (reply, calls) = batch(batching(), json!({"action": "batch", "items": items})).await;
    assert_eq!(calls, 2);
    assert_eq!(
        reply,
        json!({"ok": true, "action": "batch", "count": 2, "data": {"results": [
            {"index": 0, "ok": true, "action": "look", "data": 1},
            {"index": 1, "ok": true, "cmd": "touch", "data": 2, "resolved_inputs": {"n": 2}},
        ]}})
    );
}

#[tokio::test]
async fn no_item_runs_unless_all_are_valid() {
    let items = json!([
        {"action": "look", "n": 1}, {"action": "look", "n": "x"}, {"action": "nothing"}, {"action": "batch", "items": []},
        {"action": "describe"}, {"action": "dig", "wait": false}, {"action": "look", "m": 1},
    ]);
    let (reply, calls) = batch(batching(), json!({"action": "batch", "items": items})).await;
    assert_eq!((calls, &reply["code"]), (0, &json!("invalid_params")));
    let error = reply["error"].as_str().unwrap();
    for part in [
        "`items[1]`: `n` must be an integer",
        "`items[2]`: Unknown action",
        "`describe` cannot be part",
        "and 1 more",
    ] {
        assert!(error.contains(part), "{part}: {error}");
    }
    assert_eq!(reply["details"][0]["index"], 1);
    assert!(reply["details"][0]["expected"].is_string());
    for arguments in [
        json!({"action": "batch"}),
        json!({"action": "batch", "items": []}),
        json!({"action": "batch", "items": {"action": "look"}}),
        json!({"action": "batch", "items": [1]}),
        json!({"action": "batch", "items": vec![json!({"action": "look"}); 51]}),
        json!({"action": "batch", "items": [{"action": "look"}], "mode": "half"}),
        json!({"action": "batch", "items": [{"action": "look"}], "n": 1}),
    ] {
        let (reply, calls) = batch(batching(), arguments).await;
        assert_eq!((calls, failed(&reply).0), (0, "invalid_params"), "{reply}");
    }
}

#[tokio::test]
async fn mode_decides_what_follows_a_failed_item() {
    let items = json!([{"action": "look", "n": 1}, {"action": "look", "n": 13}, {"action": "look", "n": 3}]);
    let arguments = |mode: &str| json!({"action": "batch", "items": items, "mode": mode});
    let (stopped, calls) = batch(batching(), arguments("stop")).await;
    assert_eq!((calls, failed(&stopped)), (2, ("unlucky", "item 1 failed: thirteen")));
    assert_eq!(stopped["details"]["failed"], json!([1]));
    assert_eq!(stopped["details"]["results"][1]["hint"], "use twelve");
    assert!(stopped["hint"].as_str().unwrap().contains("the 1 after it were not run"));
    let (went_on, calls) = batch(batching(), arguments("continue")).await;
    assert_eq!((calls, failed(&went_on)), (3, ("unlucky", "item 1 failed: thirteen")));
    assert_eq!(went_on["details"]["results"][2]["data"], 3);
}

#[tokio::test]
async fn too_large_results_end_a_batch() {
    let large = puppet("a", async |_| Ok(Reply::data("x".repeat(900_000))));
    let gate = gate_under(large, FacadeRules::default(), batching());
    let items = vec![json!({"action": "look"}); 6];
    let reply = finish(tool(&gate, "a", json!({"action": "batch", "items": items}))).await;
    assert_eq!(
        failed(&reply),
        ("unavailable", "item 4 was run, but the batch's results are larger than 4 MiB together")
    );
    assert_eq!(reply["details"]["results"].as_array().unwrap().len(), 4);
}

fn confirming() -> ActionPolicy {
    ActionPolicy {
        confirm: vec!["smash".into()],
        confirm_by: ConsentSource::Model,
        ..ActionPolicy::default()
    }
}

#[tokio::test]
async fn a_confirmed_action_waits_for_the_person() {
    let calls = Arc::new(AtomicUsize::new(0));
    let gate = gate_under(counting(&calls), FacadeRules::default(), confirming());
    for (answer, expected) in [
        (Answer::Accepted(json!({"confirm": true})), None),
        (
            Answer::Accepted(json!({"confirm": false})),
            Some("access denied: the person did not agree to `smash`"),
        ),
        (Answer::Declined, Some("access denied: the person did not agree to `smash`")),
        (Answer::Cancelled, Some("access denied: the person did not agree to `smash`")),
    ] {
        let before = calls.load(Ordering::Relaxed);
        // `confirm: true` from the model is no consent of the person.
        let Value::Object(arguments) = json!({"action": "smash", "n": 7, "confirm": true}) else {
            unreachable!()
        };
        let mut exec = gate.call_tool(CallOrigin::local().with_elicitation(true), "a", arguments).unwrap();
        let CallEvent::Asks(asks) = exec.next().await else { panic!("it asks") };
        let (key, question) = asks.first_key_value().unwrap();
        assert_eq!(question.message, "[a] Run `smash` (destructive) with {\"n\":7}?");
        assert_eq!(calls.load(Ordering::Relaxed), before, "nothing runs before");
        exec.answer(key, answer);
        let reply = finish(exec).await;
        match expected {
            None => assert_eq!((&reply["data"], calls.load(Ordering::Relaxed)), (&json!(7), before + 1)),
            Some(message) => assert_eq!((failed(&reply).1, calls.load(Ordering::Relaxed)), (message, before)),
        }
    }
}

#[tokio::test]
async fn without_elicitation_the_model_asks() {
    let calls = Arc::new(AtomicUsize::new(0));
    let gate = gate_under(counting(&calls), FacadeRules::default(), confirming());
    let refused = finish(tool(&gate, "a", json!({"action": "smash"}))).await;
    assert_eq!(failed(&refused), ("denied", "access denied: `smash` needs the person's consent"));
    assert_eq!(refused["hint"], "ask the person; if they agree, make the same call with \"confirm\": true");
    assert_eq!(calls.load(Ordering::Relaxed), 0);
    assert_eq!(finish(tool(&gate, "a", json!({"action": "smash", "confirm": true}))).await["ok"], true);
    assert_eq!(finish(tool(&gate, "a", json!({"action": "look"}))).await["ok"], true, "others need none");
}

#[tokio::test]
async fn nobody_gets_around_a_confirmation() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::new(entry_under(counting(&calls), FacadeRules::default(), confirming()));
    let caller = puppet("b", async |call: Call| call.session.invoke(request("a", "smash")).await);
    let caller = Arc::new(entry(caller, invoking(&["a:*"])));
    let gate = gate(Vec::new());
    let slots =
        [("a", counted), ("b", caller)].map(|(name, entry)| (name.to_owned(), CatalogSlot::Serving(entry)));
    gate.catalog().swap(BTreeMap::from(slots));
    let reply = finish(tool(&gate, "b", json!({"action": "smash"}))).await;
    assert_eq!((failed(&reply).0, calls.load(Ordering::Relaxed)), ("denied", 0));
    let direct = "ask the person; if they agree, call `smash` of the tool `a` with \"confirm\": true";
    assert_eq!(reply["hint"], direct, "a nested call carries no consent");
}

#[tokio::test]
async fn a_plugin_does_not_consent_for_the_person() {
    let confirmed = || {
        let Value::Object(params) = json!({"confirm": true}) else { unreachable!() };
        params
    };
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::new(entry_under(counting(&calls), FacadeRules::default(), confirming()));
    let caller = puppet("b", move |call: Call| async move {
        if call.action == "touch" {
            let (facade, action) = ("a".to_owned(), "smash".to_owned());
            let next = loggia_facade::Next { facade, action, params: confirmed(), reason: None };
            return Ok(Reply { next: Some(next), ..Reply::default() });
        }
        let input = Input::Action { action: "smash".into(), params: confirmed(), detail: Detail::Standard };
        call.session.invoke(Request { input, ..request("a", "smash") }).await
    });
    let caller = Arc::new(entry(caller, FacadeRules { chain: ChainRule::Follow, ..invoking(&["a:*"]) }));
    let gate = gate(Vec::new());
    let slots =
        [("a", counted), ("b", caller)].map(|(name, entry)| (name.to_owned(), CatalogSlot::Serving(entry)));
    gate.catalog().swap(BTreeMap::from(slots));
    assert_eq!(failed(&finish(tool(&gate, "b", json!({"action": "smash"}))).await).0, "denied");
    let led = finish(tool(&gate, "b", json!({"action": "touch"}))).await;
    assert!(led["next"]["arguments"].get("confirm").is_none(), "{led}");
    assert_eq!(calls.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn every_item_keeps_its_next_call() {
    let leads = puppet("a", async |call: Call| {
        let (facade, action) = ("a".to_owned(), "touch".to_owned());
        let next = Some(loggia_facade::Next { facade, action, params: Object::new(), reason: None });
        if call.params["n"] == 13 {
            return Err(Failure { next, ..Failure::new("unlucky", "thirteen") }.into());
        }
        Ok(Reply { next, ..Reply::default() })
    });
    let gate = gate_under(leads, FacadeRules::default(), batching());
    let items = json!([{"action": "look", "n": 1}, {"action": "look", "n": 13}]);
    let reply = finish(tool(&gate, "a", json!({"action": "batch", "items": items}))).await;
    let next = json!({"tool": "a", "arguments": {"action": "touch"}});
    for result in reply["details"]["results"].as_array().unwrap() {
        assert_eq!(result["next"], next, "{reply}");
    }
}
