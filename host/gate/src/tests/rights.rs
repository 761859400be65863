//! Calls with limited rights, from every origin.

use std::sync::atomic::AtomicUsize;

use loggia_facade::Next;
use loggia_schema::ToolSplit;

use super::{workflows::beside, *};
use crate::{access::ListId, catalog::ToolPublisher};

fn holder(scopes: &str) -> CallOrigin {
    let scopes = scopes.split_whitespace().map(|scope| scope.parse().unwrap());
    CallOrigin::named("ada", CallerRights::from_scopes(scopes))
}

/// Calls a tool with these scopes. `None` if the tool does not exist for them.
async fn called(gate: &Gate, scopes: &str, name: &str, arguments: Value) -> Option<Value> {
    let Value::Object(arguments) = arguments else { unreachable!() };
    Some(finish(gate.call_tool(holder(scopes), name, arguments)?).await)
}

fn works(name: &str) -> PuppetFacade {
    puppet(name, async |call: Call| Ok(Reply::data(call.action)))
}

fn forwards(name: &str, to: &'static str, action: &'static str) -> PuppetFacade {
    puppet(name, move |call: Call| async move { call.session.invoke(request(to, action)).await })
}

const UNREACHED: &str = "access denied: the caller's scopes do not allow all that this calls";

#[tokio::test]
async fn without_a_scope_nothing_exists() {
    let gate = gate(vec![(works("a"), FacadeRules::default()), (works("hidden"), FacadeRules::default())]);
    let mut slots = gate.catalog().snapshot().slots.clone();
    slots.insert("broken".into(), CatalogSlot::Unavailable("it does not load".into()));
    gate.catalog().swap(slots);
    let check = async |scopes: &str, name: &str, arguments: Value, expected: Option<&str>| {
        let reply = called(&gate, scopes, name, arguments.clone()).await;
        let text = reply.as_ref().map(|reply| match &reply["data"] {
            Value::Null => {
                format!("{}: {}", reply["code"].as_str().unwrap(), reply["error"].as_str().unwrap())
            }
            data => data.as_str().unwrap_or("data").to_owned(),
        });
        assert_eq!(text.as_deref(), expected, "{scopes}: {name} {arguments}");
        let reply = reply.unwrap_or_default().to_string();
        assert!(!reply.contains("hidden"), "{scopes}: {name} {arguments}: {reply}");
    };
    let (look, touch) = (json!({"action": "look"}), json!({"action": "touch"}));
    let denied = "denied: access denied: the caller's scopes do not hold `a:touch`. Available actions: look, describe.";
    let unknown = "invalid_params: Unknown action: \"x\". Available actions: look, describe.";
    check("a:look", "a", look.clone(), Some("look")).await;
    check("a:*", "a", touch.clone(), Some("touch")).await;
    check("*", "a", touch.clone(), Some("touch")).await;
    check("a:look", "a", touch.clone(), Some(denied)).await;
    check("a:look", "a", json!({"action": "TOUCH"}), Some(denied)).await;
    check("a:look", "a", json!({"action": "describe", "of": "touch"}), Some(denied)).await;
    check("a:look", "a", json!({"action": "x"}), Some(unknown)).await;
    check("a:look", "a", json!({"action": "describe"}), Some("data")).await;
    // Treated as nonexistent.
    for scopes in ["", "a:look", "a:* broken:*"] {
        check(scopes, "hidden", look.clone(), None).await;
        check(scopes, "never", look.clone(), None).await;
    }
    check("hidden_not:look a:nothing", "a", look.clone(), None).await;
    check("a:look", "broken", look.clone(), None).await;
    let broken = "unavailable: `broken` is unavailable: it does not load";
    check("a:look broken:*", "broken", look.clone(), Some(broken)).await;
}

#[tokio::test]
async fn denials_name_the_missing_scope() {
    let gate = one(works("a"));
    let reply = called(&gate, "a:look", "a", json!({"action": "smash"})).await.unwrap();
    assert_eq!(reply["hint"], "the token needs the scope `a:smash`");
    assert_eq!(reply["details"], json!({"scope": "a:smash"}));
    let described = called(&gate, "a:look a:dig", "a", json!({"action": "describe"})).await.unwrap();
    let text = described["data"].to_string();
    assert!(text.contains("look(") && text.contains("dig(") && text.contains("run_status"), "{text}");
    assert!(!text.contains("touch") && !text.contains("smash"), "{text}");
}

