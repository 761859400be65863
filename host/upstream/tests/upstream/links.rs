//! Links that an upstream asks a person to open.

use std::sync::Arc;

use loggia_facade::{Answer, Question, Stop, code};
use serde_json::{Value, json};

use crate::support::{FakePort, FakeUpstream, assert_sound, call_with, data};

const OPENED: Answer = Answer::Accepted(Value::Null);

fn link(url: &str) -> Question {
    Question::link("Sign in.", url)
}

fn person(answer: Answer) -> Arc<FakePort> {
    Arc::new(FakePort { answer: Some(answer), ..FakePort::default() })
}

#[tokio::test]
async fn links_are_asked_through_the_session() {
    for mode in ["normal", "stateless"] {
        let mut upstream = FakeUpstream::start(mode);
        let facade = upstream.facade().await;
        for (answer, action) in
            [(OPENED, "accept"), (Answer::Declined, "decline"), (Answer::Cancelled, "cancel")]
        {
            let port = person(answer);
            let reply = call_with(&facade, port.clone(), "ask_url", json!({})).await.expect("a reply");
            assert_eq!(reply.data, json!({ "action": action }), "{mode}");
            assert_eq!(*port.asked.lock().unwrap(), [link("https://x.example/connect")], "{mode}");
        }
    }
}

#[tokio::test]
async fn an_unopened_link_fails_the_call() {
    let x = "refused: https://x.example/connect";
    let both = "refused: https://x.example/connect; refused: https://y.example/";
    let asked = "the upstream asked for input, but refused: https://x.example/connect";
    for (mode, action, refused, code, message) in [
        ("normal", "ask_url", code::DENIED, code::DENIED, x),
        ("stateless", "ask_url", code::DENIED, code::DENIED, x),
        ("normal", "connect", code::DENIED, code::DENIED, both),
        ("stateless", "connect", code::DENIED, code::DENIED, both),
        ("normal", "ask_url", code::TIMED_OUT, code::TIMED_OUT, x),
        ("stateless", "ask_url", code::TIMED_OUT, code::TIMED_OUT, x),
        ("normal", "connect", code::TIMED_OUT, code::TIMED_OUT, x),
        // Links that may not be shown: nothing is wrong with the caller's parameters.
        ("normal", "ask_url", code::INVALID_PARAMS, "upstream_error", x),
        ("stateless", "ask_url", code::INVALID_PARAMS, code::INTERNAL, asked),
        ("normal", "connect", code::INVALID_PARAMS, code::INTERNAL, asked),
    ] {
        let mut upstream = FakeUpstream::start(mode);
        let facade = upstream.facade().await;
        let port = Arc::new(FakePort { refuses_links: Some(refused), ..FakePort::default() });
        match call_with(&facade, port, action, json!({})).await {
            Err(Stop::Failure(failure)) => {
                assert_eq!((&*failure.code, &*failure.message), (code, message), "{mode} {action}");
            }
            other => panic!("{other:?}"),
        }
        assert_sound(&facade).await;
    }
}

#[tokio::test]
async fn an_upstream_may_do_without_the_link() {
    let mut upstream = FakeUpstream::start("normal");
    let facade = upstream.facade().await;
    let port = Arc::new(FakePort { refuses_links: Some(code::DENIED), ..FakePort::default() });
    let reply = call_with(&facade, port, "ask_url", json!({"does_without": true})).await.expect("a reply");
    assert_eq!(reply.data, json!({"error": "refused: https://x.example/connect"}));
}

#[tokio::test]
async fn required_links_are_opened_before_a_retry() {
    let mut upstream = FakeUpstream::start("normal");
    let facade = upstream.facade().await;
    let port = person(OPENED);
    let reply = call_with(&facade, port.clone(), "connect", json!({})).await.expect("a reply");
    assert_eq!(reply.data, json!({"calls": 2}));
    let asked = [link("https://x.example/connect"), link("https://y.example/")];
    assert_eq!(*port.asked.lock().unwrap(), asked);
}

#[tokio::test]
async fn required_links_are_asked_once() {
    let mut upstream = FakeUpstream::start("normal");
    let facade = upstream.facade().await;
    let port = person(OPENED);
    let failed = match call_with(&facade, port.clone(), "connect", json!({"rounds": 2})).await {
        Err(Stop::Failure(failure)) => failure,
        other => panic!("{other:?}"),
    };
    let message = "access denied: the person has opened the upstream's link, but is not done there yet";
    assert_eq!((&*failed.code, &*failed.message), (code::DENIED, message));
    assert_eq!(failed.hint.as_deref(), Some("once they are done there, make the same call again"));
    assert_eq!(port.asked.lock().unwrap().len(), 2);
    // The same call again, now that the person is done.
    assert_eq!(data(&facade, "connect", json!({"rounds": 2})).await, json!({"calls": 3}));
}

#[tokio::test]
async fn required_links_that_stay_closed_end_the_call() {
    let mut upstream = FakeUpstream::start("normal");
    let facade = upstream.facade().await;
    let denied = "access denied: the person did not open the link that the upstream requires";
    let nobody = || Arc::new(FakePort::default());
    let nine =
        json!({"elicitations": vec![json!({"mode": "url", "message": "m", "url": "https://x.example"}); 9]});
    for (port, data, expected, asked) in [
        (person(Answer::Declined), None, denied, 1),
        (person(Answer::Cancelled), None, denied, 1),
        (nobody(), None, "nobody can be asked", 1),
        (person(OPENED), Some(json!(null)), "Sign in first.", 0),
        (person(OPENED), Some(json!({"elicitations": []})), "Sign in first.", 0),
        (
            person(OPENED),
            Some(nine),
            "the upstream asked for input, but it asked more than 8 questions at once",
            0,
        ),
    ] {
        let mut arguments = json!({"rounds": 100});
        if let Some(data) = data {
            arguments["data"] = data;
        }
        match call_with(&facade, port.clone(), "connect", arguments).await {
            Err(Stop::Failure(failure)) => assert_eq!(failure.message, expected),
            other => panic!("{other:?}"),
        }
        assert_eq!(port.asked.lock().unwrap().len(), asked, "{expected}");
    }
}
