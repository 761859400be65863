//! Calls that outlive their request.

use super::*;

/// `dig` ends after a notification.
fn digger(done: &Arc<Notify>) -> PuppetFacade {
    let done = Arc::clone(done);
    puppet("a", move |call: Call| {
        let done = Arc::clone(&done);
        async move {
            call.session.progress(Progress { done: 1.0, total: Some(2.0), message: Some("digging".into()) });
            call.session.log(loggia_facade::LogLevel::Info, "found a shard");
            done.notified().await;
            Ok(Reply::data("a hole"))
        }
    })
}

fn run_of(envelope: &Value) -> (&Value, &str) {
    let run = &envelope["data"]["run"];
    (run, run["id"].as_str().unwrap_or_default())
}

#[tokio::test]
async fn without_waiting_a_call_answers_its_run() {
    let done = Arc::new(Notify::new());
    let gate = one(digger(&done));
    let exec = tool(&gate, "a", json!({"action": "dig", "wait": false}));
    assert_eq!(exec.patience(), Some(Duration::ZERO));
    let envelope = json_of(exec.detach_as_run().unwrap());
    let (run, id) = run_of(&envelope);
    assert_eq!((&run["status"], &run["action"]), (&json!("running"), &json!("dig")));
    assert!(id.starts_with("run_") && id.len() == 4 + 22, "128 bits: {id}");
    assert_eq!(envelope["resolved_inputs"], json!({"n": 1}), "all of them");
    let next = json!({"tool": "a", "arguments": {"action": "run_status", "run_id": id, "wait": true}});
    assert_eq!(envelope["next"], next);
    // Its result is there once it has ended.
    let waiting = tool(&gate, "a", json!({"action": "run_status", "run_id": id, "wait": true}));
    done.notify_one();
    let reply = finish(waiting).await;
    let (run, _) = run_of(&reply);
    assert_eq!(run["status"], "succeeded");
    assert_eq!(
        run["result"],
        json!({"ok": true, "action": "dig", "data": "a hole", "resolved_inputs": {"n": 1}})
    );
    assert!(run.get("poll_after_ms").is_none());
}

#[tokio::test(start_paused = true)]
async fn only_long_running_calls_have_a_soft_deadline() {
    let gate = one(digger(&Arc::new(Notify::new())));
    let patience = |arguments: Value| tool(&gate, "a", arguments).patience();
    let soft = Some(Duration::from_secs(40));
    assert_eq!(patience(json!({"action": "dig"})), soft);
    assert_eq!(patience(json!({"action": "dig", "wait": true})), soft);
    assert_eq!(patience(json!({"action": "look"})), None);
    assert_eq!(patience(json!({"action": "look", "wait": false})), None, "it answers within the request");
}

#[tokio::test]
async fn run_status_reports_progress_and_trace() {
    let gate = one(digger(&Arc::new(Notify::new())));
    let envelope =
        json_of(tool(&gate, "a", json!({"action": "dig", "wait": false})).detach_as_run().unwrap());
    let id = run_of(&envelope).1;
    let ask = async |arguments: Value| {
        loop {
            let envelope = finish(tool(&gate, "a", arguments.clone())).await;
            if run_of(&envelope).0.get("progress").is_some() {
                return envelope;
            }
            tokio::task::yield_now().await;
        }
    };
    let brief = ask(json!({"action": "run_status", "run_id": id})).await;
    let (run, _) = run_of(&brief);
    assert_eq!(run["progress"], json!({"done": 1, "total": 2, "message": "digging"}));
    assert!(run.get("trace").is_none());
    assert_eq!(run["poll_after_ms"], 1000);
    for arguments in [
        json!({"action": "run_status", "run_id": id, "include_trace": true}),
        json!({"action": "result", "run_id": id}),
        json!({"cmd": "Result", "params": {"run_id": id}}),
    ] {
        let whole = ask(arguments).await;
        let trace = run_of(&whole).0["trace"].clone();
        assert_eq!((&trace[0]["message"], &trace[1]["log"]), (&json!("digging"), &json!("found a shard")));
        assert!(trace[0]["at_ms"].is_u64());
    }
    assert!(run_of(&ask(json!({"action": "status", "run_id": id})).await).0.get("trace").is_none());
}

#[tokio::test]
async fn a_run_is_ended_by_its_caller() {
    let gate = one(digger(&Arc::new(Notify::new())));
    let envelope =
        json_of(tool(&gate, "a", json!({"action": "dig", "wait": false})).detach_as_run().unwrap());
    let id = run_of(&envelope).1;
    let cancelled = finish(tool(&gate, "a", json!({"action": "run_cancel", "run_id": id}))).await;
    assert_eq!(cancelled["message"], "the run is being cancelled");
    let ended = finish(tool(&gate, "a", json!({"action": "run_status", "run_id": id, "wait": true}))).await;
    let (run, _) = run_of(&ended);
    assert_eq!((&run["status"], &run["result"]["code"]), (&json!("cancelled"), &json!("cancelled")));
    let again = finish(tool(&gate, "a", json!({"action": "run_cancel", "run_id": id}))).await;
    assert_eq!(again["message"], "the run had already ended");
}

