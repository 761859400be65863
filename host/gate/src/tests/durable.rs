//! Runs that survive the host: killed at every point of their journal, they go on behind another gate.

use std::sync::{
    Mutex,
    atomic::{AtomicUsize, Ordering},
};

use super::{
    memory_journal::{MemoryJournal, MemoryRuns},
    workflows::{beside, serve_workflows},
    *,
};
use crate::{journal::NewRun, run::RunStatus};

/// Calls that were made, by their idempotency keys.
pub(super) type MadeCalls = Arc<Mutex<BTreeMap<String, usize>>>;

/// A workflow that others call.
const INNER: &str = "
name: settle
description: Asks, then settles.
steps:
  - {id: sure, type: elicitation, message: Sure?, timeout: 720h, schema: {type: object, properties: {yes: {type: boolean}}}}
  - {id: book, tool: a.touch, dependsOn: [sure]}
  - {id: check, tool: a.look, dependsOn: [book]}
";

/// A gate over the workflow `flow` and the puppet `a`, which counts its calls.
pub(super) fn stage(text: &str, made: &MadeCalls, journal: Arc<MemoryJournal>) -> Gate {
    let made = Arc::clone(made);
    let counting = puppet("a", move |call: Call| {
        let key = call.idempotency_key.clone().unwrap_or_default();
        let step = key.split_once('/').unwrap_or_default().1.to_owned();
        *made.lock().unwrap().entry(format!("{} {step}", call.action)).or_default() += 1;
        async {
            tokio::time::sleep(Duration::from_millis(10)).await;
            Ok(Reply::data(json!({"done": true})))
        }
    });
    let gate = beside(INNER, 8, vec![counting]);
    let rules = FacadeRules { elicit: true, questions: 16, ..invoking(&["a:*", "inner:*"]) };
    serve_workflows(&gate, "inner", INNER, rules.clone());
    serve_workflows(&gate, "flow", text, rules);
    with_journal(&gate, journal)
}

fn person() -> CallOrigin {
    CallOrigin::local().with_elicitation(true)
}

/// Answers every question with yes: its only field is a boolean.
fn say_yes(asks: &BTreeMap<String, Question>, answer: impl Fn(&str, Answer) -> bool) {
    for (key, question) in asks {
        let QuestionKind::Form { schema } = &question.kind else { panic!("it asks to open a link") };
        let fields = schema["properties"].as_object().unwrap().keys();
        let form: Object = fields.map(|field| (field.clone(), true.into())).collect();
        answer(key, Answer::Accepted(form.into()));
    }
}