#[tokio::test]
async fn hidden_facades_are_not_named() {
    let gate = gate(vec![(works("a"), FacadeRules::default()), (works("hidden"), FacadeRules::default())]);
    for (facade, mine) in [("hidden", "a:look"), ("never", "a:look"), ("a", "a:nothing")] {
        let mut exec = gate.start(holder(mine), request(facade, "look"));
        let CallEvent::Done(envelope) = exec.next().await else { panic!("it ran") };
        let reply = json_of(*envelope);
        assert_eq!(failed(&reply), ("not_found", &*format!("not found: there is no facade `{facade}`")));
        let own = if mine == "a:look" { "available facades: a" } else { "available facades: none" };
        assert_eq!(reply["hint"], own);
    }
}

#[tokio::test]
async fn a_tool_needs_one_callable_action() {
    let catalog =
        Arc::new(Catalog::new(ToolPublisher { split: ToolSplit::Effect, ..ToolPublisher::default() }));
    catalog.mark_admitted();
    let slots = || {
        BTreeMap::from([(
            "a".to_owned(),
            CatalogSlot::Serving(Arc::new(entry(works("a"), FacadeRules::default()))),
        )])
    };
    catalog.swap(slots());
    let gate = Gate::new(Arc::clone(&catalog), Executor::new(lanes(), InlinePolicy::Slots(4)));
    let names = |scopes: &str| catalog.snapshot().tool_names(ListId::default(), &holder(scopes).rights);
    let got = [names("*"), names("a:look"), names("a:smash"), names("a:look a:touch"), names("b:*")];
    assert_eq!(got, ["a, a_write", "a", "a_write", "a, a_write", "none"]);
    let call = async |scopes: &str, tool: &str, action: &str| {
        called(&gate, scopes, tool, json!({"action": action})).await.map(|reply| reply["error"].clone())
    };
    assert_eq!(call("a:look", "a_write", "touch").await, None);
    assert_eq!(call("a:touch", "a_write", "touch").await, Some(Value::Null));
    // Where another tool has it that the caller sees, it is named; where none has, the scope is.
    let elsewhere = call("a:look a:touch", "a", "touch").await.unwrap().to_string();
    assert!(elsewhere.contains("an action of the tool `a_write`"), "{elsewhere}");
    let denied = call("a:look a:touch", "a", "smash").await.unwrap().to_string();
    assert!(denied.contains("do not hold `a:smash`"), "{denied}");
}

#[tokio::test]
async fn rights_hold_at_every_hop() {
    let check = async |scopes: &str, expected: Result<&str, (&str, Option<&str>)>| {
        let gate = gate(vec![
            (forwards("a", "b", "smash"), invoking(&["b:*"])),
            (forwards("b", "c", "touch"), invoking(&["c:*"])),
            (works("c"), FacadeRules::default()),
        ]);
        let reply = called(&gate, scopes, "a", json!({"action": "smash"})).await.unwrap();
        let got = match reply["ok"] == true {
            true => Ok(reply["data"].as_str().unwrap()),
            false => Err((reply["error"].as_str().unwrap(), reply["details"]["scope"].as_str())),
        };
        assert_eq!(got, expected, "{scopes}");
        let reached = |name: &str| scopes == "*" || scopes.contains(&format!("{name}:"));
        for hidden in ["b", "c"].into_iter().filter(|name| !reached(name)) {
            assert!(!reply.to_string().contains(&format!("`{hidden}")), "{reply}");
        }
    };
    check("*", Ok("touch")).await;
    check("a:smash b:smash c:touch", Ok("touch")).await;
    check("a:* b:*", Err((UNREACHED, None))).await;
    check("a:* c:*", Err((UNREACHED, None))).await;
    let denied =
        "access denied: the caller's scopes do not hold `b:smash`. Available actions: touch, describe.";
    check("a:* b:touch c:*", Err((denied, Some("b:smash")))).await;
    let denied =
        "access denied: the caller's scopes do not hold `c:touch`. Available actions: look, describe.";
    check("a:* b:* c:look", Err((denied, Some("c:touch")))).await;
}