#[tokio::test]
async fn a_run_is_its_callers_alone() {
    let gate = gate(vec![
        (digger(&Arc::new(Notify::new())), FacadeRules::default()),
        (puppet("b", async |_| Ok(Reply::default())), FacadeRules::default()),
    ]);
    let named = |name: &str| CallOrigin::named(name, CallerRights::all());
    let call = |origin: CallOrigin, facade: &str, arguments: Value| {
        let Value::Object(arguments) = arguments else { unreachable!() };
        gate.call_tool(origin, facade, arguments).unwrap()
    };
    let begun = call(named("ada"), "a", json!({"action": "dig", "wait": false})).detach_as_run().unwrap();
    let begun = json_of(begun);
    let id = run_of(&begun).1;
    let status = json!({"action": "run_status", "run_id": id});
    assert_eq!(finish(call(named("ada"), "a", status.clone())).await["ok"], true);
    for stranger in [named("eve"), CallOrigin::local(), CallOrigin::anonymous()] {
        for arguments in [status.clone(), json!({"action": "run_cancel", "run_id": id})] {
            let refused = finish(call(stranger.clone(), "a", arguments)).await;
            assert_eq!(failed(&refused), ("not_found", "not found: no such run"));
        }
        assert!(gate.attach(&RunId::from_client(id), &stranger).is_err());
    }
    let elsewhere = finish(call(named("ada"), "b", status)).await;
    assert_eq!(elsewhere["hint"], "it is a run of `a`: ask the tool `a`");
    let list = async |origin| finish(call(origin, "a", json!({"action": "run_status"}))).await;
    let own = list(named("ada")).await;
    assert_eq!((&own["count"], &own["data"]["runs"][0]["id"]), (&json!(1), &json!(id)));
    assert_eq!(list(named("eve")).await["data"], json!({"runs": []}));
    assert_eq!(failed(&list(CallOrigin::anonymous()).await).0, "invalid_params");
    let nobodys = finish(call(named("ada"), "a", json!({"action": "run_status", "run_id": "run_x"}))).await;
    assert_eq!(failed(&nobodys).0, "not_found");
}

#[tokio::test(start_paused = true)]
async fn outcomes_expire_after_an_hour() {
    let done = Arc::new(Notify::new());
    let gate = one(digger(&done));
    let envelope =
        json_of(tool(&gate, "a", json!({"action": "dig", "wait": false})).detach_as_run().unwrap());
    let id = run_of(&envelope).1;
    done.notify_one();
    let status = json!({"action": "run_status", "run_id": id, "wait": true});
    assert_eq!(run_of(&finish(tool(&gate, "a", status.clone())).await).0["status"], "succeeded");
    tokio::time::sleep(Duration::from_secs(3590)).await;
    assert_eq!(finish(tool(&gate, "a", status.clone())).await["ok"], true);
    tokio::time::sleep(Duration::from_secs(20)).await;
    assert_eq!(failed(&finish(tool(&gate, "a", status)).await).0, "not_found");
}

#[tokio::test(start_paused = true)]
async fn draining_waits_and_then_cancels() {
    let done = Arc::new(Notify::new());
    let gate = one(digger(&done));
    let begun = |gate: &Gate| {
        let exec = tool(gate, "a", json!({"action": "dig", "wait": false}));
        run_of(&json_of(exec.detach_as_run().unwrap())).1.to_owned()
    };
    let status = async |id: &str| {
        let reply = finish(tool(&gate, "a", json!({"action": "run_status", "run_id": id}))).await;
        run_of(&reply).0["status"].clone()
    };
    let (first, second) = (begun(&gate), begun(&gate));
    let ends = tokio::time::Instant::now();
    let digs = async {
        tokio::time::sleep(Duration::from_secs(3)).await;
        done.notify_one();
    };
    tokio::join!(gate.drain(Duration::from_secs(10)), digs);
    assert!((10..12).contains(&ends.elapsed().as_secs()));
    let mut ended = [status(&first).await, status(&second).await];
    ended.sort_by_key(Value::to_string);
    assert_eq!(ended, ["cancelled", "succeeded"]);
    tokio::time::timeout(Duration::from_millis(1), gate.drain(Duration::from_secs(10))).await.unwrap();
}

#[tokio::test]
async fn of_a_thousand_results_the_oldest_goes() {
    let gate = one(puppet("a", async |_| Ok(Reply::default())));
    let mut ids = Vec::new();
    for _ in 0..1001 {
        let exec = tool(&gate, "a", json!({"action": "dig", "wait": false}));
        let id = run_of(&json_of(exec.detach_as_run().unwrap())).1.to_owned();
        finish(tool(&gate, "a", json!({"action": "run_status", "run_id": id, "wait": true}))).await;
        ids.push(id);
    }
    let of = async |id: &str| finish(tool(&gate, "a", json!({"action": "run_status", "run_id": id}))).await;
    assert_eq!(failed(&of(&ids[0]).await).0, "not_found");
    assert_eq!(of(&ids[1]).await["ok"], true);
    assert_eq!(of(ids.last().unwrap()).await["ok"], true);
}
