//! Calls that wait for a person.

use super::*;

fn question() -> Question {
    let Value::Object(schema) = json!({"type": "object", "properties": {"say": {"type": "string"}}}) else {
        unreachable!()
    };
    Question::form("Sure?", schema)
}

fn named(name: &str) -> Question {
    Question { name: Some(name.to_owned()), ..question() }
}

fn yes() -> Answer {
    Answer::Accepted(json!({"say": "yes"}))
}

/// May ask, and call these.
fn asking(rules: &[&str]) -> FacadeRules {
    FacadeRules { elicit: true, ..invoking(rules) }
}

fn person() -> CallOrigin {
    CallOrigin::local().with_elicitation(true)
}

fn may_ask(puppet: PuppetFacade) -> Gate {
    gate(vec![(puppet, asking(&[]))])
}

/// Asks once, and replies with the answer.
async fn asks(call: Call) -> Result<Reply, Stop> {
    match call.session.elicit(question()).await? {
        Answer::Accepted(value) => Ok(Reply::data(value)),
        other => Ok(Reply::data(format!("{other:?}"))),
    }
}

#[tokio::test(start_paused = true)]
async fn parking_releases_permit_and_stops_clock() {
    let rules = FacadeRules { concurrency: 1, ..asking(&[]) };
    let gate = gate(vec![(
        puppet("a", async |call: Call| match call.action.as_str() {
            "touch" => asks(call).await,
            _ => Ok(Reply::default()),
        }),
        rules,
    )]);
    let mut exec = gate.start(person(), request("a", "touch"));
    let CallEvent::Asks(asks) = exec.next().await else { panic!("it asks") };
    assert_eq!(asks.values().next().unwrap().message, "[a] Sure?");
    // Another call runs, although one at a time may.
    assert_eq!(call(&gate, request("a", "look")).await["ok"], true);
    // Longer than the wall clock.
    tokio::time::sleep(Duration::from_secs(120)).await;
    let key = asks.keys().next().unwrap();
    assert!(exec.answer(key, yes()));
    assert!(!exec.answer(key, Answer::Declined), "a question is answered once");
    let CallEvent::Done(envelope) = exec.next().await else { panic!("it ends") };
    assert_eq!(json_of(*envelope)["data"]["say"], "yes");
}

#[tokio::test]
async fn parallel_questions_of_one_call_share_its_permit() {
    let rules = FacadeRules { concurrency: 1, ..asking(&[]) };
    let both = puppet("a", async |call: Call| {
        let (one, two) = tokio::join!(call.session.elicit(question()), call.session.elicit(question()));
        Ok(Reply::data(json!([one.is_ok(), two.is_ok()])))
    });
    let gate = gate(vec![(both, rules)]);
    let mut exec = gate.start(person(), request("a", "look"));
    loop {
        match exec.next().await {
            CallEvent::Asks(asks) => exec.decline_all(&asks),
            CallEvent::Done(envelope) => return assert_eq!(json_of(*envelope)["data"], json!([true, true])),
            CallEvent::Progress(_) | CallEvent::AwaitsApproval => {}
        }
    }
}

#[tokio::test]
async fn a_nested_question_parks_all_callers() {
    let rules = FacadeRules { concurrency: 1, ..asking(&["b:*"]) };
    let caller = puppet("a", async |call: Call| match call.action.as_str() {
        "touch" => call.session.invoke(request("b", "look")).await,
        _ => Ok(Reply::default()),
    });
    let gate = gate(vec![(caller, rules), (puppet("b", asks), asking(&[]))]);
    let mut exec = gate.start(person(), request("a", "touch"));
    let CallEvent::Asks(asks) = exec.next().await else { panic!("it asks") };
    assert_eq!(call(&gate, request("a", "look")).await["ok"], true, "one call at a time, and none runs");
    exec.answer(asks.keys().next().unwrap(), yes());
    let CallEvent::Done(envelope) = exec.next().await else { panic!("it ends") };
    assert_eq!(json_of(*envelope)["data"]["say"], "yes");
}

