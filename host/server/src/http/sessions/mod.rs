//! Sessions of clients before 2026-07-28: rmcp's, but bounded in number, restricted to the caller that began them, and
//! hibernated while idle. A session holds some 60 KiB in rmcp until its client closes it, which few do. A hibernated one
//! holds only its `initialize` parameters and the client's notification stream, if there is one.
//!
//! The id of a session holds them, too, sealed: so a session outlives the server that began it, and every server of a fleet
//! finds it.
//!
//! | file | concept |
//! |---|---|
//! | `table.rs` | pure: owner, last use and activity of each session |
//! | `sealed_id.rs` | ids that hold what a session needs |
//! | `closed.rs` | ids that clients have given up |
//! | `elsewhere.rs` | messages to calls of a session that another server runs |
//! | `manager.rs` | rmcp's `SessionManager` and `SessionStore` |
//! | `notification_stream.rs`, `phase.rs` | the stream of list changes, which survives hibernation |
//! | `request_ids.rs` | ids of requests that have no response yet |
//! | `plain.rs` | plain JSON instead of a stream |

mod closed;
mod elsewhere;
mod manager;
mod notification_stream;
mod phase;
mod plain;
mod request_ids;
mod sealed_id;
mod table;

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use axum::{
    extract::Request,
    http::{Method, StatusCode},
    response::{IntoResponse, Response},
};
use futures_util::{Stream, StreamExt, stream::BoxStream};
use loggia_gate::{
    access::{CallOrigin, Caller},
    flow::{Gauge, HttpMeters},
};
use loggia_policy::settings::Http;
use rmcp::{
    model::{InitializeRequestParams, RequestId},
    transport::{
        common::server_side_http::{ServerSseMessage, SessionId},
        streamable_http_server::{
            SessionManager,
            session::local::{LocalSessionManager, LocalSessionManagerError},
        },
    },
};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{
    message::STATELESS,
    sessions::{
        closed::ClosedSessions,
        notification_stream::NotificationStream,
        phase::SessionPhase,
        plain::run_plain,
        request_ids::{RequestIdHold, refuse_id},
        sealed_id::SessionSealer,
        table::{SessionTable, SessionVisit},
    },
};
use crate::{
    fleet::FleetLink,
    mcp::SessionHold,
    seal::{ValueSealer, random_bytes},
};

/// TTL of rmcp's cache of completed responses.
const CACHE_TTL: Duration = Duration::from_secs(10);
/// Time that a request waits for another one to wake its session.
const WAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// Number of checks within the shorter timeout.
const CHECKS_PER_TIMEOUT: u32 = 4;
/// Number of hibernated sessions after which free memory is returned to the kernel.
const TRIM_THRESHOLD: usize = 64;

tokio::task_local! {
    /// Caller of the current request. rmcp does not pass it to the session manager, but calls it within the request's task.
    static CALLER: Caller;
    /// Holds the id of the current request, if it belongs to a session.
    static REQUEST_ID: Option<Arc<RequestIdHold>>;
    /// Client of the current request, if it begins a session.
    static CLIENT: Arc<InitializeRequestParams>;
}

/// Attaches caller and session to a request, and keeps the session awake until the response, even if the client disconnects:
/// rmcp passes the request's extensions to the call. One request wakes a hibernated session; concurrent ones wait for it.
/// `id` is that of the request, and `new` the client if it begins a session. `next` passes the request on, with the client of an awake session.
pub async fn attach_session<F>(
    sessions: &Arc<BoundedSessions>,
    mut request: Request,
    (id, new): (Option<RequestId>, Option<Arc<InitializeRequestParams>>),
    next: impl FnOnce(Request, Option<Arc<InitializeRequestParams>>) -> F + Send,
) -> Response
where
    F: Future<Output = Response> + Send + 'static,
{
    let origin = request.extensions().get::<CallOrigin>();
    let caller = origin.map_or(Caller::Anonymous, |origin| origin.caller.clone());
    let headers = request.headers();
    let session = headers.get("mcp-session-id").and_then(|id| id.to_str().ok()).map(SessionId::from);
    // From 2026-07-28 on there are no sessions, and the header has no meaning.
    let session = session
        .filter(|_| headers.get("mcp-protocol-version").is_none_or(|version| version.as_bytes() < STATELESS));
    let Some(session) = session else {
        let answer = CALLER.scope(caller, run_plain(next(request, None)));
        return match new {
            Some(client) => CLIENT.scope(client, answer).await,
            None => answer.await,
        };
    };
    let Some(visit) = sessions.find(&session, &caller).await else { return session_not_found() };
    let held = match id.map(|id| visit.request_ids.take(id)).transpose() {
        Ok(held) => held.map(Arc::new),
        Err(id) => return refuse_id(id),
    };
    request.extensions_mut().insert(ActiveRequest(visit.activity));
    request.extensions_mut().insert(SessionHold(visit.subscriptions));
    let is_end = request.method() == Method::DELETE;
    let outcome = if visit.is_awake { WakeOutcome::Awake } else { sessions.wake(&session).await };
    let mut response = match outcome {
        WakeOutcome::Awake => {
            let answer = run_plain(next(request, visit.client));
            REQUEST_ID.scope(held, CALLER.scope(caller, answer)).await
        }
        WakeOutcome::Gone => session_not_found(),
        WakeOutcome::Wake => {
            // A disconnecting client must not leave a half-restored session.
            let answer = REQUEST_ID.scope(held, CALLER.scope(caller, next(request, None)));
            let sessions = Arc::clone(sessions);
            let waking = async move {
                let woken = tokio::spawn(answer).await;
                // In any case, since other requests wait for it.
                sessions.finish_wake(&session).await;
                woken
            };
            let woken = tokio::spawn(waking).await.and_then(|woken| woken);
            woken.unwrap_or_else(|_| StatusCode::INTERNAL_SERVER_ERROR.into_response())
        }
    };
    // rmcp responds to DELETE with 202, which Python's SDK reports as a failure.
    if is_end && response.status() == StatusCode::ACCEPTED {
        *response.status_mut() = StatusCode::NO_CONTENT;
    }
    response
}

