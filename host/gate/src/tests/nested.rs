//! Calls that a facade makes.

use super::*;

/// Calls another facade's action with its own call's session, and passes on what it gets.
fn forwards(name: &str, to: &'static str, action: &'static str) -> PuppetFacade {
    puppet(name, move |call: Call| async move { call.session.invoke(request(to, action)).await })
}

#[tokio::test]
async fn policy_and_effect_bound_nested_calls() {
    let check = async |own: &str, rules: &[&str], target: &'static str, expected: (&str, &str)| {
        let callee = puppet("b", async |_| Ok(Reply::data("done")));
        let gate =
            gate(vec![(forwards("a", "b", target), invoking(rules)), (callee, FacadeRules::default())]);
        let envelope = call(&gate, request("a", own)).await;
        let got = if envelope["ok"] == true { ("ok", "done") } else { failed(&envelope) };
        assert_eq!(got, expected, "{own} calls {target} by {rules:?}");
    };
    let ok = ("ok", "done");
    check("look", &["b:look"], "look", ok).await;
    check("smash", &["b:*"], "smash", ok).await;
    check("touch", &["b:*"], "touch", ok).await;
    check("smash", &["*"], "smash", ok).await;
    let policy = ("denied", "access denied: the policy does not let `a` call `b`");
    check("look", &[], "look", policy).await;
    check("look", &["b:touch"], "look", policy).await;
    let reads = ("denied", "access denied: a read action may not call `b.touch`, which is write");
    check("look", &["b:*"], "touch", reads).await;
    check("look", &["*"], "touch", reads).await;
    let writes = ("denied", "access denied: a write action may not call `b.smash`, which is destructive");
    check("touch", &["b:*"], "smash", writes).await;
}

#[tokio::test]
async fn a_star_does_not_include_its_own_facade() {
    let refused = "access denied: the policy does not let `a` call `a`";
    let waiting = "access denied: `a` is already waiting for this call";
    for (rule, expected) in [("*", refused), ("a:*", waiting)] {
        let gate = gate(vec![(forwards("a", "a", "look"), invoking(&[rule]))]);
        assert_eq!(failed(&call(&gate, request("a", "look")).await), ("denied", expected), "{rule}");
    }
}

#[tokio::test]
async fn a_refused_effect_is_named_to_programs() {
    let callee = puppet("b", async |_| Ok(Reply::data("done")));
    let gate = gate(vec![(forwards("a", "b", "touch"), invoking(&["*"])), (callee, FacadeRules::default())]);
    assert_eq!(call(&gate, request("a", "look")).await["details"], json!({"effect": "write"}));
}

#[tokio::test]
async fn cyclic_calls_are_refused() {
    let gate = gate(vec![
        (forwards("a", "b", "look"), invoking(&["b:*"])),
        (forwards("b", "a", "look"), invoking(&["a:*"])),
    ]);
    let envelope = call(&gate, request("a", "look")).await;
    assert_eq!(failed(&envelope), ("denied", "access denied: `a` is already waiting for this call"));
}

#[tokio::test]
async fn calls_nest_five_deep() {
    const NAMES: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let check = async |length: usize, ok: bool| {
        let mut puppets: Vec<(PuppetFacade, FacadeRules)> = NAMES[..length]
            .windows(2)
            .map(|pair| (forwards(pair[0], pair[1], "look"), invoking(&[&format!("{}:*", pair[1])])))
            .collect();
        puppets.push((puppet(NAMES[length - 1], async |_| Ok(Reply::data("deep"))), FacadeRules::default()));
        let envelope = call(&gate(puppets), request("a", "look")).await;
        assert_eq!(envelope["ok"], ok, "{length}: {envelope}");
    };
    check(6, true).await;
    check(7, false).await;
}

#[tokio::test(start_paused = true)]
async fn a_nested_timeout_leaves_its_caller_running() {
    let callee = puppet("b", async |_| forever().await);
    let caller = puppet("a", async |call: Call| {
        let nested = within(Duration::from_secs(1), request("b", "look"));
        match call.session.invoke(nested).await {
            Err(Stop::Failure(failure)) => Ok(Reply::data(failure.code)),
            other => Ok(Reply::data(format!("{other:?}"))),
        }
    });
    let gate = gate(vec![(caller, invoking(&["b:*"])), (callee, FacadeRules::default())]);
    assert_eq!(call(&gate, request("a", "look")).await["data"], code::TIMED_OUT);
}

