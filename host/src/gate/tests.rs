//! The gate over facades that do as they are told.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures_util::{FutureExt, future::BoxFuture};
use loggia_facade::{
    Action, Answer, Call, Detail, Effect, Envelope, Facade, Failure, Input, Object, Progress, Question,
    Reply, Request, Stop, Surface, code,
};
use loggia_schema::Contract;
use serde_json::{Value, json};
use tokio::{runtime::Handle, sync::Notify};

use super::{Caller, Event, Executor, Gate, Inline, InvokeRule, Origin, Rules, RunId, executor::Work};
use crate::catalog::{Catalog, Entry, Slot};

/// What a puppet does with a call.
type Act = Box<dyn Fn(Call) -> BoxFuture<'static, Result<Reply, Stop>> + Send + Sync>;

/// A facade that does as it is told.
pub(crate) struct Puppet {
    surface: Arc<Surface>,
    act: Act,
}

impl Facade for Puppet {
    fn surface(&self) -> &Arc<Surface> {
        &self.surface
    }

    fn dispatch(self: Arc<Self>, call: Call) -> BoxFuture<'static, Result<Reply, Stop>> {
        (self.act)(call)
    }
}

fn action(name: &str, effect: Effect) -> Action {
    let Value::Object(params) =
        json!({"type": "object", "properties": {"n": {"type": "integer", "default": 1}}})
    else {
        unreachable!()
    };
    Action {
        name: name.to_owned(),
        summary: "Does as it is told.".to_owned(),
        effect,
        idempotent: false,
        open_world: false,
        long_running: false,
        details: false,
        aliases: Vec::new(),
        params: Arc::new(params),
        data: None,
        examples: Vec::new(),
    }
}

