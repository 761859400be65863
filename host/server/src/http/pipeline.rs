//! The steps of a request, in the order of the table in `mod.rs`. A step that refuses ends the request.
//!
//! A step is a function, not a layer around a service: axum's layers of functions clone and box all that is below them for each
//! request, and there are a dozen.

use std::{
    any::Any,
    collections::BTreeSet,
    convert::Infallible,
    panic::AssertUnwindSafe,
    sync::Arc,
    task::{Context, Poll},
};

use axum::{
    Router,
    extract::Request,
    http::{HeaderValue, StatusCode, header::CONNECTION},
    response::{IntoResponse, Response, Result},
};
use futures_util::{FutureExt, future::BoxFuture};
use rmcp::model::InitializeRequestParams;
use tokio_util::sync::CancellationToken;
use tower::{Layer, Service, ServiceExt, service_fn, util::BoxCloneSyncService};
use tower_http::cors::CorsLayer;
use tracing::Instrument;

use super::{
    authentication::{AuthState, AuthenticatedRequest, KnownCaller, authenticate, limit_stream},
    direct_calls::answer_directly,
    host_check::HostAllowlist,
    message::{BodyLimits, MessageHead, add_content_type, check_length, read_body},
    per_caller::{CallerLimits, PermitKind},
    profiles::ServedPaths,
    request_id::RequestId,
    sessions::{BoundedSessions, attach_session},
};
use crate::{endpoint::PATH, jsonrpc::tool_call::PlainToolCall, mcp::McpHandler};

/// MCP, as rmcp serves it.
pub type McpService = BoxCloneSyncService<Request, Response, Infallible>;

/// What the steps of a request need.
pub struct HttpPipeline {
    /// Answers all messages but calls that end at once.
    pub mcp: McpService,
    /// Answers calls that end at once.
    pub handler: McpHandler,
    /// What each path of MCP serves.
    pub paths: ServedPaths,
    /// Sessions of older clients.
    pub sessions: Arc<BoundedSessions>,
    /// Limits per caller.
    pub limits: Arc<CallerLimits>,
    /// Limits of a body.
    pub bodies: BodyLimits,
    /// Allowed hosts and origins.
    pub names: Arc<HostAllowlist>,
    /// Authentication.
    pub auth: AuthState,
    /// `None` if no other origins are allowed.
    pub cors: Option<CorsLayer>,
    /// Paths of documents, some of which are below that of MCP.
    pub documents: BTreeSet<String>,
    /// Answers all paths but those of MCP.
    pub others: Router,
    /// Once it is cancelled, each response closes its connection.
    pub leaving: CancellationToken,
}

/// Service of an MCP server over HTTP. Clones share the pipeline.
#[derive(Clone)]
pub struct HttpService(Arc<HttpPipeline>);

impl HttpService {
    /// Serves requests by this pipeline.
    pub fn new(pipeline: HttpPipeline) -> Self {
        Self(Arc::new(pipeline))
    }
}

impl Service<Request> for HttpService {
    type Response = Response;
    type Error = Infallible;
    type Future = BoxFuture<'static, std::result::Result<Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<std::result::Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let pipeline = Arc::clone(&self.0);
        async move { Ok(pipeline.answer(request).await) }.boxed()
    }
}

impl HttpPipeline {
    /// Answers a request of any path, and counts the response.
    async fn answer(self: Arc<Self>, mut request: Request) -> Response {
        let id = RequestId::assign(&mut request);
        let method = request.method().clone();
        let mut response = async {
            let routed = AssertUnwindSafe(self.route(request)).catch_unwind().await;
            let response = routed.map_or_else(internal_error, IntoResponse::into_response);
            let status = response.status().as_u16();
            self.auth.meters.http.record_status(status);
            tracing::debug!(%method, status, "answered");
            response
        }
        .instrument(id.span())
        .await;
        id.attach(&mut response);
        if self.leaving.is_cancelled() {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }

    async fn route(self: &Arc<Self>, request: Request) -> Result<Response> {
        check_length(self.bodies, request.headers())?;
        if !self.is_mcp(request.uri().path()) {
            return Ok(unwrap_infallible(self.others.clone().oneshot(request).await));
        }
        self.names.check(request.uri(), request.headers())?;
        let Some(cors) = &self.cors else { return self.serve_caller(request).await };
        let allowed =
            service_fn(async |request| Ok::<_, Infallible>(self.serve_caller(request).await.into_response()));
        Ok(unwrap_infallible(cors.layer(allowed).oneshot(request).await))
    }

    /// Returns true for the path of MCP and those of its profiles.
    fn is_mcp(&self, path: &str) -> bool {
        let below = path.strip_prefix(PATH);
        below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
            && !self.documents.contains(path)
    }

    /// Authenticates a request, and marks its response.
    async fn serve_caller(self: &Arc<Self>, request: Request) -> Result<Response> {
        let request = authenticate(&self.auth, request).await?;
        let mut response = self.serve_message(request).await.into_response();
        response.extensions_mut().insert(KnownCaller);
        Ok(response)
    }

    /// Reads the message of an authenticated caller, within the limits, and passes it to MCP in its session, if it has one.
    async fn serve_message(
        self: &Arc<Self>,
        AuthenticatedRequest { mut request, lifetime, profile }: AuthenticatedRequest,
    ) -> Result<Response> {
        self.limits.check_request(&request)?;
        self.paths.select_profile(&mut request, profile.as_deref())?;
        let (mut request, mut message) = read_body(self.bodies, request).await?;
        let kind = PermitKind::of(request.method(), message.as_ref().map(|message| message.kind));
        let permit = self.limits.admit(&mut request, kind)?;
        let id = message.as_ref().and_then(MessageHead::request_id);
        let (new, call) =
            message.as_mut().map(|message| (message.client.take(), message.call.take())).unwrap_or_default();
        let pipeline = Arc::clone(self);
        // Boxed, since it is large, and would be copied with all futures around it.
        let dispatch =
            move |request, client| async move { pipeline.dispatch(request, call, client).await }.boxed();
        let mut response = attach_session(&self.sessions, request, (id, new), dispatch).await;
        // Calls end by themselves.
        if kind == Some(PermitKind::Stream) {
            response = limit_stream(response, lifetime);
        }
        let response = permit.hold(response);
        Ok(match message {
            Some(message) => message.explain(response),
            None => response,
        })
    }

    /// Answers a message. `client` is that of its session, if the session is awake.
    async fn dispatch(
        &self,
        mut request: Request,
        call: Option<PlainToolCall>,
        client: Option<Arc<InitializeRequestParams>>,
    ) -> Response {
        if let Some(call) = call
            && let Some(response) =
                answer_directly(&self.handler, &mut request, call, client.as_deref()).await
        {
            return response;
        }
        add_content_type(unwrap_infallible(self.mcp.clone().oneshot(request).await))
    }
}

/// Responds to a panic, which ends one request and not the server.
fn internal_error(_: Box<dyn Any + Send>) -> Response {
    (StatusCode::INTERNAL_SERVER_ERROR, "internal server error; see the server's log").into_response()
}

fn unwrap_infallible<T>(answered: std::result::Result<T, Infallible>) -> T {
    answered.unwrap_or_else(|never| match never {})
}