/// More at once than there are permits for nested calls.
#[tokio::test(start_paused = true)]
async fn nested_calls_wait_for_their_turn() {
    let caller = puppet("a", async |call: Call| {
        let calls = (0..25).map(|_| call.session.invoke(request("b", "look")));
        let replies = futures_util::future::join_all(calls).await;
        Ok(Reply::data(replies.iter().filter(|reply| reply.is_ok()).count()))
    });
    let callee = puppet("b", async |_| {
        tokio::time::sleep(Duration::from_secs(1)).await;
        Ok(Reply::default())
    });
    let gate = gate(vec![(caller, invoking(&["b:*"])), (callee, FacadeRules::default())]);
    let begun = tokio::time::Instant::now();
    assert_eq!(call(&gate, request("a", "look")).await["data"], 25);
    assert_eq!(begun.elapsed().as_secs(), 3, "ten at once");
}

#[tokio::test]
async fn nested_progress_is_not_reported() {
    fn finish(done: f64) -> Progress {
        Progress { done, total: Some(9.0), message: None }
    }
    let caller = puppet("a", async |call: Call| {
        call.session.progress(finish(1.0));
        call.session.invoke(request("b", "look")).await
    });
    let callee = puppet("b", async |call: Call| {
        call.session.progress(finish(5.0));
        Ok(Reply::default())
    });
    let gate = gate(vec![(caller, invoking(&["b:*"])), (callee, FacadeRules::default())]);
    let mut exec = gate.start(CallOrigin::local(), request("a", "look"));
    let mut seen = Vec::new();
    loop {
        match exec.next().await {
            CallEvent::Progress(progress) => seen.push(progress.done),
            CallEvent::Done(_) => break,
            CallEvent::Asks(_) | CallEvent::AwaitsApproval => {}
        }
    }
    assert_eq!(seen, [1.0]);
}

#[tokio::test]
async fn an_empty_name_means_the_default_action() {
    let a = asks("a", move |call| call.session.lookup("b", "").map(|found| found.action.name));
    let only = puppet("b", async |_| Ok(Reply::default()));
    let mut surface = (*only.surface).clone();
    surface.default_action = Some("touch".to_owned());
    let only = PuppetFacade { surface: Arc::new(surface), ..only };
    let gate = gate(vec![(a, invoking(&["b:touch"])), (only, FacadeRules::default())]);
    assert_eq!(call(&gate, request("a", "look")).await["data"], "touch");
}

#[tokio::test]
async fn without_a_grant_nothing_is_revealed() {
    for action in ["describe", "nothing", "look"] {
        let other = puppet("b", async |_| Ok(Reply::default()));
        let gate =
            gate(vec![(forwards("a", "b", action), FacadeRules::default()), (other, FacadeRules::default())]);
        let reply = call(&gate, request("a", "look")).await;
        assert_eq!(failed(&reply).1, "access denied: the policy does not let `a` call `b`", "{action}");
    }
}

#[tokio::test]
async fn a_narrow_grant_reveals_nothing_else() {
    let check = async |rules: &[&str], facade: &'static str, action: &'static str, expected: &str| {
        let a = puppet("a", async move |call: Call| {
            let mut request = request(facade, action);
            if let Input::Action { params, .. } = &mut request.input {
                params.insert("odd".into(), json!({"not": "a parameter"}));
            }
            let checked = call.session.check(request.clone()).expect_err("refused");
            let Err(Stop::Failure(failure)) = call.session.invoke(request).await else { panic!("it ran") };
            assert_eq!(checked.message, failure.message);
            Ok(Reply::data(format!("{} {:?} {:?}", failure.message, failure.expected, failure.hint)))
        });
        let b = puppet("b", async |_| panic!("it was called"));
        let hidden = puppet("hidden", async |_| Ok(Reply::default()));
        let gate =
            gate(vec![(a, invoking(rules)), (b, FacadeRules::default()), (hidden, FacadeRules::default())]);
        let reply = call(&gate, request("a", "look")).await["data"].to_string();
        assert!(reply.contains(expected), "{facade}.{action}: {reply}");
        for unknown in ["smash", "hidden", "Some(\"touch("] {
            assert!(!reply.contains(unknown), "{facade}.{action}: {reply}");
        }
    };
    for action in ["describe", "nothing", "run_status"] {
        check(&["b:look"], "b", action, "access denied: the policy does not let `a` call `b.").await;
    }
    check(&["b:look"], "b", "touch", "access denied: the policy does not let `a` call `b`").await;
    check(&["c:*"], "c", "look", "not found: there is no facade `c`").await;
}

