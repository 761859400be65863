//! Calls of a well-behaved upstream.

use std::sync::Arc;

use loggia_facade::{Answer, Effect, Facade, Progress, QuestionKind, Stop, code};
use serde_json::json;

use crate::support::{FakePort, FakeUpstream, assert_sound, call, call_with, data, failure, until};

#[tokio::test]
async fn tools_are_actions() {
    let facade = FakeUpstream::start("normal").facade().await;
    let surface = facade.surface();
    assert_eq!(
        (surface.name.as_str(), surface.title.as_str(), surface.version.as_str()),
        ("fake", "Fake Server", "1.2")
    );
    assert_eq!(surface.summary, "Use it for tests.");
    let echo = surface.action("echo").expect("an action");
    assert_eq!((echo.effect, echo.aliases.as_slice()), (Effect::Write, &["fake_echo".to_owned()][..]));
    assert_eq!(facade.tools().problems, ["a tool has no name"]);
}

#[tokio::test]
async fn results_and_failures_return() {
    let mut upstream = FakeUpstream::start("normal");
    let facade = upstream.facade().await;
    let reply = call(&facade, "echo", json!({"text": "ä"})).await.expect("a reply");
    assert_eq!(reply.data, json!({"echo": {"text": "ä"}}));
    assert_eq!(
        reply.next.expect("a proposed call").to_json(),
        json!({"tool": "fake", "arguments": {"action": "release"}})
    );
    let failed = failure(&facade, "fail", json!({})).await;
    assert_eq!((failed.code.as_str(), failed.message.as_str()), ("upstream_error", "it went wrong"));
    let refused = failure(&facade, "refuse", json!({})).await;
    assert_eq!((refused.code.as_str(), refused.message.as_str()), (code::INVALID_PARAMS, "no such thing"));
}

#[tokio::test]
async fn calls_share_one_connection() {
    let mut upstream = FakeUpstream::start("normal");
    let facade = upstream.facade().await;
    let held = (0..50).map(|number| {
        let facade = facade.clone();
        tokio::spawn(async move { (number, data(&facade, "hold", json!({"n": number})).await) })
    });
    let held: Vec<_> = held.collect();
    until("all are held", async || data(&facade, "cancelled", json!({})).await["held"] == 50).await;
    assert_eq!(data(&facade, "release", json!({})).await, json!({"released": 50}));
    for held in held {
        let (number, answer) = held.await.expect("an answer");
        assert_eq!(answer, json!({"n": number}));
    }
}

#[tokio::test]
async fn progress_reaches_its_call() {
    let mut upstream = FakeUpstream::start("normal");
    let facade = upstream.facade().await;
    let port = Arc::new(FakePort::default());
    call_with(&facade, port.clone(), "progress", json!({})).await.expect("a reply");
    let last = Progress { done: 2.0, total: Some(2.0), message: Some("step 2".into()) };
    let seen = port.progress.lock().unwrap().clone();
    // The latest wins; an earlier one may be lost.
    assert!(seen.contains(&last) && seen.len() <= 2, "{seen:?}");
}

#[tokio::test]
async fn forms_are_asked_through_the_session() {
    for mode in ["normal", "stateless"] {
        let mut upstream = FakeUpstream::start(mode);
        let facade = upstream.facade().await;
        for (answer, expected) in [
            (
                Answer::Accepted(json!({"colour": "red"})),
                json!({"action": "accept", "content": {"colour": "red"}}),
            ),
            (Answer::Declined, json!({"action": "decline"})),
            (Answer::Cancelled, json!({"action": "cancel"})),
        ] {
            let port = Arc::new(FakePort { answer: Some(answer), ..FakePort::default() });
            let reply = call_with(&facade, port.clone(), "ask", json!({})).await.expect("a reply");
            assert_eq!(reply.data, expected, "{mode}");
            let asked = port.asked.lock().unwrap().remove(0);
            assert_eq!(asked.message, "Which colour?");
            let QuestionKind::Form { schema } = asked.kind else { panic!("it is a form") };
            assert_eq!(schema["properties"], json!({"colour": {"type": "string"}}));
        }
    }
}

#[tokio::test]
async fn what_cannot_be_asked_is_refused() {
    let mut upstream = FakeUpstream::start("normal");
    let facade = upstream.facade().await;
    assert_eq!(data(&facade, "ask", json!({})).await, json!({"error": "nobody can be asked"}));
    assert_eq!(failure(&facade, "ask_url", json!({})).await.message, "nobody can be asked");
    assert!(data(&facade, "sample", json!({})).await["error"].is_string());
    // Whom to ask is unknown while others call, too.
    let other = tokio::spawn({
        let facade = facade.clone();
        async move { data(&facade, "hold", json!({})).await }
    });
    until("it is held", async || data(&facade, "cancelled", json!({})).await["held"] == 1).await;
    let port = Arc::new(FakePort { answer: Some(Answer::Declined), ..FakePort::default() });
    let refused = call_with(&facade, port.clone(), "ask", json!({})).await.expect("a reply");
    assert_eq!(
        refused.data,
        json!({"error": "several calls are in flight, so the person to ask is unknown"})
    );
    assert!(port.asked.lock().unwrap().is_empty());
    data(&facade, "release", json!({})).await;
    other.await.expect("an answer");
}

#[tokio::test]
async fn dropped_calls_are_cancelled() {
    let mut upstream = FakeUpstream::start("normal");
    let facade = upstream.facade().await;
    let held = tokio::spawn({
        let facade = facade.clone();
        async move { call(&facade, "hold", json!({})).await }
    });
    until("it is held", async || data(&facade, "cancelled", json!({})).await["held"] == 1).await;
    held.abort();
    until("it is cancelled", async || data(&facade, "cancelled", json!({})).await["cancelled"] == 1).await;
    // A question on its behalf must not reach another person.
    let port = Arc::new(FakePort { answer: Some(Answer::Declined), ..FakePort::default() });
    let refused = call_with(&facade, port.clone(), "ask", json!({})).await.expect("a reply");
    assert_eq!(
        refused.data,
        json!({"error": "a call was cancelled a moment ago, so the person to ask is unknown"})
    );
    assert!(port.asked.lock().unwrap().is_empty());
    // Its late answer is ignored.
    data(&facade, "release", json!({})).await;
    assert_sound(&facade).await;
}

#[tokio::test]
async fn unknown_actions_are_not_found() {
    let mut upstream = FakeUpstream::start("normal");
    let facade = upstream.facade().await;
    assert_eq!(failure(&facade, "nothing", json!({})).await.code, code::NOT_FOUND);
    let stopped = facade.clone();
    upstream.server.stop().await;
    match call(&stopped, "echo", json!({})).await {
        Err(Stop::Failure(failure)) => assert_eq!(failure.code, code::UNAVAILABLE),
        other => panic!("{other:?}"),
    }
}
