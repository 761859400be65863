//! The sessions of clients before 2026-07-28: rmcp's own, but only so many, each for the caller alone who began it, and put to
//! sleep while nothing is heard of them. Whoever can connect can begin sessions, each of which holds some 60 KiB in rmcp
//! until its client says goodbye, which few do; one that sleeps holds what its client said when it began, and the connection on which
//! its client may listen.

mod notification_stream;
mod phase;
mod table;

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use axum::{
    extract::{Request, State},
    http::{Method, StatusCode},
    middleware::Next,
    response::{IntoResponse, Response},
};
use futures_util::{Stream, StreamExt, stream::BoxStream};
use loggia_gate::{
    access::{Caller, Origin},
    flow::Gauge,
};
use rmcp::{
    model::{ClientJsonRpcMessage, ServerJsonRpcMessage},
    transport::{
        common::server_side_http::{ServerSseMessage, SessionId},
        streamable_http_server::{
            RestoreOutcome, SessionManager,
            session::{
                SessionState, SessionStore, SessionStoreError,
                local::{LocalSessionManager, LocalSessionManagerError},
            },
        },
    },
};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use self::{notification_stream::NotificationStream, table::SessionTable};
use crate::{config::server::Http, serve::memory};

/// How long rmcp keeps what it would have said to a request that was taken back.
const CACHE_TTL: Duration = Duration::from_secs(10);
/// How long a request waits for another to wake its session.
const WAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// How often those that may sleep, or are over, are looked for, within the time after which they are.
const CHECKS_PER_TIMEOUT: u32 = 4;
/// After so many fell asleep at once, memory is given back: the allocator would keep it.
const TRIM_THRESHOLD: usize = 64;

tokio::task_local! {
    /// Who sent the request that is being answered: rmcp does not hand it on, but calls its sessions within its task.
    static CALLER: Caller;
}

/// Lets sessions know whose a request is, and keeps its session awake until it has been answered, even if its client goes away:
/// rmcp hands the request's extensions on to the call. A session that sleeps is woken by one request; others wait for it.
pub async fn attach_session(
    State(sessions): State<Arc<BoundedSessions>>,
    mut request: Request,
    next: Next,
) -> Response {
    let origin = request.extensions().get::<Origin>();
    let caller = origin.map_or(Caller::Anonymous, |origin| origin.caller.clone());
    let headers = request.headers();
    let id = headers.get("mcp-session-id").and_then(|id| id.to_str().ok()).map(SessionId::from);
    // From 2026-07-28 on there are no sessions, and who names one means nothing by it.
    let id = id
        .filter(|_| headers.get("mcp-protocol-version").is_none_or(|version| version.as_bytes() < STATELESS));
    let Some(id) = id else { return CALLER.scope(caller, next.run(request)).await };
    let Some(open) = sessions.touch(&id, &caller) else { return session_not_found() };
    request.extensions_mut().insert(ActiveRequest(open));
    let is_end = request.method() == Method::DELETE;
    let mut response = match sessions.wake(&id).await {
        WakeOutcome::Awake => CALLER.scope(caller, next.run(request)).await,
        WakeOutcome::Gone => session_not_found(),
        WakeOutcome::Wake => {
            // A client that goes away in the middle of it must not leave half a session.
            let waking = async move {
                let woken = tokio::spawn(CALLER.scope(caller, next.run(request))).await;
                // However it went: others wait to hear of it.
                sessions.finish_wake(&id).await;
                woken
            };
            let woken = tokio::spawn(waking).await.and_then(|woken| woken);
            woken.unwrap_or_else(|_| StatusCode::INTERNAL_SERVER_ERROR.into_response())
        }
    };
    // rmcp answers the end of a session with 202, which the SDKs for Python report as a failure.
    if is_end && response.status() == StatusCode::ACCEPTED {
        *response.status_mut() = StatusCode::NO_CONTENT;
    }
    response
}

/// The first revision without sessions.
const STATELESS: &[u8] = b"2026";

/// As rmcp says it.
fn session_not_found() -> Response {
    (StatusCode::NOT_FOUND, "Not Found: Session not found").into_response()
}

/// How a request finds its session.
enum WakeOutcome {
    Awake,
    /// This request is to wake it.
    Wake,
    Gone,
}