/// H86.
#[tokio::test]
async fn parameters_cannot_name_another_action() {
    for params in [
        json!({"action": "describe"}),
        json!({"action": "describe", "of": "smash"}),
        json!({"cmd": "smash"}),
        json!({"params": {"action": "describe"}}),
        json!({"params": "{\"action\": \"smash\"}"}),
        json!({"odd": 1}),
    ] {
        let sent = params.as_object().cloned().unwrap_or_default();
        let a = puppet("a", move |call: Call| {
            let input = Input::Action { action: String::new(), params: sent.clone(), detail: Detail::Full };
            let asked = Request { input, ..request("b", "") };
            async move {
                assert!(call.session.check(asked.clone()).is_err(), "it would be answered");
                let Err(Stop::Failure(failure)) = call.session.invoke(asked).await else { panic!("it was") };
                Ok(Reply::data(format!("{failure:?}")))
            }
        });
        let b = puppet("b", async |_| panic!("it was called"));
        let mut surface = (*b.surface).clone();
        surface.default_action = Some("look".to_owned());
        let b = PuppetFacade { surface: Arc::new(surface), ..b };
        let gate = gate(vec![(a, invoking(&["b:look"])), (b, FacadeRules::default())]);
        let reply = call(&gate, request("a", "look")).await["data"].to_string();
        assert!(reply.contains("invalid_params"), "{params}: {reply}");
        for other in ["smash(", "\"touch", "`touch", "dig", "destructive"] {
            assert!(!reply.contains(other), "{params}: {reply}");
        }
    }
    // The default action is shown only to callers who may call it.
    let a = asks("a", |call| call.session.facades().map(|all| format!("{:?}", all[0].default_action)));
    let b = asks("b", |_| Ok("b"));
    let mut surface = (*b.surface).clone();
    surface.default_action = Some("smash".to_owned());
    let b = PuppetFacade { surface: Arc::new(surface), ..b };
    let gate = gate(vec![(a, invoking(&["b:look"])), (b, FacadeRules::default())]);
    assert_eq!(call(&gate, request("a", "look")).await["data"], "None");
}

/// Asks its port something about other facades.
fn asks<T: Into<Value>>(
    name: &str,
    ask: impl Fn(&Call) -> Result<T, Failure> + Send + Sync + 'static,
) -> PuppetFacade {
    puppet(name, move |call: Call| {
        let asked = ask(&call).map(|reply| Reply::data(reply)).map_err(Stop::Failure);
        async move { asked }
    })
}

fn named(surfaces: Vec<Surface>) -> Vec<String> {
    let actions = |surface: Surface| {
        let name = surface.name;
        surface.actions.into_iter().map(move |action| format!("{name}:{}", action.name))
    };
    surfaces.into_iter().flat_map(actions).collect()
}

