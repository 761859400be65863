//! Upstreams that misbehave: each costs its own calls, and nothing else.

use std::time::{Duration, Instant};

use loggia_facade::code;
use serde_json::{Value, json};

use crate::support::{FakeUpstream, LONG, assert_sound, call, data, failure, is_alive, spec, until};

#[tokio::test]
async fn a_dying_child_fails_one_call() {
    let mut upstream = FakeUpstream::start("normal");
    let facade = upstream.facade().await;
    let failed = failure(&facade, "die", json!({})).await;
    assert_eq!(failed.code, code::UNAVAILABLE);
    assert!(failed.message.contains("ended with exit status: 3"), "{failed}");
    assert_sound(&facade).await;
}

#[tokio::test]
async fn a_child_that_closes_its_stdin_is_restarted() {
    let mut upstream = FakeUpstream::start("closes-stdin");
    let facade = upstream.facade().await;
    assert_sound(&facade).await;
    let failed = failure(&facade, "echo", json!({})).await;
    assert_eq!(failed.code, code::UNAVAILABLE);
    assert!(failed.message.ends_with("it closed its stdin"), "{failed}");
    assert_sound(&facade).await;
}

#[tokio::test]
async fn calls_without_answers_time_out() {
    let mut spec = spec("normal");
    spec.limits.call = Some(Duration::from_millis(300));
    let mut upstream = FakeUpstream::of(spec);
    let facade = upstream.facade().await;
    assert_eq!(failure(&facade, "silent", json!({})).await.code, code::TIMED_OUT);
    assert_sound(&facade).await;
    until("it is cancelled", async || data(&facade, "cancelled", json!({})).await["cancelled"] == 1).await;
}

#[tokio::test]
async fn a_mute_child_is_given_up() {
    let mut spec = spec("mute");
    spec.limits.connect = Duration::from_secs(1);
    let mut upstream = FakeUpstream::of(spec);
    assert_eq!(upstream.outage().await, "it did not answer within 1 s");
}

#[tokio::test]
async fn wrong_ids_in_the_handshake_are_an_outage() {
    let mut upstream = FakeUpstream::start("wrong-ids");
    let reason = upstream.outage().await;
    assert_eq!(reason, "it answered the handshake with the id of another request");
}

#[tokio::test]
async fn odd_lines_are_ignored() {
    let mut upstream = FakeUpstream::start("normal");
    let facade = upstream.facade().await;
    for (action, expected) in
        [("twice", "first"), ("wrong_id", "yours"), ("rubbish", "after rubbish"), ("stderr", "written")]
    {
        assert_eq!(data(&facade, action, json!({})).await, expected);
        assert_sound(&facade).await;
    }
}

#[tokio::test]
async fn malformed_results_fail_one_call() {
    let mut upstream = FakeUpstream::start("normal");
    let facade = upstream.facade().await;
    for result in [json!(5), json!({}), json!([]), json!({"content": 5}), json!({"tools": []})] {
        let failed = failure(&facade, "malformed", json!({"result": result})).await;
        assert_eq!(failed.code, code::INTERNAL, "{result}");
    }
    let failed = failure(&facade, "values", json!({})).await;
    assert!(failed.message.contains("more than 100000 values"), "{failed}");
    assert_sound(&facade).await;
}

#[tokio::test]
async fn a_gigabyte_on_one_line_takes_bounded_memory() {
    let mut upstream = FakeUpstream::start("normal");
    let facade = upstream.facade().await;
    let failed = failure(&facade, "huge", json!({})).await;
    assert!(failed.message.contains("a line of more than 16777216 bytes"), "{failed}");
    assert_sound(&facade).await;
    // Other tests run in this process, too.
    assert!(peak_memory() < 400 << 20, "{} MiB", peak_memory() >> 20);
}

/// Bytes of memory that this process has had at most.
fn peak_memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find(|line| line.starts_with("VmHWM")).expect("a peak");
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<usize>().ok()).expect("a number") << 10
}

#[tokio::test]
async fn a_flood_of_questions_is_refused() {
    let mut upstream = FakeUpstream::start("normal");
    let facade = upstream.facade().await;
    let flood = tokio::spawn({
        let facade = facade.clone();
        async move { call(&facade, "flood", json!({})).await }
    });
    assert_sound(&facade).await;
    flood.abort();
}

#[tokio::test]
async fn a_deaf_child_that_floods_is_ended() {
    let mut upstream = FakeUpstream::start("deaf");
    assert_eq!(upstream.outage().await, "it sent more than 64 requests without reading the answers");
}

#[tokio::test]
async fn forked_processes_are_killed_with_their_parent() {
    let mut upstream = FakeUpstream::start("normal");
    let facade = upstream.facade().await;
    let pid = |data: Value| data["pid"].as_u64().expect("a process");
    let parent = pid(data(&facade, "pid", json!({})).await);
    let forked = pid(data(&facade, "fork", json!({})).await);
    assert!(is_alive(parent) && is_alive(forked));
    // The forked one holds the pipes open.
    failure(&facade, "die", json!({})).await;
    until("both are gone", async || !is_alive(parent) && !is_alive(forked)).await;
    assert_sound(&facade).await;
}

#[tokio::test]
async fn stopping_kills_children_that_ignore_sigterm() {
    let mut upstream = FakeUpstream::start("ignores-sigterm");
    let facade = upstream.facade().await;
    let parent = data(&facade, "pid", json!({})).await["pid"].as_u64().expect("a process");
    let forked = data(&facade, "fork", json!({})).await["pid"].as_u64().expect("a process");
    let began = Instant::now();
    upstream.server.stop().await;
    assert!(began.elapsed() < LONG / 3, "{:?}", began.elapsed());
    assert!(!is_alive(parent));
    until("the forked one is gone", async || !is_alive(forked)).await;
}

#[tokio::test]
async fn dropping_the_upstream_ends_its_child() {
    let mut upstream = FakeUpstream::start("normal");
    let facade = upstream.facade().await;
    let pid = data(&facade, "pid", json!({})).await["pid"].as_u64().expect("a process");
    drop(upstream);
    until("it is gone", async || !is_alive(pid)).await;
}

#[test]
fn ending_the_runtime_kills_the_child() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let (upstream, pid) = runtime.block_on(async {
        let mut upstream = FakeUpstream::start("ignores-sigterm");
        let facade = upstream.facade().await;
        let pid = data(&facade, "pid", json!({})).await["pid"].as_u64().expect("a process");
        (upstream, pid)
    });
    drop(runtime);
    let deadline = Instant::now() + LONG;
    while is_alive(pid) {
        assert!(Instant::now() < deadline, "the child outlives the runtime");
        std::thread::sleep(Duration::from_millis(10));
    }
    drop(upstream);
}