/// A puppet with one action of each effect.
pub(crate) fn puppet<F>(name: &str, act: impl Fn(Call) -> F + Send + Sync + 'static) -> Puppet
where
    F: Future<Output = Result<Reply, Stop>> + Send + 'static,
{
    let surface = Surface {
        name: name.to_owned(),
        title: name.to_owned(),
        version: "0.1.0".to_owned(),
        summary: "A puppet.".to_owned(),
        instructions: None,
        default_action: None,
        actions: vec![
            action("look", Effect::Read),
            action("touch", Effect::Write),
            action("smash", Effect::Destructive),
        ],
        wants: Vec::new(),
    };
    Puppet { surface: Arc::new(surface), act: Box::new(move |call| act(call).boxed()) }
}

fn invoking(rules: &[&str]) -> Rules {
    let invoke = rules.iter().map(|rule| InvokeRule::parse(rule).unwrap()).collect();
    Rules { invoke, ..Rules::default() }
}

/// A puppet, ready to be called.
pub(crate) fn entry(puppet: Puppet, rules: Rules) -> Entry {
    let contract = Contract::new(Arc::clone(&puppet.surface)).unwrap();
    Entry::new(Arc::new(puppet), contract, rules, "test".to_owned())
}

fn gate_with(puppets: Vec<(Puppet, Rules)>, inline: Inline) -> Gate {
    let catalog = Arc::new(Catalog::default());
    let slots: BTreeMap<String, Slot> = puppets
        .into_iter()
        .map(|(puppet, rules)| (puppet.surface.name.clone(), Slot::Serving(Arc::new(entry(puppet, rules)))))
        .collect();
    catalog.swap(slots);
    Gate::new(catalog, Executor::new(Handle::current(), inline))
}

fn gate(puppets: Vec<(Puppet, Rules)>) -> Gate {
    gate_with(puppets, Inline::Slots(4))
}

fn one(puppet: Puppet) -> Gate {
    gate(vec![(puppet, Rules::default())])
}

fn request(facade: &str, action: &str) -> Request {
    let input = Input::Action { action: action.to_owned(), params: Object::new(), detail: Detail::Standard };
    Request { facade: facade.to_owned(), input, timeout: None, idempotency_key: None }
}

fn within(timeout: Duration, request: Request) -> Request {
    Request { timeout: Some(timeout), ..request }
}

fn json_of(envelope: Envelope) -> Value {
    Value::Object(envelope.into_parts().0)
}

async fn call(gate: &Gate, request: Request) -> Value {
    let mut exec = gate.start(Origin::local(), request);
    loop {
        match exec.next().await {
            Event::Done(envelope) => return json_of(*envelope),
            Event::Asks(asks) => exec.decline(&asks),
            Event::Progress(_) => {}
        }
    }
}

fn failed(envelope: &Value) -> (&str, &str) {
    (envelope["code"].as_str().unwrap_or_default(), envelope["error"].as_str().unwrap_or_default())
}

async fn forever() -> Result<Reply, Stop> {
    std::future::pending().await
}

#[tokio::test]
async fn a_call_gets_its_defaults_and_its_answer_an_envelope() {
    for inline in [Inline::Slots(1), Inline::Never] {
        let puppet = puppet("a", async |call| Ok(Reply::data(Value::Object(call.params))));
        let gate = gate_with(vec![(puppet, Rules::default())], inline);
        let envelope = call(&gate, request("a", "look")).await;
        assert_eq!(
            envelope,
            json!({"ok": true, "action": "look", "data": {"n": 1}, "resolved_inputs": {"n": 1}})
        );
    }
}

#[tokio::test]
async fn a_facade_that_is_not_there_is_told_apart_from_one_that_is_unavailable() {
    let gate = one(puppet("a", async |_| Ok(Reply::default())));
    let mut slots = gate.catalog().snapshot().slots.clone();
    slots.insert("b".to_owned(), Slot::Unavailable("its file was removed".to_owned()));
    gate.catalog().swap(slots);
    let gone = call(&gate, request("b", "look")).await;
    assert_eq!(failed(&gone), ("unavailable", "`b` is unavailable: its file was removed"));
    let never = call(&gate, request("c", "look")).await;
    assert_eq!(failed(&never), ("not_found", "not found: there is no facade `c`"));
    assert_eq!(never["hint"], "available facades: a");
}

#[tokio::test]
async fn arguments_of_more_than_a_mebibyte_are_refused() {
    let gate = one(puppet("a", async |_| Ok(Reply::default())));
    let Value::Object(arguments) = json!({"action": "look", "n": ["x".repeat(600_000), "x".repeat(600_000)]})
    else {
        unreachable!()
    };
    let input = Input::Arguments(arguments);
    let envelope = call(&gate, Request { input, ..request("a", "look") }).await;
    assert_eq!(failed(&envelope).1, "the arguments are too large: 1200013 bytes, at most 1048576");
}

#[tokio::test]
async fn progress_is_told_even_by_a_call_that_ends_at_once() {
    let gate = one(puppet("a", async |call: Call| {
        call.session.progress(Progress { done: 1.0, total: None, message: None });
        call.session.progress(Progress { done: 2.0, total: None, message: None });
        Ok(Reply::default())
    }));
    let mut exec = gate.start(Origin::local(), request("a", "look"));
    // The latest wins.
    assert!(matches!(exec.next().await, Event::Progress(progress) if progress.done == 2.0));
    assert!(matches!(exec.next().await, Event::Done(envelope) if envelope.is_ok()));
}

#[tokio::test(start_paused = true)]
async fn the_wall_clock_ends_a_call_and_names_its_limit() {
    let gate = one(puppet("a", async |_| forever().await));
    let envelope = call(&gate, request("a", "look")).await;
    assert_eq!(failed(&envelope), ("timed_out", "timed out: `a` did not answer within 30s"));
    assert!(envelope["hint"].as_str().unwrap().contains("`limits.wall` (now 30s)"), "{envelope}");
}

#[tokio::test]
async fn a_panic_of_the_host_ends_one_call() {
    for inline in [Inline::Slots(1), Inline::Never] {
        let puppet = puppet("a", async |call: Call| match call.action.as_str() {
            "smash" => panic!("on purpose"),
            _ => Ok(Reply::default()),
        });
        let gate = gate_with(vec![(puppet, Rules::default())], inline);
        let envelope = call(&gate, request("a", "smash")).await;
        assert_eq!(failed(&envelope), ("internal", "the host failed while it ran this call"));
        assert_eq!(call(&gate, request("a", "look")).await["ok"], true);
    }
}

#[tokio::test]
async fn a_dropped_call_is_cancelled_and_its_facade_told() {
    let told = Arc::new(Notify::new());
    let tells = Arc::clone(&told);
    let gate = one(puppet("a", move |call: Call| {
        let tells = Arc::clone(&tells);
        async move {
            call.session.cancelled().await;
            assert!(call.session.is_cancelled());
            tells.notify_one();
            Err(Stop::Cancelled)
        }
    }));
    let mut exec = gate.start(Origin::local(), request("a", "look"));
    assert!(exec.next().now_or_never().is_none());
    drop(exec);
    told.notified().await;
}

#[tokio::test]
async fn a_detached_call_goes_on_and_can_be_taken_up_by_its_caller_only() {
    let go = Arc::new(Notify::new());
    let waits = Arc::clone(&go);
    let gate = one(puppet("a", move |_| {
        let waits = Arc::clone(&waits);
        async move {
            waits.notified().await;
            Ok(Reply::data(42))
        }
    }));
    let mut exec = gate.start(Origin::local(), request("a", "look"));
    assert!(exec.next().now_or_never().is_none());
    let run = exec.detach().expect("it runs");
    assert!(gate.attach(&run, &Caller::Named("eve".into())).is_err());
    assert!(gate.attach(&RunId::from_client("run_guessed"), &Caller::Local).is_err());
    drop(gate.attach(&run, &Caller::Local).unwrap());
    go.notify_one();
    // The outcome is kept: whoever attaches gets it, again and again.
    for _ in 0..2 {
        let mut exec = gate.attach(&run, &Caller::Local).unwrap();
        let Event::Done(envelope) = exec.next().await else { panic!("it says nothing else") };
        assert_eq!(json_of(*envelope)["data"], 42);
    }
}

#[tokio::test]
async fn a_call_that_was_answered_has_nothing_to_detach() {
    let gate = one(puppet("a", async |_| Ok(Reply::default())));
    assert!(gate.start(Origin::local(), request("a", "no such action")).detach().is_none());
    // One that has not begun begins.
    let run = gate.start(Origin::local(), request("a", "look")).detach().unwrap();
    let mut exec = gate.attach(&run, &Caller::Local).unwrap();
    assert!(matches!(exec.next().await, Event::Done(envelope) if envelope.is_ok()));
}

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
async fn waiting_for_a_turn_is_not_running() {
    let rules = Rules { concurrency: 1, ..Rules::default() };
    let slow = puppet("a", async |_| {
        tokio::time::sleep(Duration::from_secs(20)).await;
        Ok(Reply::default())
    });
    let gate = gate(vec![(slow, rules)]);
    let calls: Vec<_> = (0..3)
        .map(|_| {
            let gate = gate.clone();
            tokio::spawn(async move { call(&gate, request("a", "look")).await })
        })
        .collect();
    let mut codes = Vec::new();
    for call in calls {
        let envelope = call.await.unwrap();
        codes.push(envelope["code"].as_str().unwrap_or("ok").to_owned());
    }
    // The second waited for 20 s and ran for 20, within its clock of 30; the third would have waited for 40.
    assert_eq!(codes, ["ok", "ok", "unavailable"]);
}

#[tokio::test]
async fn a_queue_has_an_end() {
    let rules = Rules { concurrency: 1, ..Rules::default() };
    let gate = gate(vec![(puppet("a", async |_| forever().await), rules)]);
    let mut waiting = Vec::new();
    for _ in 0..129 {
        let mut exec = gate.start(Origin::local(), request("a", "look"));
        assert!(exec.next().now_or_never().is_none());
        waiting.push(exec);
    }
    tokio::task::yield_now().await;
    let refused = call(&gate, request("a", "look")).await;
    assert_eq!(failed(&refused), ("unavailable", "busy: too many calls run now"));
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

/// Calls another facade's action with its own call's session, and passes on what it gets.
fn forwards(name: &str, to: &'static str, action: &'static str) -> Puppet {
    puppet(name, move |call: Call| async move { call.session.invoke(request(to, action)).await })
}

#[tokio::test]
async fn a_nested_call_may_do_what_the_policy_and_the_effect_allow() {
    let check = async |own: &str, rules: &[&str], target: &'static str, expected: (&str, &str)| {
        let callee = puppet("b", async |_| Ok(Reply::data("done")));
        let gate = gate(vec![(forwards("a", "b", target), invoking(rules)), (callee, Rules::default())]);
        let envelope = call(&gate, request("a", own)).await;
        let got = if envelope["ok"] == true { ("ok", "done") } else { failed(&envelope) };
        assert_eq!(got, expected, "{own} calls {target} by {rules:?}");
    };
    let ok = ("ok", "done");
    check("look", &["b:look"], "look", ok).await;
    check("smash", &["b:*"], "smash", ok).await;
    check("touch", &["b:*"], "touch", ok).await;
    let policy = ("denied", "access denied: the policy does not let `a` call `b`");
    check("look", &[], "look", policy).await;
    check("look", &["b:touch"], "look", policy).await;
    let reads = ("denied", "access denied: a read action may not call `b.touch`, which is write");
    check("look", &["b:*"], "touch", reads).await;
    let writes = ("denied", "access denied: a write action may not call `b.smash`, which is destructive");
    check("touch", &["b:*"], "smash", writes).await;
}

#[tokio::test]
async fn a_facade_that_already_waits_is_not_called_again() {
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
        let mut puppets: Vec<(Puppet, Rules)> = NAMES[..length]
            .windows(2)
            .map(|pair| (forwards(pair[0], pair[1], "look"), invoking(&[&format!("{}:*", pair[1])])))
            .collect();
        puppets.push((puppet(NAMES[length - 1], async |_| Ok(Reply::data("deep"))), Rules::default()));
        let envelope = call(&gate(puppets), request("a", "look")).await;
        assert_eq!(envelope["ok"], ok, "{length}: {envelope}");
    };
    check(6, true).await;
    check(7, false).await;
}

