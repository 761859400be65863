//! Calls that wait for a person.

use super::*;

fn question() -> Question {
    Question { message: "Sure?".to_owned(), schema: Object::new() }
}

/// Asks once, and answers with what it was told.
async fn asks(call: Call) -> Result<Reply, Stop> {
    match call.session.elicit(question()).await? {
        Answer::Accepted(value) => Ok(Reply::data(value)),
        other => Ok(Reply::data(format!("{other:?}"))),
    }
}

#[tokio::test(start_paused = true)]
async fn a_parked_call_holds_no_permit_and_its_clock_stands_still() {
    let rules = Rules { concurrency: 1, ..Rules::default() };
    let gate = gate(vec![(
        puppet("a", async |call: Call| match call.action.as_str() {
            "touch" => asks(call).await,
            _ => Ok(Reply::default()),
        }),
        rules,
    )]);
    let mut exec = gate.start(Origin::local(), request("a", "touch"));
    let Event::Asks(asks) = exec.next().await else { panic!("it asks") };
    assert_eq!(asks.values().next().unwrap().message, "Sure?");
    // Another call runs, although one at a time may.
    assert_eq!(call(&gate, request("a", "look")).await["ok"], true);
    // Longer than the wall clock.
    tokio::time::sleep(Duration::from_secs(120)).await;
    let key = asks.keys().next().unwrap();
    assert!(exec.answer(key, Answer::Accepted(json!("yes"))));
    assert!(!exec.answer(key, Answer::Declined), "a question is answered once");
    let Event::Done(envelope) = exec.next().await else { panic!("it ends") };
    assert_eq!(json_of(*envelope)["data"], "yes");
}

#[tokio::test]
async fn parallel_questions_of_one_call_share_its_permit() {
    let rules = Rules { concurrency: 1, ..Rules::default() };
    let both = puppet("a", async |call: Call| {
        let (one, two) = tokio::join!(call.session.elicit(question()), call.session.elicit(question()));
        Ok(Reply::data(json!([one.is_ok(), two.is_ok()])))
    });
    let gate = gate(vec![(both, rules)]);
    let mut exec = gate.start(Origin::local(), request("a", "look"));
    loop {
        match exec.next().await {
            Event::Asks(asks) => exec.decline(&asks),
            Event::Done(envelope) => return assert_eq!(json_of(*envelope)["data"], json!([true, true])),
            Event::Progress(_) => {}
        }
    }
}

#[tokio::test]
async fn a_nested_call_that_asks_parks_those_above_it_too() {
    let rules = Rules { concurrency: 1, ..invoking(&["b:*"]) };
    let caller = puppet("a", async |call: Call| match call.action.as_str() {
        "touch" => call.session.invoke(request("b", "look")).await,
        _ => Ok(Reply::default()),
    });
    let gate = gate(vec![(caller, rules), (puppet("b", asks), Rules::default())]);
    let mut exec = gate.start(Origin::local(), request("a", "touch"));
    let Event::Asks(asks) = exec.next().await else { panic!("it asks") };
    assert_eq!(call(&gate, request("a", "look")).await["ok"], true, "one call at a time, and none runs");
    exec.answer(asks.keys().next().unwrap(), Answer::Accepted(json!("yes")));
    let Event::Done(envelope) = exec.next().await else { panic!("it ends") };
    assert_eq!(json_of(*envelope)["data"], "yes");
}

#[tokio::test(start_paused = true)]
async fn a_nested_call_does_not_get_time_for_parking_before_it_began() {
    let caller = puppet("a", async |call: Call| {
        let _ = call.session.elicit(question()).await?;
        let begun = tokio::time::Instant::now();
        let _ = call.session.invoke(within(Duration::from_secs(1), request("b", "look"))).await;
        Ok(Reply::data(begun.elapsed().as_secs()))
    });
    let callee = puppet("b", async |_| forever().await);
    let gate = gate(vec![(caller, invoking(&["b:*"])), (callee, Rules::default())]);
    let mut exec = gate.start(Origin::local(), request("a", "look"));
    let Event::Asks(asks) = exec.next().await else { panic!("it asks") };
    tokio::time::sleep(Duration::from_secs(100)).await;
    exec.decline(&asks);
    let Event::Done(envelope) = exec.next().await else { panic!("it ends") };
    assert_eq!(json_of(*envelope)["data"], 1);
}

#[tokio::test(start_paused = true)]
async fn a_question_that_nobody_answers_ends_the_wait() {
    let gate = one(puppet("a", asks));
    let mut exec = gate.start(Origin::local(), request("a", "look"));
    assert!(matches!(exec.next().await, Event::Asks(_)));
    let Event::Done(envelope) = exec.next().await else { panic!("it ends") };
    assert_eq!(failed(&json_of(*envelope)), ("timed_out", "timed out: nobody answered the question"));
}

#[tokio::test]
async fn a_caller_can_have_four_parked_calls_and_no_more() {
    let gate = one(puppet("a", asks));
    let mut parked = Vec::new();
    for _ in 0..4 {
        let mut exec = gate.start(Origin::local(), request("a", "look"));
        assert!(matches!(exec.next().await, Event::Asks(_)));
        parked.push(exec);
    }
    let fifth = call(&gate, request("a", "look")).await;
    assert_eq!(failed(&fifth), ("unavailable", "busy: 4 calls of yours wait for an answer already"));
    let other = Origin { caller: Caller::Named("ada".into()) };
    assert!(matches!(gate.start(other, request("a", "look")).next().await, Event::Asks(_)));
    parked.pop().unwrap().cancel();
    // Its place is free again once it has ended.
    let mut sixth = gate.start(Origin::local(), request("a", "look"));
    while let Event::Done(_) = sixth.next().await {
        sixth = gate.start(Origin::local(), request("a", "look"));
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_parked_call_does_not_resume_on_a_facade_that_was_removed() {
    let gate = one(puppet("a", asks));
    let mut exec = gate.start(Origin::local(), request("a", "look"));
    let Event::Asks(asks) = exec.next().await else { panic!("it asks") };
    gate.catalog().swap(BTreeMap::new());
    exec.answer(asks.keys().next().unwrap(), Answer::Accepted(json!("yes")));
    let Event::Done(envelope) = exec.next().await else { panic!("it ends") };
    assert_eq!(failed(&json_of(*envelope)), ("unavailable", "`a` is no longer served"));
}
