//! Calls and their ends.

use super::*;
use crate::call::CallStart;

#[tokio::test]
async fn a_call_gets_defaults_and_an_envelope() {
    for inline in [InlinePolicy::Slots(1), InlinePolicy::Never] {
        let puppet = puppet("a", async |call| Ok(Reply::data(Value::Object(call.params))));
        let gate = gate_with(vec![(puppet, FacadeRules::default())], inline);
        let envelope = call(&gate, request("a", "look")).await;
        assert_eq!(
            envelope,
            json!({"ok": true, "action": "look", "data": {"n": 1}, "resolved_inputs": {"n": 1}})
        );
    }
}

#[tokio::test]
async fn missing_and_unavailable_facades_differ() {
    let gate = one(puppet("a", async |_| Ok(Reply::default())));
    let mut slots = gate.catalog().snapshot().slots.clone();
    slots.insert("b".to_owned(), CatalogSlot::Unavailable("its file was removed".to_owned()));
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
    assert_eq!(failed(&envelope).1, "the arguments are too large: 1200029 bytes, at most 1MiB");
}

#[tokio::test]
async fn an_immediate_call_still_reports_progress() {
    let gate = one(puppet("a", async |call: Call| {
        call.session.progress(Progress { done: 1.0, total: None, message: None });
        call.session.progress(Progress { done: 2.0, total: None, message: None });
        Ok(Reply::default())
    }));
    let mut exec = gate.start(CallOrigin::local(), request("a", "look"));
    // The latest wins.
    assert!(matches!(exec.next().await, CallEvent::Progress(progress) if progress.done == 2.0));
    assert!(matches!(exec.next().await, CallEvent::Done(envelope) if envelope.is_ok()));
}

#[tokio::test(start_paused = true)]
async fn a_wall_timeout_names_its_limit() {
    let gate = one(puppet("a", async |_| forever().await));
    let envelope = call(&gate, request("a", "look")).await;
    assert_eq!(failed(&envelope), ("timed_out", "timed out: `a` did not answer within 30s"));
    assert!(envelope["hint"].as_str().unwrap().contains("`limits.wall` (now 30s)"), "{envelope}");
}

#[tokio::test]
async fn a_panic_of_the_host_ends_one_call() {
    for inline in [InlinePolicy::Slots(1), InlinePolicy::Never] {
        let puppet = puppet("a", async |call: Call| match call.action.as_str() {
            "smash" => panic!("on purpose"),
            _ => Ok(Reply::default()),
        });
        let gate = gate_with(vec![(puppet, FacadeRules::default())], inline);
        let envelope = call(&gate, request("a", "smash")).await;
        assert_eq!(failed(&envelope), ("internal", "the host failed while it ran this call"));
        assert_eq!(call(&gate, request("a", "look")).await["ok"], true);
    }
}

#[tokio::test]
async fn a_dropped_call_is_cancelled() {
    let reply = Arc::new(Notify::new());
    let tells = Arc::clone(&reply);
    let gate = one(puppet("a", move |call: Call| {
        let tells = Arc::clone(&tells);
        async move {
            call.session.cancelled().await;
            assert!(call.session.is_cancelled());
            tells.notify_one();
            Err(Stop::Cancelled)
        }
    }));
    let mut exec = gate.start(CallOrigin::local(), request("a", "look"));
    assert!(exec.next().now_or_never().is_none());
    drop(exec);
    reply.notified().await;
}

#[tokio::test]
async fn only_its_caller_attaches_to_a_call() {
    let go = Arc::new(Notify::new());
    let waits = Arc::clone(&go);
    let gate = one(puppet("a", move |_| {
        let waits = Arc::clone(&waits);
        async move {
            waits.notified().await;
            Ok(Reply::data(42))
        }
    }));
    let mut exec = gate.start(CallOrigin::local(), request("a", "look"));
    assert!(exec.next().now_or_never().is_none());
    let run = exec.detach().expect("it runs");
    assert!(gate.attach(&run, &CallOrigin::named("eve", CallerRights::all())).is_err());
    assert!(gate.attach(&RunId::from_client("run_guessed"), &CallOrigin::local()).is_err());
    drop(gate.attach(&run, &CallOrigin::local()).unwrap());
    go.notify_one();
    // The outcome is kept: each handle that attaches gets it.
    for _ in 0..2 {
        let mut exec = gate.attach(&run, &CallOrigin::local()).unwrap();
        let CallEvent::Done(envelope) = exec.next().await else { panic!("it says nothing else") };
        assert_eq!(json_of(*envelope)["data"], 42);
    }
}