#[tokio::test]
async fn scopes_do_not_widen_a_policy() {
    let gate = gate(vec![
        (forwards("a", "b", "look"), FacadeRules::default()),
        (works("b"), FacadeRules::default()),
    ]);
    let reply = called(&gate, "a:* b:*", "a", json!({"action": "look"})).await.unwrap();
    assert_eq!(failed(&reply).1, "access denied: the policy does not let `a` call `b`");
}

#[tokio::test]
async fn peers_are_limited_to_the_callers_rights() {
    let check = async |scopes: &str, seen: Value, looked_up: Result<&str, &str>, described: Option<&str>| {
        let a = puppet("a", async |call: Call| {
            let facades = call.session.facades()?;
            let names = facades.iter().flat_map(|facade| {
                facade.actions.iter().map(move |action| format!("{}:{}", facade.name, action.name))
            });
            let seen: Vec<String> = names.collect();
            let looked_up = call.session.lookup("b", "touch").map(|found| found.action.name);
            let checked = call.session.check(request("b", "touch"));
            assert_eq!(checked.is_ok(), looked_up.is_ok());
            let described = call.session.invoke(request("b", "describe")).await;
            let described = match described {
                Ok(reply) => reply.data["actions"].to_string(),
                Err(stop) => Failure::from(stop).message,
            };
            let looked_up = looked_up.unwrap_or_else(|failure| failure.message);
            Ok(Reply::data(json!({"seen": seen, "looked_up": looked_up, "described": described})))
        });
        let gate = gate(vec![
            (a, invoking(&["b:*", "c:look"])),
            (works("b"), FacadeRules::default()),
            (works("c"), FacadeRules::default()),
        ]);
        let reply = called(&gate, scopes, "a", json!({"action": "smash"})).await.unwrap();
        let data = &reply["data"];
        assert_eq!(data["seen"], seen, "{scopes}: {reply}");
        let (Ok(expected) | Err(expected)) = looked_up;
        assert_eq!(data["looked_up"], expected, "{scopes}");
        let text = data["described"].as_str().unwrap();
        match described {
            None => assert_eq!(text, UNREACHED, "{scopes}"),
            Some(name) => {
                let names = ["look", "touch", "smash", "dig"].into_iter();
                let all: Vec<&str> = names.filter(|name| text.contains(&format!("\"{name}("))).collect();
                assert_eq!(all.join(" "), name, "{scopes}: {text}");
            }
        }
    };
    let whole = json!(["b:look", "b:touch", "b:smash", "b:dig", "c:look"]);
    check("*", whole, Ok("touch"), Some("look touch smash dig")).await;
    check("a:* b:touch", json!(["b:touch"]), Ok("touch"), Some("touch")).await;
    let denied =
        "access denied: the caller's scopes do not hold `b:touch`. Available actions: look, describe.";
    check("a:* b:look c:*", json!(["b:look", "c:look"]), Err(denied), Some("look")).await;
    check("a:*", json!([]), Err(UNREACHED), None).await;
    check("a:* b:nothing", json!([]), Err(UNREACHED), None).await;
}

#[tokio::test]
async fn a_star_is_limited_to_the_callers_rights() {
    for (scopes, expected) in [
        ("*", json!(["b:look", "b:touch", "b:smash", "b:dig", "c:look", "c:touch", "c:smash", "c:dig"])),
        ("a:* b:touch", json!(["b:touch"])),
        ("a:*", json!([])),
    ] {
        let a = puppet("a", async |call: Call| {
            let facades = call.session.facades()?;
            let names = facades.iter().flat_map(|facade| {
                facade.actions.iter().map(move |action| format!("{}:{}", facade.name, action.name))
            });
            Ok(Reply::data(names.collect::<Vec<_>>()))
        });
        let gate = gate(vec![
            (a, invoking(&["*"])),
            (works("b"), FacadeRules::default()),
            (works("c"), FacadeRules::default()),
        ]);
        let reply = called(&gate, scopes, "a", json!({"action": "look"})).await.unwrap();
        assert_eq!(reply["data"], expected, "{scopes}");
    }
}