/// Runs a workflow until it ends or its host is killed. Returns its envelope if it ended.
async fn run_until_killed(gate: &Gate) -> Option<Value> {
    let mut exec = gate.start(person(), request("flow", "order"));
    let end = async {
        loop {
            match exec.next().await {
                CallEvent::Done(envelope) => return json_of(*envelope),
                CallEvent::Asks(asks) => say_yes(&asks, |key, answer| exec.answer(key, answer)),
                CallEvent::Progress(_) | CallEvent::AwaitsApproval => {}
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(60), end).await.ok()
}

/// Lets the only run go on behind another gate, and returns its result.
async fn resume(gate: &Gate, runs: &MemoryRuns) -> Value {
    assert_eq!(gate.resume_runs().await.unwrap(), 1);
    let id = RunId::from_client(&runs.lock().unwrap()[0].run.id);
    loop {
        let run = gate.find_run(&id, &person()).unwrap();
        if let Some(envelope) = run.outcome() {
            return json_of(envelope);
        }
        say_yes(&run.open_questions(), |key, answer| run.answer(key, answer));
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// Kills the host after every number of writes, and lets another one go on. `check` gets the result and the calls.
pub(super) async fn kill_everywhere(
    text: &str,
    check: impl Fn(usize, &Value, &BTreeMap<String, usize>),
) -> usize {
    for writes in 0.. {
        let (runs, made) = (MemoryRuns::default(), MadeCalls::default());
        let first = stage(text, &made, MemoryJournal::new(&runs, 1, writes));
        let ended = run_until_killed(&first).await;
        drop(first);
        // The killed host's tasks end.
        tokio::time::sleep(Duration::from_secs(1)).await;
        if let Some(result) = ended {
            check(writes, &result, &made.lock().unwrap());
            assert!(runs.lock().unwrap().iter().all(|run| run.outcome.is_some()));
            return writes;
        }
        if runs.lock().unwrap().is_empty() {
            let made = made.lock().unwrap();
            assert!(made.keys().all(|call| call.starts_with("look")), "nothing is recorded: {made:?}");
            continue;
        }
        let result = resume(&stage(text, &made, MemoryJournal::new(&runs, 2, usize::MAX)), &runs).await;
        assert!(runs.lock().unwrap()[0].outcome.is_some(), "its outcome is recorded");
        check(writes, &result, &made.lock().unwrap());
    }
    0
}

const STEPS: &str = "
name: order
description: Places an order.
steps:
  - {id: stock, tool: a.look}
  - {id: pay, tool: a.touch, dependsOn: [stock]}
  - {id: read, tool: a.look, dependsOn: [pay]}
  - {id: each, type: forEach, collection: '[1,2,3]', maxParallel: 2, step: {tool: a.touch}, dependsOn: [pay]}
  - {id: mail, tool: a.smash, dependsOn: [each, read]}
";

#[tokio::test(start_paused = true)]
async fn a_killed_run_repeats_no_step_that_changes_something() {
    let writes = kill_everywhere(STEPS, |writes, result, made| {
        let changes = made.iter().filter(|(call, _)| !call.starts_with("look"));
        assert!(changes.clone().all(|(_, count)| *count == 1), "killed after {writes}: {made:?}");
        if result["ok"] == true {
            assert_eq!(changes.count(), 5, "killed after {writes}: {made:?}");
        } else {
            let cause = &result["details"]["cause"]["code"];
            assert_eq!(cause, "interrupted", "killed after {writes}: {result}");
        }
    })
    .await;
    assert!(writes > 6, "it writes {writes} times");
}

#[tokio::test(start_paused = true)]
async fn a_killed_run_completes_where_steps_may_be_repeated() {
    for policy in ["retry", "ask"] {
        let mut text = STEPS.to_owned();
        for tool in ["tool: a.touch, dependsOn", "tool: a.smash, dependsOn"] {
            text = text.replace(tool, &format!("onUnknown: {policy}, {tool}"));
        }
        text = text.replace("maxParallel: 2,", &format!("maxParallel: 2, onUnknown: {policy},"));
        let repeated = AtomicUsize::new(0);
        kill_everywhere(&text, |writes, result, made| {
            assert_eq!(result["ok"], true, "{policy}, killed after {writes}: {result}");
            assert!(made.values().all(|count| *count <= 2), "{policy}, killed after {writes}: {made:?}");
            let changes = made.iter().filter(|(call, _)| !call.starts_with("look"));
            let again = changes.filter(|(_, count)| **count == 2).count();
            assert!(again <= 2, "at most those under way: {made:?}");
            repeated.fetch_add(again, Ordering::Relaxed);
        })
        .await;
        assert!(repeated.into_inner() > 2, "some were under way");
    }
}

const ASKS: &str = "
name: order
description: Asks, then works.
steps:
  - {id: sure, type: elicitation, message: Sure?, timeout: 720h, schema: {type: object, properties: {yes: {type: boolean}}}}
  - {id: work, tool: a.touch, dependsOn: [sure], condition: '{{.steps.sure.content.yes}}'}
";

#[tokio::test(start_paused = true)]
async fn a_question_survives_its_host() {
    kill_everywhere(ASKS, |writes, result, made| {
        if result["ok"] == true {
            assert_eq!(made.get("touch work"), Some(&1), "killed after {writes}: {made:?}");
        } else {
            assert_eq!(result["details"]["cause"]["code"], "interrupted", "killed after {writes}: {result}");
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_question_stays_open_for_days_and_over_a_shutdown() {
    let (runs, made) = (MemoryRuns::default(), MadeCalls::default());
    let first = stage(ASKS, &made, MemoryJournal::new(&runs, 1, usize::MAX));
    let mut exec = first.start(person(), request("flow", "order"));
    while !matches!(exec.next().await, CallEvent::Asks(_)) {}
    let id = exec.detach().unwrap();
    tokio::time::sleep(Duration::from_secs(29 * 24 * 3600)).await;
    assert_eq!(first.find_run(&id, &person()).unwrap().status(), RunStatus::Waiting);
    let begun = tokio::time::Instant::now();
    first.drain(Duration::from_secs(30)).await;
    assert!(begun.elapsed() < Duration::from_secs(1), "nobody waits for a person");
    assert!(runs.lock().unwrap()[0].outcome.is_none(), "it is left to the next start");
    let second = stage(ASKS, &made, MemoryJournal::new(&runs, 2, usize::MAX));
    let result = resume(&second, &runs).await;
    assert_eq!((&result["ok"], made.lock().unwrap().get("touch work")), (&json!(true), Some(&1)), "{result}");
}

const NESTS: &str = "
name: order
description: Pays, settles by another workflow, and tells.
steps:
  - {id: pay, tool: a.touch}
  - {id: inner, tool: inner.settle, dependsOn: [pay], timeout: 720h, onError: {action: retry, retryCount: 2, retryDelay: 1ms}}
  - {id: mail, tool: a.smash, dependsOn: [inner]}
";

/// A host takes over more questions than callers may open at one host.
#[tokio::test(start_paused = true)]
async fn a_host_keeps_all_questions_that_it_takes_over() {
    let text = "name: order\ndescription: Asks.\nsteps:\n  - {id: sure, type: elicitation, message: Sure?, timeout: 720h, \
                schema: {type: object, properties: {yes: {type: boolean}}}}\n";
    let (runs, made) = (MemoryRuns::default(), MadeCalls::default());
    let mut all = 0;
    for host in 0..25 {
        let gate = stage(text, &made, MemoryJournal::new(&runs, host, usize::MAX));
        for _ in 0..4 {
            let mut exec = gate.start(person(), request("flow", "order"));
            loop {
                match exec.next().await {
                    CallEvent::Asks(_) => break,
                    CallEvent::Done(envelope) => panic!("{:?}", json_of(*envelope)),
                    CallEvent::Progress(_) | CallEvent::AwaitsApproval => {}
                }
            }
            exec.persist().await;
            drop(exec.detach_as_run());
            all += 1;
        }
    }
    assert_eq!(all, 100);
    let heir = stage(text, &made, MemoryJournal::new(&runs, 99, usize::MAX));
    assert_eq!(heir.resume_runs().await.unwrap(), 100);
    tokio::time::sleep(Duration::from_secs(1)).await;
    let ids: Vec<_> = runs.lock().unwrap().iter().map(|run| RunId::from_client(&run.run.id)).collect();
    for id in ids {
        let run = heir.find_run(&id, &person()).unwrap();
        assert_eq!(run.status(), RunStatus::Waiting);
    }
}

#[tokio::test(start_paused = true)]
async fn a_workflow_within_a_workflow_survives_its_host() {
    let interrupted = AtomicUsize::new(0);
    let writes = kill_everywhere(NESTS, |writes, result, made| {
        let changes = made.iter().filter(|(call, _)| !call.starts_with("look"));
        assert!(changes.clone().all(|(_, count)| *count == 1), "killed after {writes}: {made:?}");
        match result["ok"] == true {
            true => assert_eq!(changes.count(), 3, "killed after {writes}: {made:?}"),
            false => assert_eq!(result["code"], "interrupted", "killed after {writes}: {result}"),
        }
        interrupted.fetch_add(usize::from(result["ok"] == false), Ordering::Relaxed);
    })
    .await;
    assert!(writes > 5, "it writes {writes} times");
    assert_eq!(interrupted.into_inner(), 3, "only while one of its three changes is under way");
}

const READS: &str = "
name: order
description: Reads.
steps:
  - {id: one, tool: a.look}
  - {id: two, tool: a.look, dependsOn: [one]}
";

#[tokio::test(start_paused = true)]
async fn a_run_that_changes_nothing_is_recorded_once_its_caller_has_its_handle() {
    let (runs, made) = (MemoryRuns::default(), MadeCalls::default());
    let first = stage(READS, &made, MemoryJournal::new(&runs, 1, usize::MAX));
    assert_eq!(run_until_killed(&first).await.unwrap()["ok"], true);
    assert_eq!(runs.lock().unwrap().len(), 0);
    let mut exec = first.start(person(), request("flow", "order"));
    assert!(matches!(exec.next().await, CallEvent::Progress(_)));
    exec.detach_with_handle().unwrap();
    assert_eq!(runs.lock().unwrap().len(), 1);
    // Nobody polls the first host's tasks: it was killed.
    let second = stage(READS, &made, MemoryJournal::new(&runs, 2, usize::MAX));
    assert_eq!(resume(&second, &runs).await["ok"], true);
}

#[tokio::test(start_paused = true)]
async fn results_of_ended_runs_are_found_by_their_callers_after_a_restart() {
    let (runs, made) = (MemoryRuns::default(), MadeCalls::default());
    let first = stage(STEPS, &made, MemoryJournal::new(&runs, 1, usize::MAX));
    run_until_killed(&first).await.unwrap();
    let second = stage(STEPS, &made, MemoryJournal::new(&runs, 2, usize::MAX));
    let id = runs.lock().unwrap()[0].run.id.clone();
    let status = |origin: CallOrigin, id: &str| {
        let Value::Object(arguments) = json!({"action": "run_status", "run_id": id}) else { unreachable!() };
        finish(second.call_tool(origin, "flow", arguments).unwrap())
    };
    let run = &status(person(), &id).await["data"]["run"];
    assert_eq!((&run["status"], &run["result"]["ok"]), (&json!("succeeded"), &json!(true)), "{run}");
    for (origin, id) in [(CallOrigin::anonymous(), &*id), (person(), "run_unknown")] {
        assert_eq!(status(origin, id).await["code"], "not_found");
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_of_an_action_that_is_gone_ends() {
    let (runs, made) = (MemoryRuns::default(), MadeCalls::default());
    let first = stage(STEPS, &made, MemoryJournal::new(&runs, 1, 4));
    assert_eq!(run_until_killed(&first).await, None);
    let renamed = STEPS.replace("name: order", "name: sell");
    let second = stage(&renamed, &made, MemoryJournal::new(&runs, 2, usize::MAX));
    assert_eq!(second.resume_runs().await.unwrap(), 1);
    let outcome = runs.lock().unwrap()[0].outcome.clone().unwrap();
    assert!(String::from_utf8(outcome).unwrap().contains("no longer has the action `order`"));
}

#[tokio::test(start_paused = true)]
async fn an_ended_run_begins_again_without_its_completed_steps() {
    use loggia_workflow::facade::{retry_history, summarize_steps};

    let (runs, made) = (MemoryRuns::default(), MadeCalls::default());
    let first = stage(STEPS, &made, MemoryJournal::new(&runs, 1, usize::MAX));
    // Killed while `pay` is under way: its effect is unknown, and the run ends with that.
    let mut exec = first.start(person(), request("flow", "order"));
    while made.lock().unwrap().get("touch pay").is_none() {
        let CallEvent::Progress(_) = exec.next().await else { panic!("it ended") };
    }
    let second = stage(STEPS, &made, MemoryJournal::new(&runs, 2, usize::MAX));
    assert_eq!(resume(&second, &runs).await["details"]["cause"]["code"], "interrupted");
    let (run, history) = {
        let runs = runs.lock().unwrap();
        (runs[0].run.clone(), runs[0].entries.clone())
    };
    let statuses = |history: &[Vec<u8>]| {
        let steps = summarize_steps(history).unwrap();
        steps.into_iter().map(|step| step.status).collect::<Vec<_>>()
    };
    assert_eq!(statuses(&history), ["completed", "failed", "not run", "not run", "not run"]);
    assert!(
        retry_history(history.clone(), Some("paid")).unwrap_err().contains("its steps are stock, pay, read")
    );
    let again = retry_history(history, None).unwrap();
    let third = MemoryJournal::new(&runs, 3, usize::MAX);
    third.add(NewRun { id: "run_again".into(), ..run }, again).await.unwrap();
    runs.lock().unwrap().swap(0, 1);
    let result = resume(&stage(STEPS, &made, third), &runs).await;
    assert_eq!(result["ok"], true, "{result}");
    let history = runs.lock().unwrap()[0].entries.clone();
    assert_eq!(statuses(&history), ["completed"; 5]);
    let made = made.lock().unwrap().clone();
    assert_eq!((made["look stock"], made["touch pay"], made["smash mail"]), (1, 2, 1), "{made:?}");
    assert!(retry_history(history.clone(), None).unwrap_err().contains("have completed"));
    // `mail` depends on `read`, and nothing else does.
    assert_eq!(
        statuses(&retry_history(history, Some("read")).unwrap()),
        ["completed", "completed", "running", "completed", "not run"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_run_stops_before_it_changes_what_it_cannot_record() {
    // Killed hosts aside, a run that fails at its first write, and one that fails at a later one.
    for (writes, completed, not_run) in
        [(0, vec!["stock"], 4), (2, vec!["stock", "pay"], 3), (3, vec!["stock", "pay", "read"], 1)]
    {
        let (runs, made) = (MemoryRuns::default(), MadeCalls::default());
        let journal = MemoryJournal::new(&runs, 1, usize::MAX);
        journal.writes_until_full.store(writes, Ordering::Relaxed);
        let gate = stage(STEPS, &made, Arc::clone(&journal));
        let result = run_until_killed(&gate).await.unwrap();
        assert_eq!(result["code"], "unavailable", "{writes}: {result}");
        assert!(!result.to_string().contains("/srv"), "callers learn no paths: {result}");
        assert_eq!(result["details"]["completed"], json!(completed), "{writes}: {result}");
        assert_eq!(result["details"]["not_run"].as_array().unwrap().len(), not_run, "{writes}: {result}");
        let changes = made.lock().unwrap().keys().filter(|call| !call.starts_with("look")).count();
        assert!(changes <= writes, "{writes}: {made:?}");
        // Once there is room again, the run ends for good: it must not go on after a restart.
        journal.writes_until_full.store(usize::MAX, Ordering::Relaxed);
        tokio::time::sleep(Duration::from_secs(6)).await;
        assert!(runs.lock().unwrap().iter().all(|run| run.outcome.is_some()), "{writes}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_starts_by_itself_runs_once_and_not_beside_itself() {
    use crate::call::{CallStart, StartOutcome};

    let (runs, made) = (MemoryRuns::default(), MadeCalls::default());
    let host = |number| stage(STEPS, &made, MemoryJournal::new(&runs, number, usize::MAX));
    let (first, second) = (host(1), host(2));
    let start = |seven: u8, may_overlap| CallStart {
        origin: CallOrigin::named("service:reports", CallerRights::all()),
        request: request("flow", "order"),
        id: RunId::from_bits([seven; 16]),
        may_overlap,
    };
    assert_eq!(first.start_call(start(7, false)).await, Ok(StartOutcome::Started));
    assert_eq!(second.start_call(start(7, false)).await, Ok(StartOutcome::Started), "it is the same run");
    assert_eq!(second.start_call(start(8, false)).await, Ok(StartOutcome::Overlaps));
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!((runs.lock().unwrap().len(), made.lock().unwrap()["touch pay"]), (1, 1));
    assert!(runs.lock().unwrap()[0].outcome.is_some());
    assert_eq!(second.start_call(start(8, false)).await, Ok(StartOutcome::Started), "the first has ended");
    assert_eq!(second.start_call(start(9, true)).await, Ok(StartOutcome::Started));
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(made.lock().unwrap()["touch pay"], 3);
    let rights = CallerRights::from_scopes(["a:look".parse().unwrap()]);
    let denied = CallStart { origin: CallOrigin::named("service:x", rights), ..start(10, true) };
    assert_eq!(second.start_call(denied).await.unwrap_err().code, "not_found");
}

#[tokio::test(start_paused = true)]
async fn a_caller_finds_and_cancels_its_runs_on_other_hosts() {
    let (runs, made) = (MemoryRuns::default(), MadeCalls::default());
    let host = |number| stage(ASKS, &made, MemoryJournal::new(&runs, number, usize::MAX));
    let (first, second) = (host(1), host(2));
    let mut exec = first.start(person(), request("flow", "order"));
    while !matches!(exec.next().await, CallEvent::Asks(_)) {}
    exec.persist().await;
    let id = exec.detach_with_handle().unwrap().to_string();
    let query = |origin: CallOrigin, arguments: Value| {
        let Value::Object(arguments) = arguments else { unreachable!() };
        finish(second.call_tool(origin, "flow", arguments).unwrap())
    };
    let listed = query(person(), json!({"action": "run_status"})).await;
    let own = json!([{"id": id, "action": "order", "status": "running"}]);
    assert_eq!(listed["data"]["runs"], own, "{listed}");
    let other = || CallOrigin::named("other", CallerRights::all());
    assert_eq!(query(other(), json!({"action": "run_status"})).await["data"]["runs"], json!([]));
    let cancel = json!({"action": "run_cancel", "run_id": id});
    assert_eq!(query(other(), cancel.clone()).await["code"], "not_found");
    let waiting = query(person(), json!({"action": "run_status", "run_id": id, "wait": true}));
    let cancelling = async {
        tokio::time::sleep(Duration::from_secs(3)).await;
        let cancelled = query(person(), cancel.clone()).await;
        assert_eq!(cancelled["message"], "the run is being cancelled", "{cancelled}");
        first.cancel_requested_runs().await.unwrap();
    };
    let (waited, ()) = tokio::join!(waiting, cancelling);
    assert_eq!(waited["data"]["run"]["status"], "cancelled", "it is seen once it has ended: {waited}");
    assert_eq!(query(person(), cancel).await["message"], "the run had already ended");
}
