//! What rmcp calls.

use std::{
    collections::BTreeSet,
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::{FutureExt, StreamExt, future::BoxFuture, stream::FuturesUnordered};
use loggia_facade::{Answer, Command, Envelope, Failure, Progress, code};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams,
        CompleteRequestMethod, CompleteRequestParams, CompleteResult, ContentBlock, CustomRequest,
        CustomResult, DiscoverResult, ErrorCode, GetTaskParams, GetTaskResult, Implementation,
        ListPromptsRequestMethod, ListPromptsResult, ListResourceTemplatesRequestMethod,
        ListResourceTemplatesResult, ListResourcesRequestMethod, ListResourcesResult, ListToolsResult,
        PaginatedRequestParams, ProgressNotificationParam, ServerCapabilities, ServerConfig,
        SubscriptionFilter, Tool, UpdateTaskParams,
    },
    service::{NotificationContext, RequestContext, SubscriptionContext},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    ask::{self, Parked, Sealer, Way},
    list::{Listed, instructions},
    news::Peers,
    result::result,
    tasks,
};
use crate::gate::{Event, Exec, Gate, Look, Origin, RunId};

/// How long a handshake waits for the first admission, so that its instructions name the facades. Loading from the
/// cache ends well before this; a client does not notice.
const HANDSHAKE: Duration = Duration::from_millis(200);

/// One MCP server over a gate. Cheap to clone: HTTP makes one per session or request.
#[derive(Clone)]
pub struct Handler {
    shared: Arc<Shared>,
    origin: Origin,
}

struct Shared {
    gate: Gate,
    listed: Listed,
    peers: Peers,
    /// Listening streams end when this does, so that their clients get a last word.
    draining: CancellationToken,
    /// The calls that are being answered.
    calls: TaskTracker,
    /// Seals what goes through clients' hands.
    sealer: Sealer,
}

impl Handler {
    /// A server for callers of one origin. Must be called on a runtime: it tells clients of changes until `draining`.
    pub fn new(gate: Gate, origin: Origin, draining: CancellationToken) -> Self {
        let shared = Arc::new(Shared {
            gate,
            listed: Listed::default(),
            peers: Peers::default(),
            draining: draining.clone(),
            calls: TaskTracker::new(),
            sealer: Sealer::default(),
        });
        let telling = Arc::clone(&shared);
        tokio::spawn(async move { telling.peers.tell(telling.gate.catalog(), draining).await });
        Self { shared, origin }
    }

    /// The calls that are being answered: who ends the server waits for them.
    pub fn calls(&self) -> TaskTracker {
        self.shared.calls.clone()
    }

    /// The gate that calls go through.
    pub fn gate(&self) -> &Gate {
        &self.shared.gate
    }

    fn result(&self, envelope: Envelope) -> CallToolResult {
        result(envelope, &self.shared.gate.catalog().snapshot())
    }

    /// Begins a call.
    async fn begun(&self, request: CallToolRequestParams, origin: Origin) -> Result<Exec, ErrorData> {
        let catalog = self.shared.gate.catalog();
        if !catalog.snapshot().knows(&request.name) {
            // A client may call before it lists, while plugins still load.
            catalog.admitted().await;
        }
        let arguments = request.arguments.unwrap_or_default();
        let exec = self.shared.gate.call_tool(origin, &request.name, arguments);
        exec.ok_or_else(|| unknown_tool(&request.name, &catalog.snapshot().names()))
    }

    /// Takes up a call again that asked for answers; none where the request is a new call, or one that only asks about a
    /// run again.
    fn resumed(&self, request: &CallToolRequestParams, origin: &Origin) -> Option<Result<Exec, Failure>> {
        let state = request.request_state.as_deref()?;
        let gone = || {
            let said = "unavailable: the question is no longer open";
            Failure::new(code::UNAVAILABLE, said).hint("make the call again, without `requestState`")
        };
        let Some(parked) = self.shared.sealer.open(state, &origin.caller, &request.name) else {
            return Some(Err(gone()));
        };
        let answers = ask::answers(request.input_responses.clone().unwrap_or_default());
        if parked.watched {
            let run = self.shared.gate.look(&parked.run(), &origin.caller).ok()?;
            answers.for_each(|(key, answer)| _ = run.answer(&key, answer));
            return None;
        }
        let exec = self.shared.gate.attach(&parked.run(), &origin.caller).map_err(|_| gone());
        Some(exec.inspect(|exec| answers.for_each(|(key, answer)| _ = exec.answer(&key, answer))))
    }