/// Keeps a session awake.
#[derive(Clone)]
struct ActiveRequest(#[allow(dead_code, reason = "it is held, not read")] Arc<()>);

fn caller() -> Caller {
    CALLER.try_with(Clone::clone).unwrap_or(Caller::Anonymous)
}

/// rmcp's sessions, one of which makes room where there are too many: the idlest of who has most.
pub struct BoundedSessions {
    local: Arc<LocalSessionManager>,
    /// A client whose session made room for another is told so (404), and by the protocol begins anew.
    limit: usize,
    /// One of which nothing is heard for so long sleeps.
    hibernate_after: Duration,
    /// And ends.
    expire_after: Duration,
    table: Mutex<SessionTable>,
    /// Changes of the list.
    changes: watch::Receiver<()>,
    /// How many there are.
    count: Arc<Gauge>,
    /// Held while sessions fall asleep or wake up, so that none does both.
    transition: tokio::sync::Mutex<()>,
}

impl BoundedSessions {
    /// As the operator wants them; their clients hear of `news` while they sleep; how many there are is told there.
    pub fn new(http: &Http, news: watch::Receiver<()>, count: Arc<Gauge>) -> Self {
        let (most, sleep, idle) = (http.sessions, http.session_sleep.0, http.session_idle.0);
        let mut local = LocalSessionManager::default();
        // rmcp counts what comes and goes, not what is under way; `turn_in` ends what is over.
        local.session_config.keep_alive = None;
        local.session_config.completed_cache_ttl = CACHE_TTL;
        Self {
            local: Arc::new(local),
            limit: most,
            hibernate_after: sleep,
            expire_after: idle,
            table: Mutex::default(),
            changes: news,
            count,
            transition: tokio::sync::Mutex::default(),
        }
    }

    /// Puts silent sessions to sleep until told to stop.
    pub async fn run(self: Arc<Self>, stop: CancellationToken) {
        let mut asleep = 0;
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(self.hibernate_after.min(self.expire_after) / CHECKS_PER_TIMEOUT) => {}
            }
            match self.hibernate(self.hibernate_after).await {
                0 if asleep >= TRIM_THRESHOLD => {
                    asleep = 0;
                    // It takes the allocator's locks, and reads through all that is free.
                    drop(tokio::task::spawn_blocking(memory::trim).await);
                }
                more => asleep += more,
            }
        }
    }

    /// Puts sessions to sleep that were silent for so long; how many.
    async fn hibernate(&self, silence: Duration) -> usize {
        let _turning = self.transition.lock().await;
        let now = Instant::now();
        let (gone, drowsy) = {
            let mut table = self.table();
            let gone = table.expire_idle(self.expire_after, now);
            self.count.set(table.0.len());
            (gone, table.hibernate_idle(silence, now))
        };
        for id in gone.iter().chain(&drowsy) {
            self.release(id).await;
        }
        drowsy.len()
    }

    /// Ends what rmcp holds of a session. Not waited for: a client that does not read could keep it from ending.
    async fn release(&self, id: &SessionId) {
        let held = self.local.sessions.write().await.remove(id);
        if let Some(held) = held {
            tokio::spawn(async move { drop(held.close().await) });
        }
    }

    /// Waits until a session is awake, or finds that it is to be woken.
    async fn wake(&self, id: &SessionId) -> WakeOutcome {
        let until = tokio::time::Instant::now() + WAKE_TIMEOUT;
        loop {
            let mut state = {
                let table = self.table();
                let Some(session) = table.0.get(id) else { return WakeOutcome::Gone };
                if session.is_in(phase::SessionPhase::Awake) {
                    return WakeOutcome::Awake;
                }
                if session.is_in(phase::SessionPhase::Hibernated) {
                    session.phase.send_replace(phase::SessionPhase::Waking);
                    return WakeOutcome::Wake;
                }
                session.phase.subscribe()
            };
            let settled = state.wait_for(|state| *state != phase::SessionPhase::Waking);
            if tokio::time::timeout_at(until, settled).await.is_err() {
                return WakeOutcome::Gone;
            }
        }
    }

    /// The request that was to wake a session has been answered, or begun to be.
    async fn finish_wake(&self, id: &SessionId) {
        let is_held = self.local.has_session(id).await.unwrap_or(false);
        if let Some(session) = self.table().0.get(id) {
            let state = if is_held { phase::SessionPhase::Awake } else { phase::SessionPhase::Hibernated };
            session.phase.send_replace(state);
        }
    }

    /// The same, where it must be the caller's own.
    fn touch_own(&self, id: &SessionId) -> Result<Arc<()>, LocalSessionManagerError> {
        self.touch(id, &caller()).ok_or_else(|| LocalSessionManagerError::SessionNotFound(id.clone()))
    }

    /// A stream on which the session's client waits for news, which begins with what rmcp has for it.
    fn listening(
        &self,
        id: &SessionId,
        first: BoxStream<'static, ServerSseMessage>,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + use<>, LocalSessionManagerError> {
        let mut table = self.table();
        let gone = || LocalSessionManagerError::SessionNotFound(id.clone());
        let session = table.0.get_mut(id).ok_or_else(gone)?;
        let again = std::mem::replace(&mut session.has_listened, true);
        let listening = NotificationStream {
            id: id.clone(),
            local: Arc::clone(&self.local),
            state: session.phase.subscribe(),
            news: Arc::clone(&session.pending),
            missed: again && session.changes.has_changed().unwrap_or(false),
            held: Arc::clone(&session.listeners),
        };
        Ok(listening.stream(first))
    }

    fn table(&self) -> MutexGuard<'_, SessionTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn touch(&self, id: &SessionId, caller: &Caller) -> Option<Arc<()>> {
        self.table().touch(id, caller, Instant::now())
    }
}

