//! A session that nobody listens to.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::future::{BoxFuture, FutureExt};
use loggia_facade::{
    Answer, Call, CallId, Detail, Failure, LogLevel, Object, PeerAction, Port, Progress, Question, Reply,
    Request, Session, Stop, Surface, code,
};

struct SilentPort;

fn refused() -> Failure {
    Failure::new(code::DENIED, "not in this test")
}

impl Port for SilentPort {
    fn progress(&self, _: Progress) {}
    fn log(&self, _: LogLevel, _: &str) {}
    fn is_cancelled(&self) -> bool {
        false
    }
    fn cancelled(&self) -> BoxFuture<'_, ()> {
        std::future::pending().boxed()
    }
    fn elicit(&self, _: Question) -> BoxFuture<'_, Result<Answer, Failure>> {
        async { Err(refused()) }.boxed()
    }
    fn invoke(&self, _: Request) -> BoxFuture<'_, Result<Reply, Stop>> {
        async { Err(refused().into()) }.boxed()
    }
    fn facades(&self) -> Result<Vec<Surface>, Failure> {
        Err(refused())
    }
    fn lookup(&self, _: &str, _: &str) -> Result<PeerAction, Failure> {
        Err(refused())
    }
    fn check(&self, _: Request) -> Result<(), Failure> {
        Err(refused())
    }
}

/// A call of an action.
pub fn call(action: &str, params: Object) -> Call {
    Call {
        id: CallId("c1".into()),
        action: action.into(),
        params,
        params_text: None,
        detail: Detail::Full,
        scope: None,
        deadline: Instant::now() + Duration::from_secs(60),
        idempotency_key: None,
        session: Session::new(Arc::new(SilentPort)),
    }
}
