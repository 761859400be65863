//! Counters of calls.

use super::*;
use crate::call::GateSnapshot;

/// Counters, as words.
fn counted(gate: &Gate) -> Vec<String> {
    let calls = gate.meters().calls.load();
    let mut words = Vec::new();
    for (facade, calls) in calls.iter() {
        for (action, ends) in calls.actions.load().iter() {
            words
                .extend(ends.counts().map(|(outcome, count)| format!("{facade} {action} {outcome} {count}")));
        }
        let ran: u64 = calls.times.totals().1.iter().sum();
        words.push(format!("{facade} ran {ran}, runs {}", calls.running.get()));
    }
    words
}

#[tokio::test(start_paused = true)]
async fn each_call_counts_once_by_how_it_ended() {
    let a = puppet("a", |call| async move {
        match call.action.as_str() {
            "look" => Ok(Reply::default()),
            "touch" => Err(Failure::new("gone_fishing", "not here").into()),
            _ => call.session.invoke(request("b", "look")).await,
        }
    });
    let b = puppet("b", |_| async { Err(fault("b", FaultKind::Trap).into()) });
    let gate = gate(vec![(a, invoking(&["b:*"])), (b, FacadeRules::default())]);
    for _ in 0..2 {
        call(&gate, request("a", "look")).await;
    }
    call(&gate, request("a", "touch")).await;
    call(&gate, request("a", "smash")).await;
    call(&gate, request("a", "made-up")).await;
    call(&gate, request("nobody", "made-up")).await;
    finish(tool(&gate, "a", json!({"action": "touch", "n": "x"}))).await;
    finish(tool(&gate, "a", json!({"action": "describe"}))).await;
    insta::assert_snapshot!(counted(&gate).join("\n"));
}

#[tokio::test(start_paused = true)]
async fn refused_and_dropped_calls_count() {
    let a = puppet("a", |call| async move {
        if call.action == "look" { forever().await } else { Err(fault("a", FaultKind::Trap).into()) }
    });
    let breaker = loggia_policy::model::BreakerConfig { faults: 2, ..FacadeRules::default().breaker };
    let rules = FacadeRules { concurrency: 1, queue: 1, breaker, ..FacadeRules::default() };
    let gate = gate(vec![(a, rules)]);
    let facade = |gate: &Gate| gate.snapshot().facades[0].1;
    let mut first = gate.start(CallOrigin::local(), request("a", "look"));
    assert!(first.next().now_or_never().is_none());
    let mut second = gate.start(CallOrigin::local(), request("a", "look"));
    assert!(second.next().now_or_never().is_none());
    // Both are on their way to the second runtime.
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert_eq!((gate.meters().calls.get_or_insert("a").running.get(), facade(&gate).queued), (1, 1));
    // One runs, one waits, and there is room for no more.
    assert_eq!(failed(&call(&gate, request("a", "look")).await).0, code::UNAVAILABLE);
    drop((first, second));
    tokio::time::sleep(Duration::from_secs(1)).await;
    for _ in 0..3 {
        call(&gate, request("a", "touch")).await;
    }
    assert_eq!(facade(&gate).breaker, 2);
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(facade(&gate).breaker, 1);
    insta::assert_snapshot!(counted(&gate).join("\n"));
}

#[tokio::test(start_paused = true)]
async fn runs_are_counted_by_how_they_stand() {
    let a = puppet("a", |call| async move {
        if call.action == "look" { Ok(Reply::default()) } else { forever().await }
    });
    let gate = one(a);
    let mut run = gate.start(CallOrigin::local(), request("a", "dig"));
    assert!(run.next().now_or_never().is_none());
    assert!(run.detach_as_run().is_some());
    let runs = |gate: &Gate| {
        let GateSnapshot { running, waiting, ended, .. } = gate.snapshot();
        (running, waiting, ended)
    };
    assert_eq!(runs(&gate), (1, 0, 0));
    gate.drain(Duration::ZERO).await;
    assert_eq!(runs(&gate), (0, 0, 1));
}
