//! An upstream's tools as a facade.

use std::{collections::BTreeMap, sync::Arc};

use futures_util::future::{BoxFuture, FutureExt};
use loggia_facade::{
    Answer, Call, Facade, Failure, Object, Question, QuestionKind, Reply, Session, Stop, Surface, code, json,
    trace::{ActiveSpan, SpanKind, error_type, names},
};
use rmcp::model::{CallToolRequestParams, InputRequest, InputRequiredResult};
use serde_json::Value;

use crate::{
    adapt::{AdaptedTools, ToolRoute},
    connection::{
        CallEnd, CallerCredential, CallerLinks, OpenConnection, REFUSED, UpstreamLink, UpstreamOutage,
        read_question, read_required_links, write_answer,
    },
    results::{failure_of_error, read_result},
    spec::TransportSpec,
};

/// Rounds of questions that one call may need. rmcp's clients allow as many.
const ROUNDS: usize = 10;
/// Questions in one round.
const QUESTIONS: usize = 8;
/// Code of the error that requires links to be opened before the call (2025-11-25).
const LINKS_REQUIRED: i32 = -32042;
/// Bytes of a result that is read on the I/O runtime.
const SHORT: usize = 16 * 1024;

/// Response of an upstream to one request of a call.
enum ToolResponse {
    /// Its result.
    Result(Value),
    /// Links that a person has to open first.
    LinksRequired(Vec<Question>),
}

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
        if self.is_io_bound() && json::is_longer_than(&result, SHORT) {
            call.session.leave_io().await;
        }
        Ok(read_result(&result, &self.tools)?)
    }

    /// Calls a tool: once more with the answers whenever it asks for input (2026-07-28), and once more after a person has
    /// opened the links that it requires (2025-11-25).
    async fn call_tool(
        &self,
        connection: &OpenConnection,
        route: &ToolRoute,
        params: Object,
        session: &Session,
    ) -> Result<Value, Failure> {
        let arguments = route.arguments(params);
        let mut params = CallToolRequestParams::new(route.tool.clone());
        let mut has_opened_links = false;
        for _ in 0..ROUNDS {
            let mut request = params.clone();
            request.arguments = Some(arguments.clone());
            // In 2026-07-28 the server decides, and only for clients that take tasks.
            let as_task = route.as_task && !connection.is_stateless();
            let result = match self.send(connection, request, as_task, session).await? {
                ToolResponse::Result(result) => result,
                ToolResponse::LinksRequired(_) if has_opened_links => return Err(links_unfinished()),
                ToolResponse::LinksRequired(links) => {
                    open_links(links, session).await?;
                    has_opened_links = true;
                    continue;
                }
            };
            let is_final = result.get("resultType").and_then(Value::as_str) != Some("input_required");
            if is_final || !connection.is_stateless() {
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
        mut params: CallToolRequestParams,
        as_task: bool,
        session: &Session,
    ) -> Result<ToolResponse, Failure> {
        let span = self.begin_span(&params.name, session);
        // The upstream continues the trace.
        if let Some(context) = span.as_parent().context() {
            let meta = params.meta.get_or_insert_default();
            meta.set_traceparent(context.traceparent());
            if let Some(state) = &context.state {
                meta.set_tracestate(state.to_string());
            }
        }
        let response = self.exchange(connection, params, as_task, session).await;
        span.finish(match &response {
            Ok(ToolResponse::Result(result)) => is_error(result).then_some(names::TOOL_ERROR),
            Ok(ToolResponse::LinksRequired(_)) => None,
            Err(failure) => Some(error_type(&failure.code)),
        });
        response
    }

    /// Begins the span of a request to the upstream.
    fn begin_span(&self, tool: &str, session: &Session) -> ActiveSpan {
        const METHOD: &str = "tools/call";
        let mut span = session.span().begin(SpanKind::Client, || names::request_span(METHOD, Some(tool)));
        if span.is_recorded() {
            span.set(names::MCP_METHOD, METHOD);
            span.set(names::TOOL, tool);
            span.set(names::OPERATION, names::EXECUTE_TOOL);
            let is_pipe = matches!(self.link.spec().transport, TransportSpec::Stdio(_));
            span.set(names::TRANSPORT, if is_pipe { names::PIPE } else { names::TCP });
        }
        span
    }

    async fn exchange(
        &self,
        connection: &OpenConnection,
        params: CallToolRequestParams,
        as_task: bool,
        session: &Session,
    ) -> Result<ToolResponse, Failure> {
        let called = async {
            match as_task {
                true => connection.call_as_task(params, session).await,
                false => connection.call(params, session).await,
            }
        };
        let called = match self.link.spec().limits.call {
            None => called.await,
            Some(limit) => tokio::time::timeout(limit, called).await.map_err(|_| {
                let text = format!("the upstream did not answer within {} s", limit.as_secs());
                Failure::new(code::TIMED_OUT, text)
                    .hint("The work may still have been done: look before you try again.")
            })?,
        };
        match called {
            Ok(result) => Ok(ToolResponse::Result(result)),
            Err(CallEnd::Error { code, message, data }) => {
                let links = if code == LINKS_REQUIRED { read_required_links(data.as_ref()) } else { None };
                links.map(ToolResponse::LinksRequired).ok_or_else(|| failure_of_error(code, &message))
            }
            Err(CallEnd::LinkNotOpened(failure)) => Err(*failure),
            Err(CallEnd::Closed(reason)) => Err(Failure::new(
                code::UNAVAILABLE,
                format!("the upstream of `{}` went away during the call: {reason}", self.tools.surface.name),
            )
            .hint("The work may have been done: look before you try again. The next call starts the upstream again.")),
        }
    }

    /// Asks every question of one round.
    async fn answers(
        &self,
        requests: BTreeMap<String, InputRequest>,
        session: &Session,
    ) -> Result<Option<BTreeMap<String, Value>>, Failure> {
        if requests.len() > QUESTIONS {
            return Err(refused(&format!("it asked more than {QUESTIONS} questions at once")));
        }
        let mut answers = BTreeMap::new();
        for (name, request) in requests {
            let InputRequest::Elicitation(request) = request else {
                return Err(refused("the host answers forms and links only"));
            };
            let question = read_question(request.params).map_err(|reason| refused(&reason))?;
            let answer = ask(question, session).await?;
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

fn is_error(result: &Value) -> bool {
    result.get("isError") == Some(&Value::Bool(true))
}

fn refused(reason: &str) -> Failure {
    Failure::new(code::INTERNAL, format!("the upstream asked for input, but {reason}"))
}

/// Asks a question of the upstream. A link that may not be shown is the upstream's mistake, and not the caller's.
async fn ask(question: Question, session: &Session) -> Result<Answer, Failure> {
    let is_link = matches!(question.kind, QuestionKind::Link { .. });
    session.elicit(question).await.map_err(|failure| {
        if is_link && failure.code == code::INVALID_PARAMS { refused(&failure.message) } else { failure }
    })
}

/// Asks the person to open all links.
async fn open_links(links: Vec<Question>, session: &Session) -> Result<(), Failure> {
    if links.len() > QUESTIONS {
        return Err(refused(&format!("it asked more than {QUESTIONS} questions at once")));
    }
    let mut denied: Option<Failure> = None;
    for link in links {
        match ask(link, session).await {
            Ok(Answer::Accepted(_)) => {}
            Ok(Answer::Declined | Answer::Cancelled) => {
                let message = "access denied: the person did not open the link that the upstream requires";
                return Err(Failure::new(code::DENIED, message)
                    .hint("do not try again unless the person asks for it"));
            }
            // A client that opens no links has to pass all of them on.
            Err(failure) if failure.code == code::DENIED => match &mut denied {
                None => denied = Some(failure),
                Some(first) if first.message != failure.message => {
                    first.message = format!("{}; {}", first.message, failure.message);
                }
                Some(_) => {}
            },
            Err(failure) => return Err(failure),
        }
    }
    denied.map_or(Ok(()), Err)
}

/// The failure of a call whose links are opened, while the person is not done there. The call does not wait for
/// `notifications/elicitation/complete`: it would use up its time and hold its permits meanwhile.
fn links_unfinished() -> Failure {
    let message = "access denied: the person has opened the upstream's link, but is not done there yet";
    Failure::new(code::DENIED, message).hint("once they are done there, make the same call again")
}

impl Facade for UpstreamFacade {
    fn surface(&self) -> &Arc<Surface> {
        &self.tools.surface
    }

    fn dispatch(self: Arc<Self>, call: Call) -> BoxFuture<'static, Result<Reply, Stop>> {
        self.run(call, None)
    }

    fn is_io_bound(&self) -> bool {
        // rmcp's client for HTTP parses whole responses wherever it runs.
        matches!(self.link.spec().transport, TransportSpec::Stdio(_))
    }
}
