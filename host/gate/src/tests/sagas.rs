//! Workflows that undo what they have done, however they end.

use std::sync::{
    Mutex,
    atomic::{AtomicUsize, Ordering},
};

use super::{
    durable::{MadeCalls, kill_everywhere},
    workflows::{beside, serve_workflows},
    *,
};

/// Steps, items, and a failure at the end.
const FAILS: &str = "
name: order
description: Places an order that fails.
transaction: saga
steps:
  - {id: stock, tool: a.look}
  - {id: pay, tool: a.touch, dependsOn: [stock], compensate: {tool: a.smash}}
  - id: each
    type: forEach
    collection: '[1,2,3]'
    maxParallel: 2
    dependsOn: [pay]
    step: {tool: a.touch, compensate: {tool: a.smash}}
  - {id: bad, type: forEach, collection: no list, step: {tool: a.look}, dependsOn: [each]}
";

/// Names of the report's list, sorted.
fn listed(result: &Value, name: &str) -> Vec<String> {
    let of = |value: &Value| value.as_str().or(value["step"].as_str()).unwrap_or_default().to_owned();
    let mut names: Vec<String> = result["details"][name].as_array().into_iter().flatten().map(of).collect();
    names.sort_unstable();
    names
}

/// Steps that were made and undone, by the counts of calls.
fn made_and_undone(made: &BTreeMap<String, usize>) -> (Vec<String>, Vec<String>) {
    let keys = |action: &str| {
        let own = made
            .keys()
            .filter_map(|call| call.strip_prefix(action))
            .map(|call| call.trim_end_matches("/undo"));
        own.map(str::to_owned).collect::<Vec<_>>()
    };
    (keys("touch "), keys("smash "))
}

#[tokio::test(start_paused = true)]
async fn a_killed_saga_reports_exactly_what_remains() {
    let (undone, partly) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let writes = kill_everywhere(FAILS, |writes, result, made| {
        let changes = made.iter().filter(|(call, _)| !call.starts_with("look"));
        assert!(changes.clone().all(|(_, count)| *count == 1), "killed after {writes}: {made:?}");
        let (done, taken_back) = made_and_undone(made);
        let (compensated, failed, unknown) =
            (listed(result, "compensated"), listed(result, "compensation_failed"), listed(result, "unknown"));
        let mut all = [compensated.clone(), failed.clone(), unknown.clone()].concat();
        all.sort_unstable();
        assert_eq!(all, done, "each call is in one list, killed after {writes}: {result}");
        let mut tried = [compensated, failed.clone()].concat();
        tried.sort_unstable();
        assert_eq!(tried, taken_back, "killed after {writes}: {result}");
        let is_undone = failed.is_empty() && unknown.is_empty();
        assert_eq!(result["details"]["undone"], is_undone, "killed after {writes}: {result}");
        (if is_undone { &undone } else { &partly }).fetch_add(1, Ordering::Relaxed);
    })
    .await;
    assert!(writes > 8, "it writes {writes} times");
    // A call that may not be repeated was under way.
    assert!(undone.into_inner() > 1 && partly.into_inner() > 3);
}

#[tokio::test(start_paused = true)]
async fn a_killed_saga_is_undone_where_calls_may_be_repeated() {
    let text = FAILS.replace("tool: a.smash}", "tool: a.smash, onUnknown: retry}");
    let text = text.replace("a.touch, dependsOn", "a.touch, onUnknown: retry, dependsOn");
    let text = text.replacen("type: forEach", "type: forEach\n    onUnknown: retry", 1);
    kill_everywhere(&text, |writes, result, made| {
        assert_eq!(result["details"]["undone"], true, "killed after {writes}: {result}");
        let (done, taken_back) = made_and_undone(made);
        assert_eq!(done, taken_back, "killed after {writes}: {made:?}");
    })
    .await;
}

/// A gate with a puppet whose changes take a second, and its calls.
fn slow_stage(text: &str) -> (Gate, MadeCalls) {
    let calls = MadeCalls::default();
    let made = Arc::clone(&calls);
    let slow = puppet("a", move |call: Call| {
        let key = call.idempotency_key.clone().unwrap_or_default();
        let step = key.split_once('/').unwrap_or_default().1.to_owned();
        let (made, name) = (Arc::clone(&made), format!("{} {step}", call.action));
        async move {
            let reads = call.action == "look";
            tokio::select! {
                () = tokio::time::sleep(Duration::from_secs(if reads { 3600 } else { 1 })) => {}
                () = call.session.cancelled() => return Err(Stop::Cancelled),
            }
            *made.lock().unwrap().entry(name).or_default() += 1;
            Ok(Reply::data(json!({"done": true})))
        }
    });
    (beside(text, 8, vec![slow]), calls)
}

const SLOW: &str = "
name: order
description: Places an order, and waits.
transaction: saga
steps:
  - {id: pay, tool: a.touch, compensate: {tool: a.smash}}
  - {id: book, tool: a.touch, dependsOn: [pay], compensate: {tool: a.smash}}
  - {id: wait, tool: a.look, dependsOn: [book], timeout: 1h}
";