#[tokio::test]
async fn a_facade_sees_only_what_it_may_call() {
    let check = async |rules: &[&str], deny: &[&str], expected: Value| {
        let terms = ActionPolicy {
            deny: deny.iter().map(|&name| name.to_owned()).collect(),
            ..ActionPolicy::default()
        };
        let a = asks("a", |call| call.session.facades().map(named));
        let gate = gate(vec![(a, invoking(rules))]);
        let entries = [
            entry_under(asks("b", |_| Ok("b")), FacadeRules::default(), terms),
            entry(asks("c", |_| Ok("c")), FacadeRules::default()),
        ];
        let mut slots = gate.catalog().snapshot().slots.clone();
        slots.extend(
            entries.map(|entry| (entry.surface().name.clone(), CatalogSlot::Serving(Arc::new(entry)))),
        );
        gate.catalog().swap(slots);
        let reply = call(&gate, request("a", "look")).await;
        let reply = if reply["ok"] == true { &reply["data"] } else { &reply["error"] };
        assert_eq!(*reply, expected, "{rules:?} {deny:?}");
    };
    check(&["b:*"], &[], json!(["b:look", "b:touch", "b:smash", "b:dig"])).await;
    check(&["b:*"], &["smash"], json!(["b:look", "b:touch", "b:dig"])).await;
    check(&["b:look", "c:touch"], &[], json!(["b:look", "c:touch"])).await;
    let all = ["b:look", "b:touch", "b:dig", "c:look", "c:touch", "c:smash", "c:dig"];
    check(&["*"], &["smash"], json!(all)).await;
    check(&["d:look", "b:nothing"], &[], json!([])).await;
    check(&[], &[], json!("access denied: the policy does not let `a` call other facades")).await;
}

#[tokio::test]
async fn lookup_shows_only_callable_actions() {
    let check = async |rules: &[&str], facade: &'static str, action: &'static str, expected: &str| {
        let a = asks("a", move |call| call.session.lookup(facade, action).map(|found| found.action.name));
        let b = asks("b", |_| Ok("b"));
        let gate = gate(vec![(a, invoking(rules)), (b, FacadeRules::default())]);
        let reply = call(&gate, request("a", "look")).await;
        let reply = if reply["ok"] == true { &reply["data"] } else { &reply["error"] };
        assert_eq!(reply, expected, "{rules:?} {facade}.{action}");
    };
    let not = "access denied: the policy does not let `a` call `b`";
    check(&["b:touch"], "b", "touch", "touch").await;
    check(&["b:touch"], "b", "TOUCH", "touch").await;
    check(&["*"], "b", "TOUCH", "touch").await;
    check(&["*"], "a", "look", "access denied: the policy does not let `a` call `a`").await;
    check(&["b:look"], "b", "touch", not).await;
    check(&[], "b", "touch", not).await;
    check(&["b:*"], "b", "nothing", "Unknown action: \"nothing\". Available actions: look, touch, smash, dig, describe, run_status, run_cancel.").await;
    check(&["d:*"], "d", "look", "`d` is unavailable: it is not served now").await;
}

#[tokio::test]
async fn lookup_shows_signature_and_confirmation() {
    for (confirm, expected) in [(Vec::new(), false), (vec!["smash".to_owned()], true)] {
        let terms = ActionPolicy { confirm, ..ActionPolicy::default() };
        let a = asks("a", |call| {
            call.session.lookup("b", "smash").map(|found| json!([found.signature, found.confirm]))
        });
        let gate = gate(vec![(a, invoking(&["b:smash"]))]);
        let mut slots = gate.catalog().snapshot().slots.clone();
        let b = entry_under(asks("b", |_| Ok("b")), FacadeRules::default(), terms);
        slots.insert("b".to_owned(), CatalogSlot::Serving(Arc::new(b)));
        gate.catalog().swap(slots);
        let reply = call(&gate, request("a", "look")).await;
        assert_eq!(reply["data"], json!(["smash(n?: integer)", expected]));
    }
}

#[tokio::test]
async fn a_check_runs_nothing() {
    let check = async |own: &str, rules: &[&str], action: &'static str, expected: Option<&str>| {
        let a = asks("a", move |call| call.session.check(request("b", action)).map(|()| "yes"));
        let b = puppet("b", async |_| panic!("it was called"));
        let gate = gate(vec![(a, invoking(rules)), (b, FacadeRules::default())]);
        let reply = call(&gate, request("a", own)).await;
        assert_eq!(reply["error"].as_str(), expected, "{own} {rules:?} {action}");
    };
    check("look", &["b:look"], "look", None).await;
    check("smash", &["b:*"], "smash", None).await;
    check("look", &[], "look", Some("access denied: the policy does not let `a` call `b`")).await;
    let reads = "access denied: a read action may not call `b.touch`, which is write";
    check("look", &["b:*"], "touch", Some(reads)).await;
    let unknown = "Unknown action: \"nothing\". Available actions: look, touch, smash, dig, describe, run_status, run_cancel.";
    check("look", &["b:*"], "nothing", Some(unknown)).await;
}

