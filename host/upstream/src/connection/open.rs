//! An open connection: calls and lists of tools.

use std::{collections::HashSet, sync::Arc, time::Duration};

use futures_util::future::{BoxFuture, FutureExt};
use loggia_facade::{Answer, Failure, QuestionKind, Session, code};
use rmcp::{
    ClientHandler, Peer, RoleClient, ServiceError,
    model::{
        CallToolRequest, CallToolRequestParams, CancelledNotificationParam, ClientRequest, ErrorData,
        ListToolsRequest, PaginatedRequestParams, ProgressToken, RequestId, RequestMetaObject,
    },
    service::PeerRequestOptions,
};
use serde_json::Value;
use tokio::{
    runtime::Handle,
    sync::{Notify, mpsc, oneshot},
};

use super::{
    call_registry::{CallEntry, CallRegistry, PendingQuestion},
    client::UpstreamClient,
    close_reason::CloseSignal,
    http::innermost,
    pipe::PipeRequests,
};
use crate::adapt::ServerProfile;

/// Tools of an upstream, before `include` and `exclude`.
const TOOLS: usize = 1000;
/// Bytes of all tools, as JSON.
const TOOL_BYTES: usize = 8 * 1024 * 1024;
/// Pages of a list of tools.
const PAGES: usize = 200;
/// Bytes of a text of the upstream in a reason.
const TEXT: usize = 400;
/// Questions of one call that wait to be asked.
const QUESTIONS: usize = 4;

/// A connection whose handshake is done. Calls share it.
pub(crate) struct OpenConnection {
    peer: Peer<RoleClient>,
    /// Where the requests of calls go; through the peer if there is none.
    requests: Option<PipeRequests>,
    /// Metadata of each request that does not go through the peer.
    meta: RequestMetaObject,
    calls: Arc<CallRegistry>,
    changed: Arc<Notify>,
    signal: CloseSignal,
    /// Where notifications of cancellation are sent from: a call may be dropped on any thread.
    runtime: Handle,
    profile: ServerProfile,
    is_stateless: bool,
}

/// Why a call has no result.
#[derive(Debug)]
pub(crate) enum CallEnd {
    /// The upstream answered with an error of JSON-RPC.
    Error {
        /// Its code.
        code: i32,
        /// Its message.
        message: String,
        /// Its data.
        data: Option<Value>,
    },
    /// The upstream asked to open a link, which the client cannot do or the policy forbids, and failed.
    LinkNotOpened(Box<Failure>),
    /// The connection ended first.
    Closed(String),
}

impl OpenConnection {
    pub(super) fn new(
        peer: Peer<RoleClient>,
        requests: Option<PipeRequests>,
        client: &UpstreamClient,
        signal: CloseSignal,
    ) -> Self {
        let info = peer.peer_info();
        let is_stateless = info.as_ref().is_some_and(|info| !info.protocol_version.has_initialize());
        let meta = info.as_ref().filter(|_| is_stateless).map(|info| {
            let ours = client.get_info();
            let version = info.protocol_version.clone();
            RequestMetaObject::with_client_context(version, ours.client_info, ours.capabilities)
        });
        let profile = info.map(|info| {
            let server = info.server_info.clone();
            let (title, version, description) = server
                .map(|server| (server.title.unwrap_or(server.name), server.version, server.description))
                .unwrap_or_default();
            ServerProfile { title, version, description, instructions: info.instructions.clone() }
        });
        Self {
            peer,
            requests,
            meta: meta.unwrap_or_default(),
            calls: client.calls.clone(),
            changed: client.changed.clone(),
            signal,
            runtime: Handle::current(),
            profile: profile.unwrap_or_default(),
            is_stateless,
        }
    }

    /// What the server says about itself.
    pub(crate) fn profile(&self) -> &ServerProfile {
        &self.profile
    }

    /// Whether the server speaks the lifecycle of 2026-07-28, in which a question is part of a result.
    pub(crate) fn is_stateless(&self) -> bool {
        self.is_stateless
    }

    /// Whether no new call should use the connection.
    pub(crate) fn is_ending(&self) -> bool {
        self.signal.is_ending()
    }

    /// Resolves when the connection is closed.
    pub(crate) async fn closed(&self) {
        self.signal.closed().await;
    }

