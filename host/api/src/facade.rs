//! An API as a facade.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::{BoxFuture, FutureExt};
use http_body_util::{BodyExt, Full};
use loggia_egress::{CallerKey, EgressClient, EgressMode, HttpTapes, RequestTarget, SendError, SendTimeouts};
use loggia_facade::{
    Call, Detail, Effect, Facade, Failure, Reply, Stop, Surface, code,
    trace::{RequestPeer, begin_http, end_http},
};

use crate::{
    adapt::AdaptedApi,
    cursor::CursorKey,
    request::build_request,
    response::{ApiResponse, ResponseBudget, read_response},
};

/// Bytes of data in a reply with `detail: minimal`: a glance.
const MINIMAL: usize = 8 << 10;
/// Bytes of data in a reply with `detail: standard`: some 15,000 tokens, which every client takes.
const STANDARD: usize = 48 << 10;
/// Bytes beside the data: message, cursor, names.
const MARGIN: usize = 4 << 10;

/// The operations of one API. Requests pass the egress, whose grants are made by [`api_grants`](crate::api_grants).
pub struct ApiFacade {
    api: AdaptedApi,
    client: EgressClient,
    /// Answers or keeps the requests of calls, if anything does.
    tapes: Option<Arc<dyn HttpTapes>>,
    key: CursorKey,
    /// Bytes of a result: `limits.result` of the policy.
    result: usize,
}

impl ApiFacade {
    /// Serves an API. Redirects are not followed, so the client's limits should allow none.
    pub fn new(api: AdaptedApi, client: EgressClient, key: CursorKey, result: usize) -> Self {
        Self { api, client, tapes: None, key, result }
    }

    /// Sets what answers or keeps the requests of calls.
    #[must_use]
    pub fn with_tapes(mut self, tapes: Option<Arc<dyn HttpTapes>>) -> Self {
        self.tapes = tapes;
        self
    }

    /// The API as it was adapted.
    pub fn api(&self) -> &AdaptedApi {
        &self.api
    }

    async fn call(&self, call: Call) -> Result<Reply, Stop> {
        let Some(route) = self.api.routes.get(&call.action) else {
            return Err(Failure::new(code::NOT_FOUND, format!("there is no action `{}`", call.action)).into());
        };
        let operation = &route.operation;
        let scope = call.scope.as_ref();
        let parts = route.parts(call.params);
        let page = match &parts.cursor {
            Some(cursor) => self.key.open(&call.action, scope, cursor)?,
            None => Vec::new(),
        };
        let request = build_request(operation, self.api.description.server_of(operation), parts, &page)?;
        let request =
            request.map(|bytes| Full::new(Bytes::from(bytes)).map_err(|never| match never {}).boxed_unsync());
        let mode = match operation.method.effect() {
            Effect::Read => EgressMode::Reads,
            Effect::Write | Effect::Destructive => EgressMode::Writes,
        };
        let caller = scope.map(|scope| CallerKey(scope.0));
        let span = begin_http(&call.session.span(), request.method().as_str(), || {
            let RequestTarget { scheme, host, port } = RequestTarget::parse(request.uri()).ok()?;
            Some(RequestPeer { scheme: scheme.to_string(), host: host.to_string(), port })
        });
        let tape = self.tapes.as_ref().and_then(|tapes| tapes.tape(&call.id.0));
        let response = self.client.call_for(caller, mode, tape).send(request, SendTimeouts::default()).await;
        end_http(span, response.as_ref().map(|response| response.status().as_u16()).map_err(SendError::kind));
        let (head, body) = response.map_err(|error| self.to_failure(&error))?.into_parts();
        // The egress bounds the size and the time of the body.
        let body = body.collect().await.map_err(|error| self.to_failure(&error))?.to_bytes();
        let response = ApiResponse { status: head.status, headers: head.headers, body: body.into() };
        let result = self.result.saturating_sub(MARGIN);
        let data = match call.detail {
            Detail::Minimal => MINIMAL.min(result),
            Detail::Standard => STANDARD.min(result),
            Detail::Full => result,
        };
        let budget = ResponseBudget { data, result, has_more: data < result };
        let seal = |query: &[(String, String)]| self.key.seal(&call.action, scope, query);
        Ok(read_response(operation, &response, budget, route.has_cursor, seal)?)
    }

    fn to_failure(&self, error: &SendError) -> Failure {
        let name = &self.api.surface.name;
        let (code, hint) = match error {
            SendError::Denied(_) => (code::DENIED, "The policy decides which requests may be sent."),
            SendError::Timeout(_) => {
                (code::TIMED_OUT, "The work may still have been done: look before you try again.")
            }
            SendError::TooLarge { .. } => {
                (code::UNAVAILABLE, "Ask for less at once: a smaller page, a narrower filter, fewer fields.")
            }
            SendError::Secret(_) => (code::DENIED, "Only the operator can correct the credential."),
            error if error.can_retry() => (code::UNAVAILABLE, "Trying again later may help."),
            _ => (code::UNAVAILABLE, "The same call may fail again."),
        };
        if let SendError::Credential { why, .. } = error {
            let failure = Failure::new(code::DENIED, format!("the API `{name}` cannot be called: {error}"));
            return failure.hint(why.remedy(name));
        }
        Failure::new(code, format!("the API `{name}` cannot be reached: {error}")).hint(hint)
    }
}

impl std::fmt::Debug for ApiFacade {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ApiFacade").field("name", &self.api.surface.name).finish_non_exhaustive()
    }
}

impl Facade for ApiFacade {
    fn surface(&self) -> &Arc<Surface> {
        &self.api.surface
    }

    fn dispatch(self: Arc<Self>, call: Call) -> BoxFuture<'static, Result<Reply, Stop>> {
        async move {
            let session = call.session.clone();
            tokio::select! {
                biased;
                () = session.cancelled() => Err(Stop::Cancelled),
                reply = self.call(call) => reply,
            }
        }
        .boxed()
    }
}