/// A stream that keeps its session awake while it is open.
fn keep_active<S: Stream>(stream: S, session: Arc<()>) -> impl Stream<Item = S::Item> {
    stream.inspect(move |_| {
        let _open = &session;
    })
}

impl SessionManager for BoundedSessions {
    type Error = LocalSessionManagerError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        let created = self.local.create_session().await?;
        let room = {
            let mut table = self.table();
            let room =
                table.insert(created.0.clone(), caller(), self.changes.clone(), self.limit, Instant::now());
            self.count.set(table.0.len());
            room
        };
        if let Some(room) = room {
            tracing::debug!("a session makes room for another");
            self.release(&room).await;
        }
        Ok(created)
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        self.local.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        // One that is being woken is not there yet: so rmcp begins it anew.
        let is_awake =
            self.table().0.get(id).is_some_and(|session| session.is_in(phase::SessionPhase::Awake));
        Ok(is_awake && self.touch_own(id).is_ok() && self.local.has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        // rmcp itself says so too, outside of any request, when a worker has ended.
        let is_asked = CALLER.try_with(|_| ()).is_ok();
        if is_asked {
            // Another's is not there, and to end what is not there is no error.
            if self.touch(id, &caller()).is_none() {
                return Ok(());
            }
        } else if let Some(session) = self.table().0.get_mut(id)
            && session.expected_closes > 0
        {
            session.expected_closes -= 1;
            return Ok(());
        }
        {
            let mut table = self.table();
            table.0.remove(id);
            self.count.set(table.0.len());
        }
        self.local.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let session = self.touch_own(id)?;
        Ok(keep_active(self.local.create_stream(id, message).await?, session))
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), Self::Error> {
        self.touch_own(id)?;
        self.local.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        // Until rmcp has it, which a session that sleeps has not.
        let _busy = self.touch_own(id)?;
        self.listening(id, self.local.create_standalone_stream(id).await?.boxed())
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let session = self.touch_own(id)?;
        if last_event_id.contains('/') {
            return Ok(keep_active(self.local.resume(id, last_event_id).await?, session).left_stream());
        }
        // rmcp counts anew after each sleep.
        let slept = self.table().0.get(id).is_some_and(|session| session.has_hibernated);
        let resumed = match slept {
            true => self.local.create_standalone_stream(id).await?.boxed(),
            false => self.local.resume(id, last_event_id).await?.boxed(),
        };
        Ok(self.listening(id, resumed)?.right_stream())
    }

    async fn restore_session(&self, id: SessionId) -> Result<RestoreOutcome<Self::Transport>, Self::Error> {
        let _turning = self.transition.lock().await;
        // It may have ended since it was looked up.
        match self.table().0.contains_key(&id) {
            true => {}
            false => return Ok(RestoreOutcome::NotSupported),
        }
        self.local.restore_session(id).await
    }
}

/// Where rmcp looks for a session that it does not hold, and leaves what can begin it anew. Other callers' are not there.
#[async_trait::async_trait]
impl SessionStore for BoundedSessions {
    async fn load(&self, id: &str) -> Result<Option<SessionState>, SessionStoreError> {
        let id = SessionId::from(id);
        if self.touch(&id, &caller()).is_none() {
            return Ok(None);
        }
        Ok(self
            .table()
            .0
            .get(&id)
            .and_then(|session| session.initialize_params.clone())
            .map(SessionState::new))
    }

    async fn store(&self, id: &str, state: &SessionState) -> Result<(), SessionStoreError> {
        if let Some(session) = self.table().0.get_mut(&SessionId::from(id)) {
            session.initialize_params = Some(state.initialize_params.clone());
        }
        Ok(())
    }

    async fn delete(&self, _: &str) -> Result<(), SessionStoreError> {
        // `close_session` was called before, and knows who asks.
        Ok(())
    }
}
