//! What rmcp calls.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use loggia_facade::{Input, Progress, Request};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestMethod,
        CompleteRequestParams, CompleteResult, ContentBlock, CustomRequest, CustomResult, DiscoverResult,
        ErrorCode, Implementation, ListPromptsRequestMethod, ListPromptsResult,
        ListResourceTemplatesRequestMethod, ListResourceTemplatesResult, ListResourcesRequestMethod,
        ListResourcesResult, ListToolsResult, PaginatedRequestParams, ProgressNotificationParam,
        ServerCapabilities, ServerConfig, SubscriptionFilter, Tool,
    },
    service::{NotificationContext, RequestContext, SubscriptionContext},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    list::{Listed, instructions},
    news::Peers,
    result::result,
};
use crate::gate::{Event, Gate, Origin};

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
        });
        let telling = Arc::clone(&shared);
        tokio::spawn(async move { telling.peers.tell(telling.gate.catalog(), draining).await });
        Self { shared, origin }
    }

    /// The calls that are being answered: who ends the server waits for them.
    pub fn calls(&self) -> TaskTracker {
        self.shared.calls.clone()
    }

    async fn handshake(&self) {
        let admitted = self.shared.gate.catalog().admitted();
        let _ = tokio::time::timeout(HANDSHAKE, admitted).await;
    }
}

type Context = RequestContext<RoleServer>;

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build();
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
        let catalog = self.shared.gate.catalog();
        if catalog.slot(&request.name).is_none() {
            // A client may call before it lists, while plugins still load.
            catalog.admitted().await;
            if catalog.slot(&request.name).is_none() {
                return Err(unknown_tool(&request.name, &catalog.snapshot().names()));
            }
        }
        let input = Input::Arguments(request.arguments.unwrap_or_default());
        let facade = request.name.into_owned();
        let request = Request { facade, input, timeout: None, idempotency_key: None };
        let mut exec = self.shared.gate.start(self.origin.clone(), request);
        let mut reporter = Reporter::new(&context);
        loop {
            let event = tokio::select! {
                biased;
                event = exec.next() => event,
                // Dropping the call ends it; rmcp drops the answer to a cancelled request.
                () = context.ct.cancelled() => return Ok(CallToolResult::error(vec![ContentBlock::text("cancelled")]).into()),
            };
            match event {
                Event::Done(envelope) => return Ok(result(*envelope).into()),
                Event::Progress(progress) => reporter.tell(&context, progress).await,
                // No plugin can be granted questions yet.
                Event::Asks(asks) => exec.decline(&asks),
            }
        }
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
