use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use futures_util::{FutureExt, future::BoxFuture};
use loggia_facade::{Answer, Detail, LogLevel, Port, Progress, Question, Stop};

use super::*;

/// A port that lets `notes` be called, and counts calls.
#[derive(Default)]
struct CountingPort {
    calls: AtomicUsize,
}

impl Port for CountingPort {
    fn progress(&self, _: Progress) {}
    fn log(&self, _: LogLevel, _: &str) {}
    fn is_cancelled(&self) -> bool {
        false
    }
    fn cancelled(&self) -> BoxFuture<'_, ()> {
        std::future::pending().boxed()
    }
    fn elicit(&self, _: Question) -> BoxFuture<'_, Result<Answer, Failure>> {
        async { Ok(Answer::Declined) }.boxed()
    }
    fn may_invoke(&self, facade: &str, _: &str) -> Result<(), Failure> {
        if facade == "notes" { Ok(()) } else { Err(denied("invoke")) }
    }
    fn invoke(&self, request: Request) -> BoxFuture<'_, Result<Reply, Stop>> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        async move { Ok(Reply::data(request.facade)) }.boxed()
    }
    fn facades(&self) -> Result<Vec<Surface>, Failure> {
        Ok(Vec::new())
    }
    fn lookup(&self, _: &str, _: &str) -> Result<PeerAction, Failure> {
        Err(denied("invoke"))
    }
    fn check(&self, _: Request) -> Result<(), Failure> {
        Ok(())
    }
}

fn request(facade: &str, params: &str) -> RawRequest {
    RawRequest {
        facade: facade.to_owned(),
        action: "add".to_owned(),
        params: params.to_owned(),
        detail: Detail::Standard,
        timeout: None,
        idempotency_key: None,
    }
}

#[tokio::test]
async fn calls_are_answered_in_order_and_refused_one_by_one() {
    let port = Arc::new(CountingPort::default());
    let session = Session::new(Arc::clone(&port) as Arc<dyn Port>);
    let requests = vec![request("notes", "{}"), request("other", "not even JSON"), request("notes", "[]")];
    let answers = call_all(Some(&session), requests, &ParentSpan::default()).await;
    let codes: Vec<_> = answers.iter().map(|answer| answer.as_ref().err().map(|f| f.code.as_str())).collect();
    assert_eq!(codes, [None, Some(code::DENIED), Some(code::INVALID_PARAMS)]);
    assert_eq!(port.calls.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn too_many_calls_at_once_are_all_refused() {
    let port = Arc::new(CountingPort::default());
    let session = Session::new(Arc::clone(&port) as Arc<dyn Port>);
    for (count, fine) in [(CALLS, true), (CALLS + 1, false)] {
        let requests = (0..count).map(|_| request("notes", "{}")).collect();
        let answers = call_all(Some(&session), requests, &ParentSpan::default()).await;
        assert!(answers.len() == count && answers.iter().all(|answer| answer.is_ok() == fine), "{count}");
    }
    assert_eq!(port.calls.load(Ordering::Relaxed), CALLS);
}

#[tokio::test]
async fn without_a_session_everything_is_denied() {
    let answers = call_all(None, vec![request("notes", "{}")], &ParentSpan::default()).await;
    assert!(answers.iter().all(|answer| answer.as_ref().is_err_and(|failure| failure.code == code::DENIED)));
    assert!(facades(None).is_err() && check(None, request("notes", "{}")).is_err());
}
