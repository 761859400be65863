//! An upstream's tools as a facade.

use std::{collections::BTreeMap, sync::Arc};

use futures_util::future::{BoxFuture, FutureExt};
use loggia_facade::{Answer, Call, Facade, Failure, Object, Reply, Session, Stop, Surface, code};
use rmcp::model::{CallToolRequestParams, InputRequest, InputRequiredResult};
use serde_json::Value;

use crate::{
    adapt::{AdaptedTools, ToolRoute},
    connection::{
        CallEnd, CallerCredential, CallerLinks, OpenConnection, REFUSED, UpstreamLink, UpstreamOutage,
        read_form, write_answer,
    },
    results::{failure_of_error, read_result},
};

/// Rounds of questions that one call may need. rmcp's clients allow as many.
const ROUNDS: usize = 10;
/// Questions in one round.
const QUESTIONS: usize = 8;

/// The tools of one upstream, as they were listed once. A changed list is a new facade over the same connection.
pub struct UpstreamFacade {
    tools: AdaptedTools,
    link: Arc<UpstreamLink>,
    /// Connections of single callers, if calls carry their credentials.
    callers: Option<Arc<CallerLinks>>,
}

impl UpstreamFacade {
    pub(crate) fn new(
        tools: AdaptedTools,
        link: Arc<UpstreamLink>,
        callers: Option<Arc<CallerLinks>>,
    ) -> Self {
        Self { tools, link, callers }
    }

    /// The surface with its routes, and the problems that the operator should know.
    pub fn tools(&self) -> &AdaptedTools {
        &self.tools
    }

    /// Whether calls carry their caller's own credential.
    pub fn needs_credential(&self) -> bool {
        self.callers.is_some()
    }

    /// Answers a call with its caller's own credential.
    pub fn dispatch_with(
        self: Arc<Self>,
        call: Call,
        credential: CallerCredential,
    ) -> BoxFuture<'static, Result<Reply, Stop>> {
        self.run(call, Some(credential))
    }

    fn run(
        self: Arc<Self>,
        call: Call,
        credential: Option<CallerCredential>,
    ) -> BoxFuture<'static, Result<Reply, Stop>> {
        async move {
            let session = call.session.clone();
            tokio::select! {
                biased;
                () = session.cancelled() => Err(Stop::Cancelled),
                reply = self.call(call, credential) => reply,
            }
        }
        .boxed()
    }

    async fn call(&self, call: Call, credential: Option<CallerCredential>) -> Result<Reply, Stop> {
        let Some(route) = self.tools.routes.get(&call.action) else {
            return Err(Failure::new(code::NOT_FOUND, format!("there is no action `{}`", call.action)).into());
        };
        let caller = match (&self.callers, credential) {
            (Some(callers), Some(credential)) => Some(callers.link(&credential)),
            (None, None) => None,
            // The host supplies a credential where one is needed; an operator's connection must not stand in for it.
            _ => return Err(Failure::new(code::DENIED, "the call has no credential of its caller").into()),
        };
        let link = caller.as_ref().map_or(&self.link, |caller| caller.link());
        let connection =
            link.connection().await.map_err(|outage| self.unavailable(&outage, caller.is_some()))?;
        let result = self.call_tool(&connection, route, call.params, &call.session).await?;
        Ok(read_result(&result, &self.tools)?)
    }

    /// Calls a tool, and once more with the answers whenever it asks for input (2026-07-28).
    async fn call_tool(
        &self,
        connection: &OpenConnection,
        route: &ToolRoute,
        params: Object,
        session: &Session,
    ) -> Result<Value, Failure> {
        let arguments = route.arguments(params);
        let mut params = CallToolRequestParams::new(route.tool.clone());
        if !connection.is_stateless() {
            params.arguments = Some(arguments);
            return self.send(connection, params, session).await;
        }
        for _ in 0..ROUNDS {
            params.arguments = Some(arguments.clone());
            let result = self.send(connection, params, session).await?;
            if result.get("resultType").and_then(Value::as_str) != Some("input_required") {
                return Ok(result);
            }
            let Ok(required) = serde_json::from_value::<InputRequiredResult>(result) else {
                return Err(Failure::new(code::INTERNAL, "the upstream's request for input is malformed"));
            };
            params = CallToolRequestParams::new(route.tool.clone());
            params.request_state = required.request_state;
            params.input_responses =
                self.answers(required.input_requests.unwrap_or_default(), session).await?;
        }
        Err(Failure::new(code::INTERNAL, format!("the upstream asked for input more than {ROUNDS} times")))
    }

    async fn send(
        &self,
        connection: &OpenConnection,
        params: CallToolRequestParams,
        session: &Session,
    ) -> Result<Value, Failure> {
        let called = connection.call(params, session);
        let called = match self.link.spec().limits.call {
            None => called.await,
            Some(limit) => tokio::time::timeout(limit, called).await.map_err(|_| {
                let text = format!("the upstream did not answer within {} s", limit.as_secs());
                Failure::new(code::TIMED_OUT, text)
                    .hint("The work may still have been done: look before you try again.")
            })?,
        };
        called.map_err(|end| match end {
            CallEnd::Error { code, message } => failure_of_error(code, &message),
            CallEnd::Closed(reason) => Failure::new(
                code::UNAVAILABLE,
                format!("the upstream of `{}` went away during the call: {reason}", self.tools.surface.name),
            )
            .hint("The work may have been done: look before you try again. The next call starts the upstream again."),
        })
    }

    /// Asks every question of one round.
    async fn answers(
        &self,
        requests: BTreeMap<String, InputRequest>,
        session: &Session,
    ) -> Result<Option<BTreeMap<String, Value>>, Failure> {
        let refused = |reason: &str| {
            Failure::new(code::INTERNAL, format!("the upstream asked for input, but {reason}"))
        };
        if requests.len() > QUESTIONS {
            return Err(refused(&format!("it asked more than {QUESTIONS} questions at once")));
        }
        let mut answers = BTreeMap::new();
        for (name, request) in requests {
            let InputRequest::Elicitation(request) = request else {
                return Err(refused("the host answers forms only"));
            };
            let form = read_form(request.params).map_err(|reason| refused(&reason))?;
            let answer: Answer = session.elicit(form).await?;
            let answer =
                serde_json::to_value(write_answer(answer)).map_err(|error| refused(&error.to_string()))?;
            answers.insert(name, answer);
        }
        Ok((!answers.is_empty()).then_some(answers))
    }

    fn unavailable(&self, outage: &UpstreamOutage, is_caller: bool) -> Stop {
        let name = &self.tools.surface.name;
        if is_caller && outage.reason.starts_with(REFUSED) {
            let failure = Failure::new(code::DENIED, format!("the upstream of `{name}`: {}", outage.reason));
            return failure
                .hint("The caller's credential is wrong or has expired: store another one.")
                .into();
        }
        outage.to_failure(name).into()
    }
}

impl Facade for UpstreamFacade {
    fn surface(&self) -> &Arc<Surface> {
        &self.tools.surface
    }

    fn dispatch(self: Arc<Self>, call: Call) -> BoxFuture<'static, Result<Reply, Stop>> {
        self.run(call, None)
    }
}