/// Starts the workflow, and stops it after some time. Returns its envelope.
async fn stopped_after(gate: &Gate, call: Request, seconds: f32) -> Value {
    let mut exec = gate.start(CallOrigin::local(), call);
    let until = tokio::time::Instant::now() + Duration::from_secs_f32(seconds);
    loop {
        tokio::select! {
            biased;
            event = exec.next() => if let CallEvent::Done(envelope) = event {
                return json_of(*envelope);
            },
            () = tokio::time::sleep_until(until), if tokio::time::Instant::now() < until => exec.cancel(),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_saga_waits_for_its_calls_and_undoes_them() {
    for (seconds, compensated) in [(0.5, vec!["pay"]), (1.5, vec!["book", "pay"]), (5.0, vec!["book", "pay"])]
    {
        let (gate, made) = slow_stage(SLOW);
        let result = stopped_after(&gate, request("flow", "order"), seconds).await;
        assert_eq!(result["code"], "cancelled", "{result}");
        assert_eq!(result["details"]["compensated"], json!(compensated), "{seconds}: {result}");
        assert_eq!(result["details"]["undone"], true, "{result}");
        let (done, undone) = made_and_undone(&made.lock().unwrap());
        assert_eq!((done.len(), &done), (compensated.len(), &undone));
    }
}

#[tokio::test(start_paused = true)]
async fn a_saga_whose_caller_leaves_is_undone() {
    let (gate, made) = slow_stage(SLOW);
    let mut exec = gate.start(CallOrigin::local(), request("flow", "order"));
    let _ = tokio::time::timeout(Duration::from_secs(5), async {
        loop {
            exec.next().await;
        }
    })
    .await;
    drop(exec);
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(made_and_undone(&made.lock().unwrap()).1, ["book", "pay"]);
}

#[tokio::test(start_paused = true)]
async fn a_saga_whose_wall_clock_runs_out_is_undone() {
    let (gate, made) = slow_stage(SLOW);
    let short = Request { timeout: Some(Duration::from_secs(10)), ..request("flow", "order") };
    let result = call(&gate, short).await;
    assert_eq!(
        (&result["code"], &result["details"]["undone"]),
        (&json!("timed_out"), &json!(true)),
        "{result}"
    );
    assert_eq!(made_and_undone(&made.lock().unwrap()).1, ["book", "pay"]);
    // A workflow that is not a saga ends at once.
    let (gate, _) = slow_stage(&SLOW.replace("transaction: saga", ""));
    let short = Request { timeout: Some(Duration::from_secs(10)), ..request("flow", "order") };
    let result = call(&gate, short).await;
    assert_eq!((&result["code"], &result["details"]), (&json!("timed_out"), &Value::Null), "{result}");
}

/// A gate with `outer`, which calls the saga `flow`.
fn nested_stage(outer: &str) -> (Gate, MadeCalls) {
    let (gate, made) = slow_stage(SLOW);
    let text = format!("name: outer\ndescription: Calls a saga.\n{outer}");
    serve_workflows(&gate, "outer", &text, invoking(&["a:*", "flow:*"]));
    (gate, made)
}

#[tokio::test(start_paused = true)]
async fn a_saga_within_a_workflow_is_undone_before_that_ends() {
    let plain = "steps: [{id: inner, tool: flow.order, timeout: 1h}]\n";
    let timed = "steps: [{id: inner, tool: flow.order, timeout: 10s}]\n";
    let within = "transaction: saga\nsteps:\n- {id: own, tool: a.touch, compensate: {tool: a.smash}}\n\
        - {id: inner, tool: flow.order, timeout: 1h, dependsOn: [own], compensate: {tool: a.smash}}\n";
    for (outer, code, own) in [(plain, "cancelled", 0), (timed, "timed_out", 0), (within, "cancelled", 1)] {
        let (gate, made) = nested_stage(outer);
        let result = stopped_after(&gate, request("outer", "outer"), 20.0).await;
        assert_eq!(result["code"], code, "{outer}: {result}");
        let (done, undone) = made_and_undone(&made.lock().unwrap());
        assert_eq!(done.len(), 2 + own, "{outer}: {made:?}");
        assert_eq!(done, undone, "{outer}: {result}");
        if own > 0 {
            assert_eq!(result["details"]["undone"], true, "the inner one left nothing: {result}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn only_what_changes_something_is_called_apart() {
    static CANCELLED: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let slow = puppet("a", async |call: Call| {
        call.session.cancelled().await;
        CANCELLED.lock().unwrap().push(call.action.clone());
        Err(Stop::Cancelled)
    });
    let text = "
name: order
description: Calls.
transaction: saga
compensationTimeout: 1s
steps:
  - {id: read, tool: a.look, timeout: 1m}
  - {id: write, tool: a.touch, timeout: 1m, compensate: {tool: a.smash}}
";
    let gate = beside(text, 8, vec![slow]);
    let result = stopped_after(&gate, request("flow", "order"), 1.0).await;
    assert_eq!(listed(&result, "unknown"), ["write"], "{result}");
    assert_eq!(*CANCELLED.lock().unwrap(), [""; 0], "reads are dropped, writes are waited for");
}