#[tokio::test]
async fn a_batch_needs_rights_to_all_items() {
    let calls = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&calls);
    let counting = puppet("a", move |_| {
        count.fetch_add(1, Ordering::Relaxed);
        async { Ok(Reply::default()) }
    });
    let gate =
        gate_under(counting, FacadeRules::default(), ActionPolicy { batch: true, ..ActionPolicy::default() });
    let batch = |actions: [&str; 2]| json!({"action": "batch", "items": actions.map(|action| json!({"action": action}))});
    let denied = called(&gate, "a:look", "a", batch(["look", "smash"])).await.unwrap();
    assert_eq!(failed(&denied).0, "denied", "{denied}");
    assert_eq!(denied["details"][0]["hint"], "the token needs the scope `a:smash`");
    assert_eq!(calls.load(Ordering::Relaxed), 0);
    let done = called(&gate, "a:look a:touch", "a", batch(["look", "touch"])).await.unwrap();
    assert_eq!((&done["ok"], calls.load(Ordering::Relaxed)), (&json!(true), 2), "{done}");
}

#[tokio::test]
async fn next_calls_need_the_callers_rights() {
    let leads = || {
        puppet("a", async |_| {
            let next =
                Next { facade: "b".into(), action: "touch".into(), params: Object::new(), reason: None };
            Ok(Reply { next: Some(next), ..Reply::data("first") })
        })
    };
    let check = async |chain: ChainRule, scopes: &str, expected: (&str, bool)| {
        let rules = FacadeRules { chain, ..invoking(&["b:*"]) };
        let gate = gate(vec![(leads(), rules), (works("b"), FacadeRules::default())]);
        let reply = called(&gate, scopes, "a", json!({"action": "touch"})).await.unwrap();
        let got = (reply["data"].as_str().unwrap(), reply.get("next").is_some());
        assert_eq!(got, expected, "{chain:?} {scopes}");
    };
    check(ChainRule::Advise, "*", ("first", true)).await;
    check(ChainRule::Advise, "a:* b:touch", ("first", true)).await;
    check(ChainRule::Follow, "a:* b:touch", ("touch", false)).await;
    for chain in [ChainRule::Advise, ChainRule::Follow] {
        for scopes in ["a:*", "a:* b:look", "a:* b:nothing"] {
            check(chain, scopes, ("first", false)).await;
        }
    }
}

/// Calls another facade after a notification.
fn waits(go: &Arc<Notify>) -> PuppetFacade {
    let go = Arc::clone(go);
    puppet("a", move |call: Call| {
        let go = Arc::clone(&go);
        async move {
            go.notified().await;
            call.session.invoke(request("b", "touch")).await
        }
    })
}

#[tokio::test]
async fn a_run_keeps_its_original_rights() {
    for (began, succeeds) in [("a:dig b:touch", true), ("a:dig b:look", false)] {
        let go = Arc::new(Notify::new());
        let gate = gate(vec![(waits(&go), invoking(&["b:*"])), (works("b"), FacadeRules::default())]);
        let Value::Object(arguments) = json!({"action": "dig", "wait": false}) else { unreachable!() };
        let begun = json_of(gate.call_tool(holder(began), "a", arguments).unwrap().detach_as_run().unwrap());
        let id = begun["data"]["run"]["id"].as_str().unwrap().to_owned();
        let handle = RunId::from_client(&id);
        // Another token of the same caller, that may do something else.
        let lesser = holder("a:look b:*");
        assert!(gate.attach(&handle, &lesser).is_err() && gate.find_run(&handle, &lesser).is_err());
        let status = json!({"action": "run_status", "run_id": id});
        for action in ["run_status", "run_cancel"] {
            let asked = json!({"action": action, "run_id": id});
            let reply = called(&gate, "a:look b:*", "a", asked.clone()).await.unwrap();
            assert!(failed(&reply).1.starts_with("Unknown action"), "{reply}");
            let reply = called(&gate, "a:look", "b", asked).await;
            assert_eq!(reply, None);
        }
        go.notify_one();
        // With whatever rights it is followed.
        let mut exec = gate.attach(&handle, &holder("a:dig")).unwrap();
        let CallEvent::Done(envelope) = exec.next().await else { panic!("it asked") };
        assert_eq!(envelope.is_ok(), succeeds, "{began}");
        let reply = called(&gate, "a:dig", "a", status).await.unwrap();
        let word = if succeeds { "succeeded" } else { "failed" };
        assert_eq!(reply["data"]["run"]["status"], word);
        let mine = called(&gate, "a:dig", "a", json!({"action": "run_status"})).await.unwrap();
        assert_eq!(mine["data"]["runs"].as_array().map(Vec::len), Some(1));
    }
}

