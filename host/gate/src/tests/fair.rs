//! Limits of one caller for shared resources.

use super::*;

fn named(name: &str) -> CallOrigin {
    CallOrigin::named(name, CallerRights::all()).with_elicitation(true)
}

fn at(address: &str) -> CallOrigin {
    CallOrigin::anonymous().with_address(address.parse().ok()).with_elicitation(true)
}

fn call_of(gate: &Gate, origin: CallOrigin, facade: &str, arguments: Value) -> Exec {
    let Value::Object(arguments) = arguments else { unreachable!() };
    gate.call_tool(origin, facade, arguments).unwrap()
}

/// `dig` never ends; `look` answers at once.
fn digger(name: &str) -> PuppetFacade {
    puppet(name, |call: Call| async move {
        if call.action == "dig" { forever().await } else { Ok(Reply::data("seen")) }
    })
}

#[tokio::test(start_paused = true)]
async fn a_caller_has_ten_runs() {
    let gate = one(digger("a"));
    let dig =
        |origin: CallOrigin, wait: bool| call_of(&gate, origin, "a", json!({"action": "dig", "wait": wait}));
    let begun: Vec<Value> =
        (0..40).map(|_| json_of(dig(named("ada"), false).detach_as_run().unwrap())).collect();
    let (began, refused): (Vec<&Value>, Vec<&Value>) = begun.iter().partition(|reply| reply["ok"] == true);
    assert_eq!((began.len(), refused.len()), (10, 30));
    for refused in refused {
        assert_eq!(
            failed(refused),
            ("unavailable", "busy: 10 runs of yours have not ended, and a caller may have no more at once")
        );
        let hint = refused["hint"].as_str().unwrap();
        assert!(hint.contains("`run_status` shows them (of `a`)") && hint.contains("`run_cancel`"), "{hint}");
        assert_eq!(refused["details"], json!({"unfinished": 10, "tools": ["a"]}));
        assert!(refused["retry_after_ms"].is_u64());
    }
    // One that is waited for counts as well, and a batch.
    assert_eq!(failed(&finish(dig(named("ada"), true)).await).0, "unavailable");
    // Other callers, and calls that end within their request, are not affected.
    assert_eq!(json_of(dig(named("bob"), false).detach_as_run().unwrap())["ok"], true);
    for who in ["ada", "bob"] {
        let look = call_of(&gate, named(who), "a", json!({"action": "look"}));
        assert_eq!(tokio::time::timeout(Duration::from_secs(1), finish(look)).await.unwrap()["data"], "seen");
    }
    // The person at this machine has no such bound.
    let local: Vec<Value> =
        (0..20).map(|_| json_of(dig(CallOrigin::local(), false).detach_as_run().unwrap())).collect();
    assert!(local.iter().all(|reply| reply["ok"] == true));
    // Ended calls free their places.
    let id = began[0]["data"]["run"]["id"].clone();
    finish(call_of(&gate, named("ada"), "a", json!({"action": "run_cancel", "run_id": id}))).await;
    finish(call_of(&gate, named("ada"), "a", json!({"action": "run_status", "run_id": id, "wait": true})))
        .await;
    assert_eq!(json_of(dig(named("ada"), false).detach_as_run().unwrap())["ok"], true);
}

#[tokio::test(start_paused = true)]
async fn anonymous_callers_are_bounded_by_address() {
    let gate = one(digger("a"));
    let begin = |address: &str| {
        let exec = call_of(&gate, at(address), "a", json!({"action": "dig", "wait": false}));
        json_of(exec.detach_as_run().unwrap())["ok"] == true
    };
    assert_eq!((0..20).filter(|_| begin("10.0.0.1")).count(), 10);
    assert!(begin("10.0.0.2"));
}

/// Long-running calls never take all permits, even those of many callers.
#[tokio::test(start_paused = true)]
async fn long_calls_leave_permits_for_short_ones() {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let all = names.map(|name| (digger(name), FacadeRules::default()));
    let gate = gate(all.into());
    for caller in 0..10 {
        for n in 0..10 {
            let facade = names[n % names.len()];
            let dig = json!({"action": "dig", "wait": false});
            call_of(&gate, named(&format!("caller {caller}")), facade, dig).detach_as_run().unwrap();
        }
    }
    for facade in names {
        let look = call_of(&gate, named("bob"), facade, json!({"action": "look"}));
        let reply = tokio::time::timeout(Duration::from_secs(1), finish(look)).await;
        assert_eq!(reply.unwrap()["data"], "seen", "{facade}");
    }
}

