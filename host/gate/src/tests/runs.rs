//! Calls that outlive their request.

use super::*;

/// Digs until it is told to stop digging.
fn digger(done: &Arc<Notify>) -> Puppet {
    let done = Arc::clone(done);
    puppet("a", move |call: Call| {
        let done = Arc::clone(&done);
        async move {
            call.session.progress(Progress { done: 1.0, total: Some(2.0), message: Some("digging".into()) });
            call.session.log(loggia_facade::Level::Info, "found a shard");
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
async fn a_call_that_is_not_waited_for_answers_at_once_with_its_run() {
    let done = Arc::new(Notify::new());
    let gate = one(digger(&done));
    let exec = tool(&gate, "a", json!({"action": "dig", "wait": false}));
    assert_eq!(exec.patience(), Some(Duration::ZERO));
    let envelope = json_of(exec.part().unwrap());
    let (run, id) = run_of(&envelope);
    assert_eq!((&run["status"], &run["action"]), (&json!("running"), &json!("dig")));
    assert!(id.starts_with("run_") && id.len() == 4 + 22, "128 bits: {id}");
    assert_eq!(envelope["resolved_inputs"], json!({"n": 1}), "all of them");
    let next = json!({"tool": "a", "arguments": {"action": "run_status", "run_id": id, "wait": true}});
    assert_eq!(envelope["next"], next);
    // Its result is there once it has ended.
    let waiting = tool(&gate, "a", json!({"action": "run_status", "run_id": id, "wait": true}));
    done.notify_one();
    let told = told(waiting).await;
    let (run, _) = run_of(&told);
    assert_eq!(run["status"], "succeeded");
    assert_eq!(
        run["result"],
        json!({"ok": true, "action": "dig", "data": "a hole", "resolved_inputs": {"n": 1}})
    );
    assert!(run.get("poll_after_ms").is_none());
}

#[tokio::test(start_paused = true)]
async fn a_call_that_takes_long_is_waited_for_so_long_and_an_action_that_does_not_to_its_end() {
    let gate = one(digger(&Arc::new(Notify::new())));
    let patience = |arguments: Value| tool(&gate, "a", arguments).patience();
    let soft = Some(Duration::from_secs(40));
    assert_eq!(patience(json!({"action": "dig"})), soft);
    assert_eq!(patience(json!({"action": "dig", "wait": true})), soft);
    assert_eq!(patience(json!({"action": "look"})), None);
    assert_eq!(patience(json!({"action": "look", "wait": false})), None, "it answers within the request");
}

#[tokio::test]
async fn how_a_run_stands_is_told_with_what_it_said_meanwhile() {
    let gate = one(digger(&Arc::new(Notify::new())));
    let envelope = json_of(tool(&gate, "a", json!({"action": "dig", "wait": false})).part().unwrap());
    let id = run_of(&envelope).1;
    let ask = async |arguments: Value| {
        loop {
            let envelope = told(tool(&gate, "a", arguments.clone())).await;
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
    let envelope = json_of(tool(&gate, "a", json!({"action": "dig", "wait": false})).part().unwrap());
    let id = run_of(&envelope).1;
    let cancelled = told(tool(&gate, "a", json!({"action": "run_cancel", "run_id": id}))).await;
    assert_eq!(cancelled["message"], "the run is being ended");
    let ended = told(tool(&gate, "a", json!({"action": "run_status", "run_id": id, "wait": true}))).await;
    let (run, _) = run_of(&ended);
    assert_eq!((&run["status"], &run["result"]["code"]), (&json!("cancelled"), &json!("cancelled")));
    let again = told(tool(&gate, "a", json!({"action": "run_cancel", "run_id": id}))).await;
    assert_eq!(again["message"], "the run had ended already");
}

#[tokio::test]
async fn a_run_is_its_callers_alone() {
    let gate = gate(vec![
        (digger(&Arc::new(Notify::new())), Rules::default()),
        (puppet("b", async |_| Ok(Reply::default())), Rules::default()),
    ]);
    let named = |name: &str| Origin::named(name, Rights::all());
    let call = |origin: Origin, facade: &str, arguments: Value| {
        let Value::Object(arguments) = arguments else { unreachable!() };
        gate.call_tool(origin, facade, arguments).unwrap()
    };
    let begun = call(named("ada"), "a", json!({"action": "dig", "wait": false})).part().unwrap();
    let begun = json_of(begun);
    let id = run_of(&begun).1;
    let status = json!({"action": "run_status", "run_id": id});
    assert_eq!(told(call(named("ada"), "a", status.clone())).await["ok"], true);
    for stranger in [named("eve"), Origin::local(), Origin::anonymous()] {
        for arguments in [status.clone(), json!({"action": "run_cancel", "run_id": id})] {
            let refused = told(call(stranger.clone(), "a", arguments)).await;
            assert_eq!(failed(&refused), ("not_found", "not found: no such run"));
        }
        assert!(gate.attach(&RunId::from_client(id), &stranger).is_err());
    }
    let elsewhere = told(call(named("ada"), "b", status)).await;
    assert_eq!(elsewhere["hint"], "it is a run of `a`: ask the tool `a`");
    let list = async |origin| told(call(origin, "a", json!({"action": "run_status"}))).await;
    let own = list(named("ada")).await;
    assert_eq!((&own["count"], &own["data"]["runs"][0]["id"]), (&json!(1), &json!(id)));
    assert_eq!(list(named("eve")).await["data"], json!({"runs": []}));
    assert_eq!(failed(&list(Origin::anonymous()).await).0, "invalid_params");
    let nobodys = told(call(named("ada"), "a", json!({"action": "run_status", "run_id": "run_x"}))).await;
    assert_eq!(failed(&nobodys).0, "not_found");
}

#[tokio::test(start_paused = true)]
async fn what_came_of_a_run_is_forgotten_after_an_hour() {
    let done = Arc::new(Notify::new());
    let gate = one(digger(&done));
    let envelope = json_of(tool(&gate, "a", json!({"action": "dig", "wait": false})).part().unwrap());
    let id = run_of(&envelope).1;
    done.notify_one();
    let status = json!({"action": "run_status", "run_id": id, "wait": true});
    assert_eq!(run_of(&told(tool(&gate, "a", status.clone())).await).0["status"], "succeeded");
    tokio::time::sleep(Duration::from_secs(3590)).await;
    assert_eq!(told(tool(&gate, "a", status.clone())).await["ok"], true);
    tokio::time::sleep(Duration::from_secs(20)).await;
    assert_eq!(failed(&told(tool(&gate, "a", status)).await).0, "not_found");
}

#[tokio::test(start_paused = true)]
async fn a_host_that_ends_gives_runs_some_time_and_then_ends_them() {
    let done = Arc::new(Notify::new());
    let gate = one(digger(&done));
    let begun = |gate: &Gate| {
        let exec = tool(gate, "a", json!({"action": "dig", "wait": false}));
        run_of(&json_of(exec.part().unwrap())).1.to_owned()
    };
    let status = async |id: &str| {
        let told = told(tool(&gate, "a", json!({"action": "run_status", "run_id": id}))).await;
        run_of(&told).0["status"].clone()
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
        let id = run_of(&json_of(exec.part().unwrap())).1.to_owned();
        told(tool(&gate, "a", json!({"action": "run_status", "run_id": id, "wait": true}))).await;
        ids.push(id);
    }
    let of = async |id: &str| told(tool(&gate, "a", json!({"action": "run_status", "run_id": id}))).await;
    assert_eq!(failed(&of(&ids[0]).await).0, "not_found");
    assert_eq!(of(&ids[1]).await["ok"], true);
    assert_eq!(of(ids.last().unwrap()).await["ok"], true);
}