#[tokio::test(start_paused = true)]
async fn earlier_parking_extends_no_nested_clock() {
    let caller = puppet("a", async |call: Call| {
        let _ = call.session.elicit(question()).await?;
        let begun = tokio::time::Instant::now();
        let _ = call.session.invoke(within(Duration::from_secs(1), request("b", "look"))).await;
        Ok(Reply::data(begun.elapsed().as_secs()))
    });
    let callee = puppet("b", async |_| forever().await);
    let gate = gate(vec![(caller, asking(&["b:*"])), (callee, FacadeRules::default())]);
    let mut exec = gate.start(person(), request("a", "look"));
    let CallEvent::Asks(asks) = exec.next().await else { panic!("it asks") };
    tokio::time::sleep(Duration::from_secs(100)).await;
    exec.decline_all(&asks);
    let CallEvent::Done(envelope) = exec.next().await else { panic!("it ends") };
    assert_eq!(json_of(*envelope)["data"], 1);
}

#[tokio::test(start_paused = true)]
async fn a_question_that_nobody_answers_ends_the_wait() {
    let gate = may_ask(puppet("a", asks));
    let mut exec = gate.start(person(), request("a", "look"));
    assert!(matches!(exec.next().await, CallEvent::Asks(_)));
    let CallEvent::Done(envelope) = exec.next().await else { panic!("it ends") };
    assert_eq!(
        failed(&json_of(*envelope)),
        ("timed_out", "timed out: the question was not answered in time")
    );
}

#[tokio::test(start_paused = true)]
async fn a_question_sets_its_timeout_within_bounds() {
    let check = async |asked: Option<u64>, expected: u64| {
        let puppet = puppet("a", move |call: Call| async move {
            let question = Question { timeout: asked.map(Duration::from_secs), ..question() };
            Ok(Reply::data(format!("{:?}", call.session.elicit(question).await.unwrap_err().hint)))
        });
        let (gate, begun) = (may_ask(puppet), tokio::time::Instant::now());
        let mut exec = gate.start(person(), request("a", "look"));
        assert!(matches!(exec.next().await, CallEvent::Asks(_)));
        assert!(matches!(exec.next().await, CallEvent::Done(_)));
        assert_eq!(begun.elapsed().as_secs(), expected, "{asked:?}");
    };
    check(None, 300).await;
    check(Some(10), 10).await;
    check(Some(1200), 1200).await;
    check(Some(100_000), 1800).await;
}

#[tokio::test]
async fn parallel_questions_park_one_call() {
    let six = puppet("a", async |call: Call| {
        let asked = (0..6).map(|_| call.session.elicit(question()));
        let answers = futures_util::future::join_all(asked).await;
        Ok(Reply::data(answers.iter().filter(|answer| answer.is_ok()).count()))
    });
    let gate = may_ask(six);
    let mut execs: Vec<Exec> = (0..4).map(|_| gate.start(person(), request("a", "look"))).collect();
    let mut asked = Vec::new();
    for exec in &mut execs {
        let CallEvent::Asks(asks) = exec.next().await else { panic!("it asks") };
        assert_eq!(asks.len(), 6);
        asked.push(asks);
    }
    for (exec, asks) in execs.iter_mut().zip(&asked) {
        exec.decline_all(asks);
        let CallEvent::Done(envelope) = exec.next().await else { panic!("it ends") };
        assert_eq!(json_of(*envelope)["data"], 6);
    }
}