    /// Follows a call for as long as its client waits.
    async fn follow(
        &self,
        mut exec: Exec,
        way: Way,
        origin: &Origin,
        tool: &str,
        context: &Context,
    ) -> Result<CallToolResponse, ErrorData> {
        let mut reporter = Reporter::new(context);
        let mut asking: FuturesUnordered<BoxFuture<'static, (String, Answer)>> = FuturesUnordered::new();
        let mut asked = BTreeSet::new();
        let soft = exec.patience();
        let patience = async {
            match soft {
                Some(patience) => tokio::time::sleep(patience).await,
                None => std::future::pending().await,
            }
        };
        tokio::pin!(patience);
        // Who does not want to wait is not made to.
        let waits = soft != Some(Duration::ZERO);
        loop {
            let event = tokio::select! {
                biased;
                event = exec.next(), if waits => event,
                Some((key, answer)) = asking.next(), if !asking.is_empty() => {
                    exec.answer(&key, answer);
                    continue;
                }
                // Dropping the call ends it; rmcp drops the answer to a cancelled request.
                () = context.ct.cancelled() => {
                    return Ok(cancelled().into());
                }
                // A person who thinks is not hurried: the answer would be lost.
                () = &mut patience, if asking.is_empty() => {
                    return Ok(match exec.part() {
                        Some(envelope) => self.result(envelope).into(),
                        None => cancelled().into(),
                    });
                }
            };
            match event {
                Event::Done(envelope) => return Ok(self.result(*envelope).into()),
                Event::Progress(progress) => reporter.tell(context, progress).await,
                Event::Asks(asks) => match way {
                    Way::None => match exec.watched() {
                        // Its questions are told with its status.
                        Some(_) => return Ok(exec.part().map_or_else(cancelled, |e| self.result(e)).into()),
                        None => exec.decline(&asks),
                    },
                    Way::Request => {
                        for (key, question) in asks {
                            if asked.insert(key.clone()) {
                                let peer = context.peer.clone();
                                asking.push(async move { (key, ask::ask(peer, question).await) }.boxed());
                            }
                        }
                    }
                    Way::Again => {
                        let watched = exec.watched();
                        let is_watched = watched.is_some();
                        let Some(id) = watched.or_else(|| exec.detach()) else {
                            return Ok(cancelled().into());
                        };
                        let parked = Parked::new(&id, is_watched);
                        let result = self.shared.sealer.asks(&parked, &asks, &origin.caller, tool);
                        return Ok(result.into());
                    }
                },
            }
        }
    }

    fn task(&self, id: &str) -> Result<(RunId, Look), ErrorData> {
        let id = RunId::from_client(id);
        let run = self.shared.gate.look(&id, &self.origin.caller).map_err(|_| tasks::unknown())?;
        Ok((id, run))
    }

    async fn handshake(&self) {
        let admitted = self.shared.gate.catalog().admitted();
        let _ = tokio::time::timeout(HANDSHAKE, admitted).await;
    }
}