/// H72, of calls that calls make.
#[tokio::test(start_paused = true)]
async fn one_caller_never_holds_all_nested_permits() {
    let outer = |name: &str| {
        puppet(name, |call: Call| async move {
            let calls = (0..4).map(|_| call.session.invoke(request("inner", &call.action)));
            let replies = futures_util::future::join_all(calls).await;
            Ok(Reply::data(replies.iter().filter(|reply| reply.is_ok()).count()))
        })
    };
    let inner = puppet("inner", |call: Call| async move {
        if call.action == "touch" { forever().await } else { Ok(Reply::data("seen")) }
    });
    let mut all: Vec<_> = ["a", "b", "c", "d"].map(|name| (outer(name), invoking(&["inner:*"]))).into();
    all.push((inner, FacadeRules::default()));
    let gate = gate(all);
    let mut held = Vec::new();
    for facade in ["a", "b", "c", "d"] {
        let mut exec = call_of(&gate, named("ada"), facade, json!({"action": "touch"}));
        let waits = tokio::time::timeout(Duration::from_millis(10), exec.next()).await;
        assert!(waits.is_err(), "it holds what it has");
        held.push(exec);
    }
    let look = call_of(&gate, named("bob"), "a", json!({"action": "look"}));
    let reply = tokio::time::timeout(Duration::from_secs(1), finish(look)).await;
    assert_eq!(reply.unwrap()["data"], 4);
}

/// H72, of questions.
#[tokio::test]
async fn one_caller_has_a_quarter_of_the_questions() {
    let asks_much = puppet("a", |call: Call| async move {
        let question = || Question::form("?", Object::new());
        let asked = (0..7).map(|_| call.session.elicit(question()));
        let answers = futures_util::future::join_all(asked).await;
        Ok(Reply::data(answers.iter().filter(|answer| answer.is_ok()).count()))
    });
    let gate = gate(vec![(asks_much, FacadeRules { elicit: true, ..FacadeRules::default() })]);
    let mut held = Vec::new();
    for origin in [named("ada"), at("10.0.0.1")] {
        let mut open = 0;
        for _ in 0..6 {
            let mut exec = call_of(&gate, origin.clone(), "a", json!({"action": "look"}));
            match exec.next().await {
                CallEvent::Asks(asks) => {
                    open += asks.len();
                    held.push(exec);
                }
                CallEvent::Done(envelope) => assert_eq!(json_of(*envelope)["data"], 0),
                CallEvent::Progress(_) | CallEvent::AwaitsApproval => unreachable!(),
            }
        }
        assert_eq!(open, 16, "{origin:?}");
    }
    let mut bob = call_of(&gate, named("bob"), "a", json!({"action": "look"}));
    let CallEvent::Asks(asks) = bob.next().await else { panic!("it asks") };
    assert_eq!(asks.len(), 7);
}

/// H77, of what a run holds.
#[tokio::test]
async fn a_run_that_has_ended_holds_no_version() {
    let gate = one(puppet("a", async |_| Ok(Reply::data("done"))));
    let Some(CatalogSlot::Serving(entry)) = gate.catalog().slot("a") else { panic!("it serves") };
    let version = Arc::downgrade(&entry);
    drop(entry);
    let begun = json_of(tool(&gate, "a", json!({"action": "dig", "wait": false})).detach_as_run().unwrap());
    let status = json!({"action": "run_status", "run_id": begun["data"]["run"]["id"], "wait": true});
    assert_eq!(finish(tool(&gate, "a", status.clone())).await["data"]["run"]["status"], "succeeded");
    let next = Arc::new(entry_of(puppet("a", async |_| Ok(Reply::default()))));
    gate.catalog().swap(BTreeMap::from([("a".to_owned(), CatalogSlot::Serving(next))]));
    while version.strong_count() > 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(
        finish(tool(&gate, "a", status)).await["data"]["run"]["result"]["data"],
        "done",
        "and is kept"
    );
}

fn entry_of(puppet: PuppetFacade) -> CatalogEntry {
    entry(puppet, FacadeRules::default())
}