    /// Resolves when the server says that its tools have changed. Several changes may resolve it once.
    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Calls a tool. Questions of the upstream are asked through the session. Dropping the future cancels the call.
    pub(crate) async fn call(
        &self,
        params: CallToolRequestParams,
        session: &Session,
    ) -> Result<Value, CallEnd> {
        self.request(ClientRequest::CallToolRequest(CallToolRequest::new(params)), session).await
    }

    /// The peer of this connection.
    pub(super) fn peer(&self) -> &Peer<RoleClient> {
        &self.peer
    }

    /// The runtime of this connection.
    pub(super) fn runtime(&self) -> &Handle {
        &self.runtime
    }

    /// Sends one request of a call. Questions of the upstream are asked through the session. Dropping the future cancels the
    /// request.
    pub(super) async fn request(&self, request: ClientRequest, session: &Session) -> Result<Value, CallEnd> {
        let (questions, mut asked) = mpsc::channel(QUESTIONS);
        let call = CallEntry { session: session.clone(), questions };
        let (mut guard, mut response) = match &self.requests {
            Some(requests) => self.send_direct(requests, request, call).await?,
            None => self.send_by_peer(request, call).await?,
        };
        let mut asking: Option<Asking<'_>> = None;
        let mut link_failure = None;
        let result = loop {
            tokio::select! {
                biased;
                result = &mut response => break result,
                failure = async { asking.as_mut()?.await }, if asking.is_some() => {
                    asking = None;
                    link_failure = link_failure.or(failure);
                }
                Some(next) = asked.recv(), if asking.is_none() => asking = Some(ask(session, next).boxed()),
                () = self.signal.closed() => break Err(CallEnd::Closed(self.signal.reason())),
            }
        };
        guard.is_done = true;
        drop(guard);
        let has_failed = match &result {
            Ok(result) => result.get("isError") == Some(&Value::Bool(true)),
            Err(end) => matches!(end, CallEnd::Error { .. }),
        };
        match link_failure {
            // Its text has the link; the upstream's own may be without.
            Some(failure) if has_failed => Err(CallEnd::LinkNotOpened(Box::new(failure))),
            _ => result,
        }
    }

    /// Sends a request to a child, from where the call runs.
    async fn send_direct(
        &self,
        requests: &PipeRequests,
        request: ClientRequest,
        call: CallEntry,
    ) -> Result<(CallGuard<'_>, BoxFuture<'_, Result<Value, CallEnd>>), CallEnd> {
        let name = requests.next_name();
        // Before it is sent: the upstream may report progress at once.
        let guard = self.guard(name.id.clone(), name.token.clone(), call);
        let Ok(mut awaited) = requests.send(request, name, &self.meta).await else {
            return Err(self.end_of(ServiceError::TransportClosed).await);
        };
        let response = async move { awaited.response().await.map_err(end_of_error) };
        Ok((guard, response.boxed()))
    }

    /// Sends a request through rmcp's loop.
    async fn send_by_peer(
        &self,
        request: ClientRequest,
        call: CallEntry,
    ) -> Result<(CallGuard<'_>, BoxFuture<'_, Result<Value, CallEnd>>), CallEnd> {
        let sent = self.peer.send_request_with_option(request, PeerRequestOptions::no_options()).await;
        let sent = match sent {
            Ok(sent) => sent,
            Err(error) => return Err(self.end_of(error).await),
        };
        let guard = self.guard(sent.id.clone(), sent.progress_token.clone(), call);
        let response = async move {
            match sent.await_response().await {
                Ok(result) => {
                    serde_json::to_value(result).map_err(|error| CallEnd::Closed(error.to_string()))
                }
                Err(error) => Err(self.end_of(error).await),
            }
        };
        Ok((guard, response.boxed()))
    }