type Context = RequestContext<RoleServer>;

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_tool_list_changed();
        let capabilities = capabilities.enable_tasks().build();
        let name = Implementation::new("loggia", env!("CARGO_PKG_VERSION")).with_title("Loggia");
        let snapshot = self.shared.gate.catalog().snapshot();
        ServerConfig::new(capabilities).with_server_info(name).with_instructions(instructions(&snapshot))
    }

    async fn initialize(
        &self,
        request: rmcp::model::InitializeRequestParams,
        context: Context,
    ) -> Result<rmcp::model::InitializeResult, ErrorData> {
        self.handshake().await;
        context.peer.set_peer_info(request.clone());
        self.negotiate_initialize(&request)
    }

    async fn discover(&self, _: Context) -> Result<DiscoverResult, ErrorData> {
        self.handshake().await;
        let versions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(versions, self.get_info()))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        let catalog = self.shared.gate.catalog();
        catalog.admitted().await;
        let listed = self.shared.listed.tools(catalog);
        let tools = listed.1.clone();
        Ok(ListToolsResult::with_all_items(tools).with_ttl_ms(0).with_cache_scope(CacheScope::Private))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let listed = self.shared.listed.tools(self.shared.gate.catalog());
        listed.1.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        let _counted = self.shared.calls.token();
        let way = Way::of(&context);
        let origin = self.origin.clone().asking(way != Way::None);
        let tool = request.name.clone();
        let exec = match self.resumed(&request, &origin) {
            Some(Ok(exec)) => exec,
            Some(Err(failure)) => {
                let envelope = Envelope::new(Command { key: "action", name: None }, Err(failure));
                return Ok(self.result(envelope).into());
            }
            None => self.begun(request, origin.clone()).await?,
        };
        let tasks = context.client_capabilities().is_some_and(|capabilities| capabilities.supports_tasks());
        if tasks && exec.may_become_run() {
            return Ok(match exec.part_with_handle() {
                Some(id) => tasks::created(&id).into(),
                None => cancelled().into(),
            });
        }
        self.follow(exec, way, &origin, &tool, &context).await
    }

    async fn get_task(&self, request: GetTaskParams, _: Context) -> Result<GetTaskResult, ErrorData> {
        let (id, run) = self.task(&request.task_id)?;
        Ok(tasks::told(&id, &run, &self.shared.gate.catalog().snapshot()))
    }

    async fn update_task(&self, request: UpdateTaskParams, _: Context) -> Result<(), ErrorData> {
        let (_, run) = self.task(&request.task_id)?;
        for (key, answer) in ask::answers(request.input_responses) {
            if !run.answer(&key, answer) {
                let key: String = key.chars().take(80).collect();
                return Err(ErrorData::invalid_params(format!("No such question is open: {key:?}"), None));
            }
        }
        Ok(())
    }

    async fn cancel_task(&self, request: CancelTaskParams, _: Context) -> Result<(), ErrorData> {
        let (_, run) = self.task(&request.task_id)?;
        run.cancel();
        Ok(())
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.shared.peers.add(context.peer);
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.intersection(&SubscriptionFilter::builder().tools_list_changed().build()))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.shared.gate.catalog().changes();
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                () = self.shared.draining.cancelled() => return Ok(()),
                changed = changes.changed() => {
                    if changed.is_err() || context.sink().notify_tool_list_changed().await.is_err() {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Requests that are none of MCP's, among them, to rmcp, those whose parameters have the wrong form.
    async fn on_custom_request(&self, request: CustomRequest, _: Context) -> Result<CustomResult, ErrorData> {
        if request.method == "tools/call" {
            let said = "tools/call takes `name`, a string, and `arguments`, an object";
            return Err(ErrorData::invalid_params(said, None));
        }
        let method: String = request.method.chars().take(80).collect();
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("Method not found: {method}"), None))
    }

    // rmcp's defaults answer these with an empty success, which claims capabilities that are not there.

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListPromptsRequestMethod>())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListResourcesRequestMethod>())
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListResourceTemplatesRequestMethod>())
    }

    async fn complete(&self, _: CompleteRequestParams, _: Context) -> Result<CompleteResult, ErrorData> {
        Err(ErrorData::method_not_found::<CompleteRequestMethod>())
    }
}

/// What a request is answered with whose caller is gone.
fn cancelled() -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text("cancelled")])
}

fn unknown_tool(name: &str, names: &str) -> ErrorData {
    let name: String = name.chars().take(80).collect();
    ErrorData::invalid_params(format!("Unknown tool: {name:?}. Available tools: {names}."), None)
}

/// Progress notifications of one request: only where the client gave a token, and only upwards, as MCP wants them.
struct Reporter {
    token: Option<rmcp::model::ProgressToken>,
    last: f64,
    /// When the next may be told.
    rests: Instant,
}

/// A plugin may report as often as it likes; a client is told at most so often.
const PAUSE: Duration = Duration::from_millis(20);

impl Reporter {
    fn new(context: &Context) -> Self {
        Self { token: context.meta.get_progress_token(), last: f64::NEG_INFINITY, rests: Instant::now() }
    }

    async fn tell(&mut self, context: &Context, progress: Progress) {
        let now = Instant::now();
        let worth = progress.done > self.last && now >= self.rests;
        let Some(token) = self.token.clone().filter(|_| worth) else { return };
        (self.last, self.rests) = (progress.done, now + PAUSE);
        let mut told = ProgressNotificationParam::new(token, progress.done);
        if let Some(total) = progress.total {
            told = told.with_total(total);
        }
        if let Some(message) = progress.message {
            told = told.with_message(message);
        }
        // A client that is gone is noticed by the request's own token.
        let _ = context.peer.notify_progress(told).await;
    }
}
