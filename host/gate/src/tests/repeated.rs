//! Runs of plugins: a restart interrupts them, or makes their calls again.

use std::sync::Mutex;

use super::{
    memory_journal::{MemoryJournal, MemoryRuns},
    *,
};

#[tokio::test(start_paused = true)]
async fn a_run_of_a_plugin_is_interrupted_and_keeps_its_trace() {
    let stage = |runs: &MemoryRuns, host| {
        let digging = puppet("a", async |call: Call| {
            call.session.progress(Progress { done: 1.0, total: Some(2.0), message: Some("digging".into()) });
            tokio::time::sleep(Duration::from_secs(2)).await;
            call.session.progress(Progress { done: 2.0, total: Some(2.0), message: Some("deeper".into()) });
            if call.params["n"] == 7 {
                return forever().await;
            }
            Ok(Reply::data("dug"))
        });
        let gate = one(digging);
        let journal = MemoryJournal::new(runs, host, usize::MAX);
        with_journal(&gate, journal)
    };
    let runs = MemoryRuns::default();
    let first = stage(&runs, 1);
    let mut ids = Vec::new();
    for n in [1, 7] {
        let exec = tool(&first, "a", json!({"action": "dig", "n": n, "wait": false}));
        exec.persist().await;
        ids.push(exec.detach_with_handle().unwrap().to_string());
    }
    assert_eq!(runs.lock().unwrap().len(), 2, "their caller has their handles");
    tokio::time::sleep(Duration::from_secs(5)).await;
    let second = stage(&runs, 2);
    assert_eq!(second.resume_runs().await.unwrap(), 1);
    let expected = [("succeeded", json!("dug"), "digging"), ("failed", json!("interrupted"), "digging")];
    for (id, (status, result, message)) in ids.iter().zip(expected) {
        let query = json!({"action": "run_status", "run_id": id, "include_trace": true});
        let run = finish(tool(&second, "a", query)).await["data"]["run"].clone();
        let found = if status == "failed" { &run["result"]["code"] } else { &run["result"]["data"] };
        assert_eq!((&run["status"], found), (&json!(status), &result), "{run}");
        assert_eq!(run["trace"][0]["message"], message, "{run}");
        assert_eq!(run["trace"][1]["message"], "deeper", "{run}");
    }
}

/// A gate over a puppet whose long-running action is idempotent: it notes its key, and ends only on the second host.
fn digging_stage(keys: &Arc<Mutex<Vec<String>>>, runs: &MemoryRuns, host: u64) -> Gate {
    let noted = Arc::clone(keys);
    let mut digging = puppet("a", move |call: Call| {
        noted.lock().unwrap().push(call.idempotency_key.clone().unwrap_or_default());
        async move {
            if host == 2 && call.params["n"] == 1 {
                tokio::time::sleep(Duration::from_secs(2)).await;
                return Ok(Reply::data("dug"));
            }
            forever().await
        }
    });
    let mut surface = Surface::clone(&digging.surface);
    surface.actions.iter_mut().filter(|action| action.name == "dig").for_each(|dig| dig.idempotent = true);
    digging.surface = Arc::new(surface);
    let gate = one(digging);
    with_journal(&gate, MemoryJournal::new(runs, host, usize::MAX))
}

#[tokio::test(start_paused = true)]
async fn an_interrupted_run_of_an_idempotent_action_is_made_again_with_its_key() {
    let (runs, keys) = (MemoryRuns::default(), Arc::default());
    let first = digging_stage(&keys, &runs, 1);
    let exec = tool(&first, "a", json!({"action": "dig", "n": 1, "wait": false}));
    exec.persist().await;
    let id = exec.detach_with_handle().unwrap().to_string();
    tokio::time::sleep(Duration::from_secs(5)).await;
    let second = digging_stage(&keys, &runs, 2);
    assert_eq!(second.resume_runs().await.unwrap(), 1);
    tokio::time::sleep(Duration::from_secs(5)).await;
    let query = json!({"action": "run_status", "run_id": id});
    let run = finish(tool(&second, "a", query)).await["data"]["run"].clone();
    assert_eq!((&run["status"], &run["result"]["data"]), (&json!("succeeded"), &json!("dug")), "{run}");
    let keys: Vec<String> = keys.lock().unwrap().clone();
    assert!(keys.len() == 2 && keys[0] == keys[1] && keys[0].starts_with("run_"), "{keys:?}");
    assert!(runs.lock().unwrap()[0].outcome.is_some(), "its outcome is recorded");
}

#[tokio::test(start_paused = true)]
async fn a_run_that_may_be_what_ends_its_hosts_is_not_made_forever() {
    let (runs, keys) = (MemoryRuns::default(), Arc::default());
    let first = digging_stage(&keys, &runs, 1);
    let exec = tool(&first, "a", json!({"action": "dig", "n": 7, "wait": false}));
    exec.persist().await;
    let id = exec.detach_with_handle().unwrap().to_string();
    let mut last = first;
    for host in 2..9 {
        last = digging_stage(&keys, &runs, host);
        last.resume_runs().await.unwrap();
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    assert_eq!(keys.lock().unwrap().len(), 4, "once by its caller, and three times again");
    let query = json!({"action": "run_status", "run_id": id});
    let run = finish(tool(&last, "a", query)).await["data"]["run"].clone();
    assert_eq!(run["result"]["code"], "interrupted", "{run}");
}