#[tokio::test(start_paused = true)]
async fn a_nested_calls_own_clock_ends_it_and_its_caller_goes_on() {
    let callee = puppet("b", async |_| forever().await);
    let caller = puppet("a", async |call: Call| {
        let nested = within(Duration::from_secs(1), request("b", "look"));
        match call.session.invoke(nested).await {
            Err(Stop::Failure(failure)) => Ok(Reply::data(failure.code)),
            other => Ok(Reply::data(format!("{other:?}"))),
        }
    });
    let gate = gate(vec![(caller, invoking(&["b:*"])), (callee, Rules::default())]);
    assert_eq!(call(&gate, request("a", "look")).await["data"], code::TIMED_OUT);
}

#[tokio::test]
async fn only_so_many_calls_of_a_facade_run_at_once() {
    let (go, running) = (Arc::new(Notify::new()), Arc::new(AtomicBool::new(false)));
    let (waits, taken) = (Arc::clone(&go), Arc::clone(&running));
    let puppet = puppet("a", move |_| {
        let (waits, taken) = (Arc::clone(&waits), Arc::clone(&taken));
        async move {
            if taken.swap(true, Ordering::SeqCst) {
                return Err(Failure::new("overlap", "two at once").into());
            }
            waits.notified().await;
            taken.store(false, Ordering::SeqCst);
            Ok(Reply::default())
        }
    });
    let gate = gate(vec![(puppet, Rules { concurrency: 1, ..Rules::default() })]);
    let calls: Vec<_> = (0..5)
        .map(|_| {
            let gate = gate.clone();
            tokio::spawn(async move { call(&gate, request("a", "look")).await })
        })
        .collect();
    for _ in 0..5 {
        tokio::task::yield_now().await;
        go.notify_one();
        while running.load(Ordering::SeqCst) && calls.iter().any(|call| !call.is_finished()) {
            go.notify_waiters();
            tokio::task::yield_now().await;
        }
    }
    for call in calls {
        assert_eq!(call.await.unwrap()["ok"], true);
    }
}

#[tokio::test]
async fn a_failure_of_the_plugin_keeps_its_words_and_gets_a_signature() {
    let gate = one(puppet("a", async |_| {
        Err(Failure::new(code::INVALID_PARAMS, "`n` must be even").hint("take 2").into())
    }));
    let envelope = call(&gate, request("a", "look")).await;
    let expected = json!({"ok": false, "action": "look", "code": "invalid_params", "error": "`n` must be even",
        "hint": "take 2", "expected": "look(n?: integer)", "resolved_inputs": {"n": 1}});
    assert_eq!(envelope, expected);
}

/// The work of a call is moved between runtimes, so it must be free to move.
#[test]
fn work_can_be_sent() {
    fn sendable<T: Send>() {}
    sendable::<Work>();
}