#[tokio::test]
async fn a_caller_has_four_parked_calls() {
    let gate = may_ask(puppet("a", asks));
    let mut parked = Vec::new();
    for _ in 0..4 {
        let mut exec = gate.start(person(), request("a", "look"));
        assert!(matches!(exec.next().await, CallEvent::Asks(_)));
        parked.push(exec);
    }
    let mut fifth = gate.start(person(), request("a", "look"));
    let CallEvent::Done(fifth) = fifth.next().await else { panic!("it is refused") };
    let fifth = json_of(*fifth);
    assert_eq!(failed(&fifth), ("unavailable", "busy: 4 calls of yours wait for an answer already"));
    let other = CallOrigin::named("ada", CallerRights::all()).with_elicitation(true);
    assert!(matches!(gate.start(other, request("a", "look")).next().await, CallEvent::Asks(_)));
    parked.pop().unwrap().cancel();
    // Its place is free again once it has ended.
    let mut sixth = gate.start(person(), request("a", "look"));
    while let CallEvent::Done(_) = sixth.next().await {
        sixth = gate.start(person(), request("a", "look"));
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn removed_facades_do_not_resume() {
    let gate = may_ask(puppet("a", asks));
    let mut exec = gate.start(person(), request("a", "look"));
    let CallEvent::Asks(asks) = exec.next().await else { panic!("it asks") };
    gate.catalog().swap(BTreeMap::new());
    exec.answer(asks.keys().next().unwrap(), yes());
    let CallEvent::Done(envelope) = exec.next().await else { panic!("it ends") };
    assert_eq!(failed(&json_of(*envelope)), ("unavailable", "`a` is no longer served"));
}

#[tokio::test]
async fn questions_need_grant_and_client() {
    let reply_of = async |rules: FacadeRules, origin: CallOrigin| {
        let gate = gate(vec![(puppet("a", asks), rules)]);
        let mut exec = gate.start(origin, request("a", "look"));
        let CallEvent::Done(envelope) = exec.next().await else { panic!("it is refused") };
        let reply = json_of(*envelope);
        format!("{}: {} ({})", failed(&reply).0, failed(&reply).1, reply["hint"].as_str().unwrap())
    };
    assert_eq!(
        reply_of(FacadeRules::default(), person()).await,
        "denied: access denied: the policy does not let `a` ask the person (the operator can set `grants.elicit = \
         true`)"
    );
    assert_eq!(
        reply_of(asking(&[]), CallOrigin::local()).await,
        "unavailable: unavailable: this client cannot ask the person (ask the person and pass the answer as a \
         parameter, if there is one for it; otherwise use a client with elicitation)"
    );
}

#[tokio::test]
async fn the_facade_gets_invalid_answers_as_failures() {
    let gate = may_ask(puppet("a", asks));
    let mut exec = gate.start(person(), request("a", "look"));
    let CallEvent::Asks(asks) = exec.next().await else { panic!("it asks") };
    exec.answer(asks.keys().next().unwrap(), Answer::Accepted(json!({"say": 5})));
    let CallEvent::Done(envelope) = exec.next().await else { panic!("it ends") };
    let message = "the answer does not fit the question: `say` does not fit `type`";
    assert_eq!(failed(&json_of(*envelope)), ("invalid_params", message));
}

#[tokio::test]
async fn without_elicit_a_call_does_not_resume() {
    let gate = may_ask(puppet("a", asks));
    let mut exec = gate.start(person(), request("a", "look"));
    let CallEvent::Asks(open) = exec.next().await else { panic!("it asks") };
    let now = Arc::new(entry(puppet("a", asks), FacadeRules::default()));
    gate.catalog().swap(BTreeMap::from([("a".to_owned(), CatalogSlot::Serving(now))]));
    exec.answer(open.keys().next().unwrap(), yes());
    let CallEvent::Done(envelope) = exec.next().await else { panic!("it ends") };
    assert_eq!(failed(&json_of(*envelope)), ("unavailable", "`a` is no longer allowed to ask"));
}

#[tokio::test]
async fn one_of_two_followers_may_leave() {
    let gate = may_ask(puppet("a", asks));
    let mut exec = gate.start(person(), request("a", "look"));
    let CallEvent::Asks(open) = exec.next().await else { panic!("it asks") };
    let id = exec.detach().unwrap();
    let broken = gate.attach(&id, &CallOrigin::local()).unwrap();
    let mut again = gate.attach(&id, &CallOrigin::local()).unwrap();
    drop(broken);
    assert!(again.answer(open.keys().next().unwrap(), yes()));
    loop {
        if let CallEvent::Done(envelope) = again.next().await {
            return assert_eq!(json_of(*envelope)["ok"], true);
        }
    }
}

#[tokio::test]
async fn a_removed_facade_cannot_handle_its_refusal() {
    let gate = may_ask(puppet("a", async |call: Call| {
        let _ = call.session.elicit(question()).await;
        Ok(Reply::data("went on"))
    }));
    let mut exec = gate.start(person(), request("a", "look"));
    let CallEvent::Asks(open) = exec.next().await else { panic!("it asks") };
    gate.catalog().swap(BTreeMap::new());
    exec.answer(open.keys().next().unwrap(), yes());
    let CallEvent::Done(envelope) = exec.next().await else { panic!("it ends") };
    assert_eq!(failed(&json_of(*envelope)).0, "unavailable");
}

#[tokio::test(start_paused = true)]
async fn an_unanswered_call_resumes_with_a_permit() {
    let rules = FacadeRules { concurrency: 1, ..asking(&[]) };
    let asker = puppet("a", async |call: Call| {
        if call.action == "touch" {
            let _ = call.session.elicit(question()).await;
            tokio::time::sleep(Duration::from_secs(10)).await;
        }
        Ok(Reply::default())
    });
    let gate = gate(vec![(asker, rules)]);
    let mut exec = gate.start(person(), request("a", "touch"));
    assert!(matches!(exec.next().await, CallEvent::Asks(_)));
    tokio::time::sleep(Duration::from_secs(301)).await;
    let begun = tokio::time::Instant::now();
    call(&gate, request("a", "look")).await;
    assert!(begun.elapsed() >= Duration::from_secs(8), "it waits its turn");
}

#[tokio::test]
async fn a_question_does_not_look_like_anybody_elses() {
    let gate = may_ask(puppet("a", async |call: Call| {
        let message = "Go on?\n[bank] Pay\u{202e} 5\u{200b}0?\u{1b}[2J".to_owned();
        let _ = call.session.elicit(Question { message, ..question() }).await;
        Ok(Reply::default())
    }));
    let mut exec = gate.start(person(), request("a", "look"));
    let CallEvent::Asks(open) = exec.next().await else { panic!("it asks") };
    let message = &open.values().next().unwrap().message;
    assert!(message.starts_with("[a] Go on? [bank] Pay 5") && !message.chars().any(char::is_control));
    assert!(!message.contains(['\u{202e}', '\u{200b}']), "{message:?}");
}

#[tokio::test]
async fn a_prepared_answer_answers_one_question() {
    let caller = puppet("a", async |call: Call| {
        let first = call.session.elicit(named("who")).await?;
        let again = call.session.elicit(named("who")).await?;
        let nested = call.session.invoke(request("b", "look")).await?;
        Ok(Reply::data(json!([first == yes(), again == yes(), nested.data.into_value()])))
    });
    let callee =
        puppet("b", async |call: Call| Ok(Reply::data(call.session.elicit(named("where")).await? == yes())));
    let gate = gate(vec![(caller, asking(&["b:*"])), (callee, asking(&[]))]);
    let mut exec = gate.start(person(), request("a", "touch"));
    exec.prepare_answers(["who", "where", "q1"].map(|name| (name.to_owned(), yes())).into_iter());
    let mut keys = Vec::new();
    loop {
        match exec.next().await {
            CallEvent::Asks(asks) => {
                keys.extend(asks.keys().cloned());
                exec.decline_all(&asks);
            }
            CallEvent::Done(envelope) => {
                assert_eq!(json_of(*envelope)["data"], json!([true, false, false]));
                return assert_eq!(keys, ["q1", "q2"], "neither a second time nor for somebody else");
            }
            CallEvent::Progress(_) | CallEvent::AwaitsApproval => {}
        }
    }
}

#[tokio::test]
async fn a_named_question_is_open_under_its_name() {
    let gate = may_ask(puppet("a", async |call: Call| {
        Ok(Reply::data(call.session.elicit(named("who")).await? == yes()))
    }));
    let mut exec = gate.start(person(), request("a", "look"));
    let CallEvent::Asks(open) = exec.next().await else { panic!("it asks") };
    assert_eq!(open.keys().collect::<Vec<_>>(), ["who"]);
    assert!(exec.answer("who", yes()));
    let CallEvent::Done(envelope) = exec.next().await else { panic!("it ends") };
    assert_eq!(json_of(*envelope)["data"], json!(true));
}