    /// Registers a call until the guard is dropped.
    fn guard(&self, id: RequestId, token: ProgressToken, call: CallEntry) -> CallGuard<'_> {
        self.calls.add(id.clone(), token, call);
        CallGuard { connection: self, id, is_done: false }
    }

    /// Lists all tools, as JSON.
    ///
    /// # Errors
    ///
    /// The reason, as a fragment: a bound that the list breaks, or the upstream's own error.
    pub(crate) async fn list_tools(&self, limit: Duration) -> Result<Vec<Value>, String> {
        match tokio::time::timeout(limit, self.list_pages()).await {
            Ok(listed) => listed,
            Err(_) => Err(format!("it did not list its tools within {} s", limit.as_secs())),
        }
    }

    async fn list_pages(&self) -> Result<Vec<Value>, String> {
        let mut tools = Vec::new();
        let mut bytes = 0;
        let mut seen = HashSet::new();
        let mut cursor: Option<String> = None;
        for _ in 0..PAGES {
            let params = PaginatedRequestParams::default().with_cursor(cursor.take());
            // Not `Peer::list_tools`, which may answer from a cache.
            let request = ClientRequest::ListToolsRequest(ListToolsRequest::with_param(params));
            let page = match self.peer.send_request(request).await {
                Ok(page) => serde_json::to_value(page).map_err(|error| error.to_string())?,
                Err(error) => {
                    return Err(match self.end_of(error).await {
                        CallEnd::Error { message, .. } => {
                            format!("it cannot list its tools: {}", clean(&message))
                        }
                        CallEnd::Closed(reason) => reason,
                        CallEnd::LinkNotOpened(failure) => failure.message,
                    });
                }
            };
            let Some(listed) = page.get("tools").and_then(Value::as_array) else {
                return Err("its list of tools is malformed".to_owned());
            };
            for tool in listed {
                bytes += tool.to_string().len();
                if tools.len() == TOOLS || bytes > TOOL_BYTES {
                    return Err(format!("it lists more than {TOOLS} tools or {} MiB", TOOL_BYTES >> 20));
                }
                tools.push(tool.clone());
            }
            cursor = page.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
            match &cursor {
                None => return Ok(tools),
                Some(cursor) if !seen.insert(cursor.clone()) => {
                    return Err("its list of tools repeats a page without end".to_owned());
                }
                Some(_) => {}
            }
        }
        Err(format!("its list of tools has more than {PAGES} pages"))
    }

    async fn end_of(&self, error: ServiceError) -> CallEnd {
        match error {
            ServiceError::McpError(error) => end_of_error(error),
            ServiceError::TransportClosed => {
                // The reason follows within moments.
                self.signal.closed().await;
                CallEnd::Closed(self.signal.reason())
            }
            ServiceError::TransportSend(error) => CallEnd::Closed(clean(&innermost(&error))),
            other => CallEnd::Closed(clean(&other.to_string())),
        }
    }
}

fn end_of_error(error: ErrorData) -> CallEnd {
    CallEnd::Error { code: error.code.0, message: error.message.into_owned(), data: error.data }
}

/// A text for one line of a message.
fn clean(text: &str) -> String {
    loggia_text::sanitise_line(&loggia_text::redact(text), TEXT)
}

/// A question that is being asked. Resolves with the failure of a link that the caller should know.
type Asking<'a> = BoxFuture<'a, Option<Failure>>;

async fn ask(session: &Session, asked: PendingQuestion) -> Option<Failure> {
    let is_link = matches!(asked.question.kind, QuestionKind::Link { .. });
    let answer: Result<Answer, Failure> = session.elicit(asked.question).await;
    // A link that may not be shown is the upstream's mistake, and not the caller's.
    let is_callers = |failure: &&Failure| is_link && failure.code != code::INVALID_PARAMS;
    let failure = answer.as_ref().err().filter(is_callers).cloned();
    // The upstream may have withdrawn its question.
    let _: Result<(), _> = oneshot::Sender::send(asked.answer, answer);
    failure
}

/// Removes a call, and cancels it at the upstream if it is dropped before its result.
struct CallGuard<'a> {
    connection: &'a OpenConnection,
    id: RequestId,
    is_done: bool,
}

impl Drop for CallGuard<'_> {
    fn drop(&mut self) {
        self.connection.calls.remove(&self.id, self.is_done);
        if self.is_done {
            return;
        }
        let peer = self.connection.peer.clone();
        let params =
            CancelledNotificationParam::new(Some(self.id.clone()), Some("the caller cancelled".to_owned()));
        self.connection.runtime.spawn(async move {
            // A closed connection has no calls left.
            let _ = peer.notify_cancelled(params).await;
        });
    }
}