/// A run of several calls is visible to callers who may make each of them.
#[tokio::test]
async fn finding_a_batch_needs_all_its_rights() {
    let gate = gate_under(
        puppet("a", async |_| forever().await),
        FacadeRules::default(),
        ActionPolicy { batch: true, ..ActionPolicy::default() },
    );
    let items = json!([{"action": "look"}, {"action": "touch"}]);
    let Value::Object(batch) = json!({"action": "batch", "items": items, "wait": false}) else {
        unreachable!()
    };
    let begun = json_of(gate.call_tool(holder("a:*"), "a", batch).unwrap().detach_as_run().unwrap());
    let id = begun["data"]["run"]["id"].as_str().unwrap().to_owned();
    let status = json!({"action": "run_status", "run_id": id});
    let lesser = called(&gate, "a:look", "a", status.clone()).await.unwrap();
    assert_eq!(failed(&lesser), ("not_found", "not found: no such run"));
    let none = called(&gate, "a:look", "a", json!({"action": "run_status"})).await.unwrap();
    assert_eq!(none["data"]["runs"], json!([]));
    assert_eq!(called(&gate, "a:look a:touch", "a", status).await.unwrap()["ok"], true);
}

#[tokio::test]
async fn an_answered_question_gives_no_rights() {
    let asks = puppet("a", async |call: Call| {
        call.session.elicit(Question::form("Sure?", Object::new())).await?;
        call.session.invoke(request("b", "touch")).await
    });
    let rules = FacadeRules { elicit: true, ..invoking(&["b:*"]) };
    let gate = gate(vec![(asks, rules), (works("b"), FacadeRules::default())]);
    let mut exec = gate.start(holder("a:* b:look").with_elicitation(true), request("a", "touch"));
    let CallEvent::Asks(asks) = exec.next().await else { panic!("it did not ask") };
    let id = exec.detach().unwrap();
    let mut exec = gate.attach(&id, &holder("a:* b:*")).unwrap();
    for key in asks.keys() {
        assert!(exec.answer(key, Answer::Accepted(json!({}))));
    }
    let CallEvent::Done(envelope) = exec.next().await else { panic!("it asked again") };
    let reply = json_of(*envelope);
    assert_eq!(reply["details"]["scope"], "b:touch", "{reply}");
}

const PAYS: &str = "
name: pay
description: Looks, then touches.
steps:
  - {id: first, tool: a.look}
  - {id: second, tool: b_touch, dependsOn: [first]}
";

#[tokio::test]
async fn a_workflow_needs_rights_to_its_steps() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counts = |name: &str| {
        let calls = Arc::clone(&calls);
        puppet(name, move |_| {
            calls.fetch_add(1, Ordering::Relaxed);
            async { Ok(Reply::default()) }
        })
    };
    let gate = beside(PAYS, 8, vec![counts("a"), counts("b")]);
    let pay = async |scopes: &str| called(&gate, scopes, "flow", json!({"action": "pay"})).await;
    assert_eq!(pay("a:* b:*").await, None);
    for (scopes, step, hint) in [
        ("flow:pay a:look b:look", "second", Some("the token needs the scope `b:touch`")),
        ("flow:pay a:touch b:*", "first", Some("the token needs the scope `a:look`")),
        ("flow:pay a:look", "second", None),
        ("flow:pay", "first", None),
    ] {
        let reply = pay(scopes).await.unwrap();
        let (code, error) = failed(&reply);
        assert_eq!(code, "denied", "{scopes}: {reply}");
        assert!(error.starts_with(&format!("access denied: `pay` was not run: step `{step}`: ")), "{error}");
        match hint {
            Some(hint) => assert_eq!(reply["hint"], hint),
            // Facades outside the caller's rights are not named.
            None => assert!(error.ends_with(UNREACHED), "{scopes}: {reply}"),
        }
    }
    assert_eq!(calls.load(Ordering::Relaxed), 0, "nothing was begun that could not be ended");
    assert_eq!(pay("flow:pay a:look b:touch").await.unwrap()["ok"], true);
    assert_eq!(calls.load(Ordering::Relaxed), 2);
}