#[tokio::test]
async fn an_answered_call_cannot_be_detached() {
    let gate = one(puppet("a", async |_| Ok(Reply::default())));
    assert!(gate.start(CallOrigin::local(), request("a", "no such action")).detach().is_none());
    // One that has not begun begins.
    let run = gate.start(CallOrigin::local(), request("a", "look")).detach().unwrap();
    let mut exec = gate.attach(&run, &CallOrigin::local()).unwrap();
    assert!(matches!(exec.next().await, CallEvent::Done(envelope) if envelope.is_ok()));
}

#[tokio::test(start_paused = true)]
async fn waiting_for_a_turn_is_not_running() {
    let rules = FacadeRules { concurrency: 1, ..FacadeRules::default() };
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

#[tokio::test(start_paused = true)]
async fn repeated_faults_open_the_breaker() {
    let heals = Arc::new(AtomicBool::new(false));
    let healed = Arc::clone(&heals);
    let puppet = puppet("a", move |call: Call| {
        let healed = Arc::clone(&healed);
        async move {
            if healed.load(Ordering::SeqCst) {
                return Ok(Reply::default());
            }
            match call.action.as_str() {
                "look" => Err(fault("a", FaultKind::Trap).into()),
                // The wall clock makes it one.
                "touch" => forever().await,
                _ => Err(Failure::new("refused", "in good order").into()),
            }
        }
    });
    let rules = FacadeRules {
        breaker: loggia_policy::model::BreakerConfig { faults: 3, ..FacadeRules::default().breaker },
        ..FacadeRules::default()
    };
    let gate = gate(vec![(puppet, rules)]);
    let second = Duration::from_secs(1);
    let mut codes = Vec::new();
    for call_of in [
        request("a", "smash"),
        request("a", "look"),
        // Short timeouts chosen by callers cannot open it.
        within(second, request("a", "touch")),
        within(second, request("a", "touch")),
        request("a", "touch"),
        request("a", "smash"),
        request("a", "look"),
        request("a", "smash"),
    ] {
        let envelope = call(&gate, call_of).await;
        codes.push(envelope["code"].as_str().unwrap_or("ok").to_owned());
    }
    let (late, timed_out) = ("internal", "timed_out");
    assert_eq!(codes, ["refused", late, timed_out, timed_out, timed_out, "refused", late, "unavailable"]);
    let resting = call(&gate, request("a", "look")).await;
    assert_eq!(failed(&resting).1, "unavailable: `a` failed 3 times within 1m; its circuit breaker is open");
    // The refusal before this one took its time.
    assert_eq!(resting["retry_after_ms"], 29_950);
    tokio::time::advance(30 * second).await;
    heals.store(true, Ordering::SeqCst);
    for _ in 0..2 {
        assert_eq!(call(&gate, request("a", "look")).await["ok"], true);
    }
}

#[tokio::test]
async fn without_a_queue_no_call_waits() {
    let rules = FacadeRules { concurrency: 1, queue: 0, ..FacadeRules::default() };
    let gate = gate(vec![(puppet("a", async |_| forever().await), rules)]);
    let mut runs = gate.start(CallOrigin::local(), request("a", "look"));
    assert!(runs.next().now_or_never().is_none());
    tokio::task::yield_now().await;
    let refused = call(&gate, request("a", "look")).await;
    assert_eq!(failed(&refused), ("unavailable", "busy: too many calls run now"));
}

#[tokio::test]
async fn a_queue_has_an_end() {
    let rules = FacadeRules { concurrency: 1, ..FacadeRules::default() };
    let gate = gate(vec![(puppet("a", async |_| forever().await), rules)]);
    let mut waiting = Vec::new();
    for _ in 0..129 {
        let mut exec = gate.start(CallOrigin::local(), request("a", "look"));
        assert!(exec.next().now_or_never().is_none());
        waiting.push(exec);
    }
    // On a busy machine a first slice may overrun, and the calls after it start on the runtime.
    while gate.snapshot().facades[0].1.queued < 128 {
        tokio::task::yield_now().await;
    }
    let refused = call(&gate, request("a", "look")).await;
    assert_eq!(failed(&refused), ("unavailable", "busy: too many calls run now"));
}

#[tokio::test]
async fn concurrency_bounds_the_calls_of_a_facade() {
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
    let gate = gate(vec![(puppet, FacadeRules { concurrency: 1, ..FacadeRules::default() })]);
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
async fn a_plugins_failure_gets_the_signature() {
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
    sendable::<ScheduledCall>();
}

/// Numbers that are no randomness anybody relies on; the same in each run.
struct Arbitrary(u64);

impl Arbitrary {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[usize::try_from(self.below(of.len() as u64)).unwrap()]
    }

    fn value(&mut self, depth: u32) -> Value {
        match self.below(if depth == 0 { 8 } else { 10 }) {
            0 => Value::Null,
            1 => json!(self.below(2) == 0),
            2 => json!(self.below(100)),
            3 => json!(-1e300),
            4 => json!(self.one(&[
                "look",
                "touch",
                "batch",
                "describe",
                "run_status",
                "lооk",
                "\0",
                "\u{202e}",
                "1"
            ])),
            5 => json!("x".repeat(usize::try_from(self.below(5000)).unwrap())),
            6 => json!(u64::MAX),
            7 => json!(1.5),
            8 => (0..self.below(4)).map(|_| self.value(depth - 1)).collect(),
            _ => self.object(depth - 1).into(),
        }
    }

    fn object(&mut self, depth: u32) -> Object {
        const NAMES: [&str; 16] = [
            "action",
            "cmd",
            "params",
            "detail",
            "wait",
            "confirm",
            "of",
            "run_id",
            "include_trace",
            "items",
            "mode",
            "n",
            "__proto__",
            "",
            "N",
            "\u{0}",
        ];
        (0..self.below(6)).map(|_| (self.one(&NAMES).to_owned(), self.value(depth))).collect()
    }
}

#[tokio::test]
async fn any_input_gets_one_short_envelope() {
    let gate = gate_under(
        puppet("a", async |call: Call| Ok(Reply::data(Value::Object(call.params)))),
        FacadeRules::default(),
        ActionPolicy {
            batch: true,
            confirm: vec!["smash".into()],
            deny: vec!["touch".into()],
            ..ActionPolicy::default()
        },
    );
    let mut arbitrary = Arbitrary(7);
    for _ in 0..3000 {
        let mut arguments = arbitrary.object(4);
        if arbitrary.below(2) == 0 {
            let names =
                ["look", "Dig", "smash", "touch", "describe", "run_status", "result", "run_cancel", "batch"];
            arguments.insert("action".into(), arbitrary.one(&names).into());
        }
        let sent = Value::Object(arguments.clone());
        let envelope = finish(gate.call_tool(CallOrigin::local(), "a", arguments).unwrap()).await;
        let failed = envelope["ok"] == false;
        assert!(failed || envelope["ok"] == true, "{sent}: {envelope}");
        if failed {
            let error = envelope["error"].as_str().unwrap();
            assert!(!error.is_empty() && !error.chars().any(|c| c.is_control()), "{sent}: {error:?}");
            assert!(envelope.to_string().len() < 16 << 10, "{sent}: {envelope}");
        }
    }
}

#[tokio::test]
async fn no_call_starts_while_the_audit_trail_cannot_be_written() {
    let unaudited = Arc::new(AtomicBool::new(false));
    let stores = GateStores { unaudited: Some(Arc::clone(&unaudited)), ..GateStores::default() };
    let gate = with_stores(&one(puppet("a", async |_| Ok(Reply::data("done")))), stores);
    let started = async || {
        let id = RunId::from_client("run_a");
        let start =
            CallStart { origin: CallOrigin::local(), request: request("a", "look"), id, may_overlap: true };
        gate.start_call(start).await.map_err(|failure| failure.message)
    };
    for (is_unaudited, expected) in
        [(false, None), (true, Some("the server cannot write its audit trail")), (false, None)]
    {
        unaudited.store(is_unaudited, Ordering::Relaxed);
        let envelope = call(&gate, request("a", "look")).await;
        let expected = expected.map(|reason| format!("unavailable: {reason}"));
        assert_eq!(envelope["error"].as_str().map(str::to_owned), expected, "{envelope}");
        assert_eq!(started().await.err(), expected, "of hooks and schedules");
    }
}
