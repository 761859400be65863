//! A running fake upstream, and a session that records what a call does.

use std::{
    path::Path,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use futures_util::future::{BoxFuture, FutureExt};
use loggia_facade::{
    Answer, Call, CallId, Detail, Facade, Failure, LogLevel, Object, PeerAction, Port, Progress, Question,
    QuestionKind, Reply, Request, Session, Stop, Surface, code,
};
use loggia_upstream::{
    StdioSpec, TransportSpec, UpstreamEvent, UpstreamFacade, UpstreamRuntimes, UpstreamServer, UpstreamSpec,
};
use serde_json::{Value, json};
use tokio::{runtime::Handle, sync::watch};

/// Time that nothing in a test should take.
pub const LONG: Duration = Duration::from_secs(30);

/// The settings of a fake upstream.
pub fn spec(mode: &str) -> UpstreamSpec {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/upstream/fake_server.py");
    let args = vec!["-u".into(), script.display().to_string(), mode.into()];
    let stdio = StdioSpec { command: "python3".into(), args, ..StdioSpec::default() };
    UpstreamSpec::new("fake", TransportSpec::Stdio(stdio))
}

/// A running upstream.
pub struct FakeUpstream {
    pub server: UpstreamServer,
    pub events: watch::Receiver<UpstreamEvent>,
}

impl FakeUpstream {
    pub fn start(mode: &str) -> Self {
        Self::of(spec(mode))
    }

    pub fn of(spec: UpstreamSpec) -> Self {
        let server = UpstreamServer::start(spec, &UpstreamRuntimes::single(&Handle::current()));
        let events = server.events();
        Self { server, events }
    }

    /// The facade, once there is one that satisfies this.
    pub async fn facade_that(&mut self, is: impl Fn(&UpstreamFacade) -> bool) -> Arc<UpstreamFacade> {
        let ready = |event: &UpstreamEvent| matches!(event, UpstreamEvent::Ready(facade) if is(facade));
        let event =
            tokio::time::timeout(LONG, self.events.wait_for(ready)).await.expect("it is ready in time");
        match &*event.expect("it is watched") {
            UpstreamEvent::Ready(facade) => facade.clone(),
            _ => unreachable!("the event was just checked"),
        }
    }

    pub async fn facade(&mut self) -> Arc<UpstreamFacade> {
        self.facade_that(|_| true).await
    }

    /// Why it is unavailable, once it is.
    pub async fn outage(&mut self) -> String {
        let down = |event: &UpstreamEvent| matches!(event, UpstreamEvent::Unavailable(_));
        let event = tokio::time::timeout(LONG, self.events.wait_for(down)).await.expect("it is down in time");
        match &*event.expect("it is watched") {
            UpstreamEvent::Unavailable(reason) => reason.clone(),
            _ => unreachable!("the event was just checked"),
        }
    }
}

/// A session that records progress and answers questions.
#[derive(Default)]
pub struct FakePort {
    pub progress: Mutex<Vec<Progress>>,
    pub asked: Mutex<Vec<Question>>,
    pub answer: Option<Answer>,
    /// Code of the failure of every link.
    pub refuses_links: Option<&'static str>,
}

impl Port for FakePort {
    fn progress(&self, progress: Progress) {
        self.progress.lock().unwrap().push(progress);
    }
    fn log(&self, _: LogLevel, _: &str) {}
    fn is_cancelled(&self) -> bool {
        false
    }
    fn cancelled(&self) -> BoxFuture<'_, ()> {
        std::future::pending().boxed()
    }
    fn elicit(&self, question: Question) -> BoxFuture<'_, Result<Answer, Failure>> {
        if let (Some(code), QuestionKind::Link { url }) = (self.refuses_links, &question.kind) {
            let failure = Failure::new(code, format!("refused: {url}"));
            return async { Err(failure) }.boxed();
        }
        self.asked.lock().unwrap().push(question);
        let answer = self.answer.clone();
        async move { answer.ok_or_else(|| Failure::new(code::UNAVAILABLE, "nobody can be asked")) }.boxed()
    }
    fn invoke(&self, _: Request) -> BoxFuture<'_, Result<Reply, Stop>> {
        unreachable!("upstreams call no other facade")
    }
    fn facades(&self) -> Result<Vec<Surface>, Failure> {
        unreachable!("upstreams look at no other facade")
    }
    fn lookup(&self, _: &str, _: &str) -> Result<PeerAction, Failure> {
        unreachable!("upstreams look at no other facade")
    }
    fn check(&self, _: Request) -> Result<(), Failure> {
        unreachable!("upstreams call no other facade")
    }
}

/// Calls an action with a session.
pub async fn call_with(
    facade: &Arc<UpstreamFacade>,
    port: Arc<FakePort>,
    action: &str,
    params: Value,
) -> Result<Reply, Stop> {
    let call = Call {
        id: CallId("c".into()),
        action: action.into(),
        params: params.as_object().cloned().unwrap_or_else(Object::new),
        params_text: None,
        detail: Detail::Standard,
        scope: None,
        deadline: Instant::now() + LONG,
        idempotency_key: None,
        session: Session::new(port),
    };
    tokio::time::timeout(LONG, facade.clone().dispatch(call)).await.expect("it answers in time")
}

/// Calls an action.
pub async fn call(facade: &Arc<UpstreamFacade>, action: &str, params: Value) -> Result<Reply, Stop> {
    call_with(facade, Arc::default(), action, params).await
}

/// The data of a call that works.
pub async fn data(facade: &Arc<UpstreamFacade>, action: &str, params: Value) -> Value {
    call(facade, action, params).await.unwrap_or_else(|stop| panic!("{action}: {stop:?}")).data.into_value()
}

/// The failure of a call that does not.
pub async fn failure(facade: &Arc<UpstreamFacade>, action: &str, params: Value) -> Failure {
    match call(facade, action, params).await {
        Err(Stop::Failure(failure)) => failure,
        other => panic!("{action}: {other:?}"),
    }
}

/// Whether the upstream still answers as it should.
pub async fn assert_sound(facade: &Arc<UpstreamFacade>) {
    assert_eq!(data(facade, "echo", json!({"a": 1})).await, json!({"echo": {"a": 1}}));
}

/// Waits until something holds.
pub async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let deadline = Instant::now() + LONG;
    while !holds().await {
        assert!(Instant::now() < deadline, "{what}: not in time");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Whether a process runs.
pub fn is_alive(pid: u64) -> bool {
    // A zombie has ended, though nobody has asked for its status.
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(") ").next().unwrap_or_default().starts_with('Z'))
}