/// rmcp's own response to an unknown session.
fn session_not_found() -> Response {
    (StatusCode::NOT_FOUND, "Not Found: Session not found").into_response()
}

/// State in which a request finds its session.
enum WakeOutcome {
    Awake,
    /// This request must wake it.
    Wake,
    Gone,
}

/// Keeps a session awake while it is held.
#[derive(Clone)]
struct ActiveRequest(#[allow(dead_code, reason = "it is held, not read")] Arc<()>);

fn caller() -> Caller {
    CALLER.try_with(Clone::clone).unwrap_or(Caller::Anonymous)
}

/// Bounded session table over rmcp's. At capacity, evicts the longest-idle session of the caller that holds the most.
pub struct BoundedSessions {
    local: Arc<LocalSessionManager>,
    /// Maximum number of sessions in memory. Evicted ones are restored from their ids.
    limit: usize,
    /// Idle time after which a session hibernates.
    hibernate_after: Duration,
    /// Idle time after which it is forgotten until its client comes back.
    expire_after: Duration,
    /// All sessions. A short, synchronous lock: it is never held across an await, nor while rmcp's own session lock is taken.
    /// Whatever must outlast it (guards, phase subscriptions) is cloned out.
    table: Mutex<SessionTable>,
    /// Seals and opens ids.
    ids: SessionSealer,
    /// Ids that clients have given up. Locked for one lookup or insertion, and never within `table`, nor the other way around.
    closed: Mutex<ClosedSessions>,
    /// The other hosts, if there are any.
    fleet: Option<Arc<FleetLink>>,
    /// Changes of the tool list.
    changes: watch::Receiver<()>,
    /// Gauges of all sessions, and of the hibernated ones at the last check.
    count: Arc<Gauge>,
    hibernated: Arc<Gauge>,
    /// Held while sessions hibernate, and while rmcp restores one, so that no session does both at once. Holders await rmcp's
    /// session lock but no client: closing a released session, which may wait for its client, is spawned. `table` is locked
    /// within it, never the other way around.
    transition: tokio::sync::Mutex<()>,
}

impl BoundedSessions {
    /// Creates the manager with the operator's limits. `changes` are those of the tool list, which clients of hibernated
    /// sessions receive, and `meters` has the gauges of sessions. `sealer` seals their ids.
    pub fn new(
        http: &Http,
        changes: watch::Receiver<()>,
        meters: &HttpMeters,
        sealer: Arc<ValueSealer>,
    ) -> Self {
        let mut local = LocalSessionManager::default();
        // rmcp's timeout ignores running calls, so `hibernate` expires sessions instead.
        local.session_config.keep_alive = None;
        local.session_config.completed_cache_ttl = CACHE_TTL;
        Self {
            local: Arc::new(local),
            limit: http.sessions,
            hibernate_after: http.session_sleep.0,
            expire_after: http.session_idle.0,
            table: Mutex::default(),
            ids: SessionSealer::new(sealer),
            closed: Mutex::default(),
            fleet: None,
            changes,
            count: Arc::clone(&meters.sessions),
            hibernated: Arc::clone(&meters.sessions_hibernated),
            transition: tokio::sync::Mutex::default(),
        }
    }

    /// Passes messages to calls of other hosts.
    #[must_use]
    pub fn with_fleet(self, fleet: Option<Arc<FleetLink>>) -> Self {
        Self { fleet, ..self }
    }

    /// Finds a session of the caller, and keeps it busy. One that this server does not know is restored from its id.
    async fn find(&self, id: &SessionId, caller: &Caller) -> Option<SessionVisit> {
        if let Some(visit) = self.touch(id, caller) {
            return Some(visit);
        }
        if self.is_closed(id) {
            return None;
        }
        let client = self.ids.open(id, caller)?;
        let evicted = {
            let mut table = self.table();
            // Another request may have found it at the same time.
            if table.0.contains_key(id) {
                None
            } else {
                let (changes, now) = (self.changes.clone(), Instant::now());
                let evicted = table.insert(id.clone(), caller.clone(), changes, self.limit, now);
                table.restore(id, Arc::new(client));
                self.count.set(table.0.len());
                evicted
            }
        };
        self.release_evicted(evicted).await;
        self.touch(id, caller)
    }

    /// Chooses the id of a new session: sealed, if its client is not too large for that.
    fn new_id(&self) -> SessionId {
        let client = CLIENT.try_with(Arc::clone).ok();
        let sealed = client.and_then(|client| self.ids.seal(&client, &caller()));
        sealed.unwrap_or_else(|| format!("{:032x}", u128::from_be_bytes(random_bytes())).into())
    }

    fn is_closed(&self, id: &SessionId) -> bool {
        self.closed.lock().unwrap_or_else(PoisonError::into_inner).contains(id)
    }

    /// Forgets a session, whose id is not valid from now on.
    fn forget(&self, id: &SessionId) {
        self.closed.lock().unwrap_or_else(PoisonError::into_inner).insert(id);
        let mut table = self.table();
        table.0.remove(id);
        self.count.set(table.0.len());
    }

    async fn release_evicted(&self, evicted: Option<SessionId>) {
        if let Some(evicted) = evicted {
            tracing::debug!("evicted a session");
            self.release(&evicted).await;
        }
    }

    /// Hibernates and expires idle sessions until `stop` is cancelled. Calls `release_memory`, which blocks, after many
    /// hibernations.
    pub async fn run(self: Arc<Self>, release_memory: fn(), stop: CancellationToken) {
        let mut asleep = 0;
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(self.hibernate_after.min(self.expire_after) / CHECKS_PER_TIMEOUT) => {}
            }
            match self.hibernate(self.hibernate_after).await {
                0 if asleep >= TRIM_THRESHOLD => {
                    asleep = 0;
                    // It takes the allocator's locks, and walks through all free memory.
                    drop(tokio::task::spawn_blocking(release_memory).await);
                }
                more => asleep += more,
            }
        }
    }

    /// Expires and hibernates idle sessions; returns the number of hibernated ones.
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
        self.hibernated.set(self.table().hibernated());
        drowsy.len()
    }

    /// Releases rmcp's state of a session in the background, since a client that does not read could delay it.
    async fn release(&self, id: &SessionId) {
        let held = self.local.sessions.write().await.remove(id);
        if let Some(held) = held {
            tokio::spawn(async move { drop(held.close().await) });
        }
    }

    /// Waits until a session is awake, or assigns its waking to this request.
    async fn wake(&self, id: &SessionId) -> WakeOutcome {
        let until = tokio::time::Instant::now() + WAKE_TIMEOUT;
        loop {
            let mut state = {
                let table = self.table();
                let Some(session) = table.0.get(id) else { return WakeOutcome::Gone };
                if session.is_in(SessionPhase::Awake) {
                    return WakeOutcome::Awake;
                }
                if session.is_in(SessionPhase::Hibernated) {
                    session.phase.send_replace(SessionPhase::Waking);
                    return WakeOutcome::Wake;
                }
                session.phase.subscribe()
            };
            let settled = state.wait_for(|state| *state != SessionPhase::Waking);
            if tokio::time::timeout_at(until, settled).await.is_err() {
                return WakeOutcome::Gone;
            }
        }
    }

    /// Records the outcome of waking, once the request has its response or has started it.
    async fn finish_wake(&self, id: &SessionId) {
        let is_held = self.local.has_session(id).await.unwrap_or(false);
        if let Some(session) = self.table().0.get(id) {
            let state = if is_held { SessionPhase::Awake } else { SessionPhase::Hibernated };
            session.phase.send_replace(state);
        }
    }

    /// Marks the current caller's session as used.
    fn touch_own(&self, id: &SessionId) -> Result<Arc<()>, LocalSessionManagerError> {
        let visit = self.touch(id, &caller());
        let visit = visit.ok_or_else(|| LocalSessionManagerError::SessionNotFound(id.clone()))?;
        Ok(visit.activity)
    }

    /// Opens a notification stream, which begins with rmcp's messages.
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

    fn touch(&self, id: &SessionId, caller: &Caller) -> Option<SessionVisit> {
        self.table().touch(id, caller, Instant::now())
    }
}

/// Keeps a value while a stream is open, such as what keeps its session awake.
fn keep_with<S: Stream, T>(stream: S, kept: T) -> impl Stream<Item = S::Item> {
    stream.inspect(move |_| {
        let _open = &kept;
    })
}