/// Each facade by its own grants: what one may call is not what one that it calls may call.
#[tokio::test]
async fn each_hop_has_its_own_grant() {
    let direct = gate(vec![
        (forwards("a", "c", "look"), invoking(&["b:look"])),
        (puppet("c", async |_| Ok(Reply::data("c"))), FacadeRules::default()),
    ]);
    let reply = call(&direct, request("a", "look")).await;
    assert_eq!(failed(&reply).1, "access denied: the policy does not let `a` call `c`");

    let through = gate(vec![
        (forwards("a", "b", "look"), invoking(&["b:look"])),
        (forwards("b", "c", "look"), invoking(&["c:look"])),
        (puppet("c", async |_| Ok(Reply::data("c"))), FacadeRules::default()),
    ]);
    assert_eq!(call(&through, request("a", "look")).await["data"], "c");

    // The effect that the first call has holds for those that it leads to.
    let further = gate(vec![
        (forwards("a", "b", "look"), invoking(&["b:*"])),
        (forwards("b", "c", "touch"), invoking(&["c:*"])),
        (puppet("c", async |_| Ok(Reply::data("c"))), FacadeRules::default()),
    ]);
    let reply = call(&further, request("a", "look")).await;
    assert_eq!(failed(&reply).1, "access denied: a read action may not call `c.touch`, which is write");
}

/// Only `a`, which calls `b`, as just after a start.
fn half_loaded() -> (Gate, Arc<CatalogEntry>) {
    let catalog = Arc::new(Catalog::default());
    let caller = Arc::new(entry(forwards("a", "b", "look"), invoking(&["b:*"])));
    catalog.swap(BTreeMap::from([("a".to_owned(), CatalogSlot::Serving(Arc::clone(&caller)))]));
    (Gate::new(catalog, Executor::new(lanes(), InlinePolicy::Slots(4))), caller)
}

#[tokio::test]
async fn invoking_facades_wait_for_the_first_admission() {
    let (gate, caller) = half_loaded();
    let mut exec = gate.start(CallOrigin::local(), request("a", "look"));
    let mut soon = std::pin::pin!(exec.next());
    assert!(futures_util::poll!(soon.as_mut()).is_pending());
    let callee = Arc::new(entry(puppet("b", async |_| Ok(Reply::data("done"))), FacadeRules::default()));
    let slots =
        [("a", caller), ("b", callee)].map(|(name, entry)| (name.to_owned(), CatalogSlot::Serving(entry)));
    gate.catalog().swap(slots.into());
    gate.catalog().mark_admitted();
    let CallEvent::Done(envelope) = soon.await else { panic!("it asked or told something") };
    assert_eq!(json_of(*envelope)["data"], "done");
}

#[tokio::test(start_paused = true)]
async fn waiting_for_the_first_admission_times_out() {
    let (gate, _) = half_loaded();
    let envelope = call(&gate, request("a", "look")).await;
    let message = "`b` is unavailable: plugins are still being loaded";
    assert_eq!(failed(&envelope), ("unavailable", message));
}

/// A facade that waits for another is not charged with the other's timeout.
#[tokio::test(start_paused = true)]
async fn a_nested_timeout_leaves_the_breaker_closed() {
    let rules = || FacadeRules {
        breaker: loggia_policy::model::BreakerConfig { faults: 2, ..FacadeRules::default().breaker },
        ..invoking(&["b:*"])
    };
    let sleeps = || puppet("b", async |_| forever().await);
    let gate = gate(vec![(forwards("a", "b", "look"), rules()), (sleeps(), FacadeRules::default())]);
    for _ in 0..5 {
        let envelope = call(&gate, request("a", "look")).await;
        assert_eq!(failed(&envelope).0, "timed_out", "{envelope}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_shorter_requested_clock_names_no_limit() {
    let gate = one(puppet("a", async |_| forever().await));
    let envelope = call(&gate, within(Duration::from_secs(1), request("a", "look"))).await;
    assert_eq!(failed(&envelope).1, "timed out: `a` did not answer within 1s");
    assert!(!envelope.to_string().contains("limits."), "{envelope}");
}
