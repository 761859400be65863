//! What rmcp calls.

use std::{borrow::Cow, sync::Arc, time::Duration};

use loggia_gate::{
    access::{Caller, Origin, Rights},
    call::Gate,
};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CacheScope, CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestMethod,
        CompleteRequestParams, CompleteResult, CustomRequest, CustomResult, DiscoverResult, ErrorCode,
        Extensions, GetTaskParams, GetTaskResult, Implementation, ListPromptsRequestMethod,
        ListPromptsResult, ListResourceTemplatesRequestMethod, ListResourceTemplatesResult,
        ListResourcesRequestMethod, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
        ProtocolVersion, ServerCapabilities, ServerConfig, SubscriptionFilter, Tool, UpdateTaskParams,
    },
    service::{NotificationContext, RequestContext, SubscriptionContext},
};
use tokio::sync::watch;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    elicitation::{self, StateSealer},
    instructions::render_instructions,
    list::ToolListCache,
    list_changes::SubscribedPeers,
    pages, tasks,
};
use crate::config::server::Revision;

/// How long a handshake waits for the first admission, so that its instructions name the facades. Loading from the
/// cache ends well before this; a client does not notice.
const HANDSHAKE_WAIT: Duration = Duration::from_millis(200);

/// How long a client may go by a list without asking again: for the requests of about one turn. Who listens for
/// `list_changed` hears of a reload at once, and clients drop what they keep then; to who does not, a new plugin should not
/// seem to be missing. What is stale meanwhile does no harm: calls are checked against what is served.
const LIST_TTL_MS: u64 = 10_000;

/// One MCP server over a gate. Cheap to clone: HTTP makes one per session or request.
#[derive(Clone)]
pub struct McpHandler {
    pub(super) shared: Arc<HandlerState>,
    /// Who calls, where a request does not bring that along.
    origin: Origin,
    versions: &'static [ProtocolVersion],
}

pub(super) struct HandlerState {
    pub(super) gate: Gate,
    tool_lists: ToolListCache,
    peers: SubscribedPeers,
    /// Listening streams end when this does, so that their clients get a last word.
    draining: CancellationToken,
    /// The calls that are being answered.
    pub(super) calls: TaskTracker,
    /// Seals what goes through clients' hands.
    pub(super) sealer: StateSealer,
}

impl McpHandler {
    /// A server for callers of one origin; over HTTP, each request is its own [`Origin`]'s that the layers before have put
    /// into its extensions. Must be called on a runtime: it tells clients of changes until `draining`.
    pub fn new(gate: Gate, origin: Origin, draining: CancellationToken) -> Self {
        let shared = Arc::new(HandlerState {
            gate,
            tool_lists: ToolListCache::default(),
            peers: SubscribedPeers::default(),
            draining: draining.clone(),
            calls: TaskTracker::new(),
            sealer: StateSealer::default(),
        });
        let telling = Arc::clone(&shared);
        tokio::spawn(async move { telling.peers.notify_changes(telling.gate.catalog(), draining).await });
        Self { shared, origin, versions: ProtocolVersion::KNOWN_VERSIONS }
    }

    /// The same, which offers no newer revision of MCP than this: for clients that claim one which they do not speak.
    #[must_use]
    pub fn with_newest_revision(self, newest: Option<Revision>) -> Self {
        let Some(newest) = newest else { return self };
        let newest = match newest {
            Revision::June2025 => ProtocolVersion::V_2025_06_18,
            Revision::November2025 => ProtocolVersion::V_2025_11_25,
            Revision::July2026 => ProtocolVersion::V_2026_07_28,
        };
        Self { versions: ProtocolVersion::known_up_to(&newest), ..self }
    }

    /// Who sent a request. Asked of each: a session may be used with another token than it was begun with.
    pub(super) fn origin(&self, extensions: &Extensions) -> Origin {
        let parts = extensions.get::<http::request::Parts>();
        parts.and_then(|parts| parts.extensions.get::<Origin>()).unwrap_or(&self.origin).clone()
    }

    /// What the server says of itself. rmcp asks for it with every request, so what takes longer to say is said apart.
    fn server_config(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_tool_list_changed();
        let capabilities = capabilities.enable_tasks().build();
        let name = Implementation::new("loggia", env!("CARGO_PKG_VERSION")).with_title("Loggia");
        let config = ServerConfig::new(capabilities).with_server_info(name);
        // What a handshake falls back to, for a client that asks for what is not offered.
        match self.versions.iter().rev().find(|version| version.has_initialize()) {
            Some(newest) => config.with_protocol_version(newest.clone()),
            None => config,
        }
    }

    /// The calls that are being answered: who ends the server waits for them.
    pub fn calls(&self) -> TaskTracker {
        self.shared.calls.clone()
    }

    /// Changes of the list, told at the moment when clients with a handshake are.
    pub fn list_changes(&self) -> watch::Receiver<()> {
        self.shared.peers.changes()
    }

    /// The gate that calls go through.
    pub fn gate(&self) -> &Gate {
        &self.shared.gate
    }

    async fn wait_for_catalog(&self) {
        let admitted = self.shared.gate.catalog().admitted();
        let _ = tokio::time::timeout(HANDSHAKE_WAIT, admitted).await;
    }

    /// How long what is told of the facades may be kept: not at all while plugins still load, or there are none yet.
    fn ttl_ms(&self) -> u64 {
        let catalog = self.shared.gate.catalog();
        if catalog.is_admitted() && !catalog.snapshot().tools.is_empty() { LIST_TTL_MS } else { 0 }
    }
}

/// Whose cache may keep what is told of the facades: where callers have names they have rights, and what one of them sees
/// must not be shown to another.
fn cache_scope(origin: &Origin) -> CacheScope {
    match origin.caller {
        Caller::Named(_) => CacheScope::Private,
        Caller::Local | Caller::Anonymous => CacheScope::Public,
    }
}

pub(super) type McpContext = RequestContext<RoleServer>;

impl ServerHandler for McpHandler {
    fn get_info(&self) -> ServerConfig {
        self.server_config()
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(self.versions)
    }

    async fn initialize(
        &self,
        request: rmcp::model::InitializeRequestParams,
        context: McpContext,
    ) -> Result<rmcp::model::InitializeResult, ErrorData> {
        let _operation = self.time_operation("initialize");
        self.wait_for_catalog().await;
        context.peer.set_peer_info(request.clone());
        let told = self.negotiate_initialize(&request)?;
        let Origin { rights, .. } = self.origin(&context.extensions);
        Ok(told.with_instructions(render_instructions(&self.shared.gate.catalog().snapshot(), &rights)))
    }

    async fn discover(&self, context: McpContext) -> Result<DiscoverResult, ErrorData> {
        let _operation = self.time_operation("server/discover");
        self.wait_for_catalog().await;
        let origin = self.origin(&context.extensions);
        let (fresh, scope) = (self.ttl_ms(), cache_scope(&origin));
        let instructions = render_instructions(&self.shared.gate.catalog().snapshot(), &origin.rights);
        let config = self.server_config().with_instructions(instructions);
        let told = DiscoverResult::from_server_info(self.versions.to_vec(), config);
        Ok(told.with_ttl_ms(fresh).with_cache_scope(scope))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: McpContext,
    ) -> Result<ListToolsResult, ErrorData> {
        let _operation = self.time_operation("tools/list");
        let catalog = self.shared.gate.catalog();
        catalog.admitted().await;
        let origin = self.origin(&context.extensions);
        let (fresh, listed) = (self.ttl_ms(), self.shared.tool_lists.tools(catalog, &origin.rights));
        let cursor = request.and_then(|request| request.cursor);
        let (tools, next) = pages::page(&listed.1, cursor.as_deref())?;
        let mut told = ListToolsResult::with_all_items(tools);
        told.next_cursor = next;
        Ok(told.with_ttl_ms(fresh).with_cache_scope(cache_scope(&origin)))
    }

    /// For rmcp, which checks the headers by which a proxy may see a call's arguments (`x-mcp-header`) before anybody's
    /// rights are known. Only the `raw` form can ask for such headers; that a call without them is refused is all that
    /// can be learnt without rights of a tool whose name is known.
    fn get_tool(&self, name: &str) -> Option<Tool> {
        let listed = self.shared.tool_lists.tools(self.shared.gate.catalog(), &Rights::all());
        // They are in the order of their names.
        let at = listed.1.binary_search_by(|tool| (*tool.name).cmp(name)).ok()?;
        listed.1.get(at).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: McpContext,
    ) -> Result<CallToolResponse, ErrorData> {
        let operation = self.time_tool_call(&request.name);
        let answer = self.handle_call(request, &context).await;
        operation.finish(&answer);
        answer
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: McpContext,
    ) -> Result<GetTaskResult, ErrorData> {
        let (id, run) = self.find_task(&request.task_id, &context)?;
        Ok(tasks::to_task_result(&id, &run, &self.shared.gate.catalog().snapshot()))
    }

    async fn update_task(&self, request: UpdateTaskParams, context: McpContext) -> Result<(), ErrorData> {
        let (_, run) = self.find_task(&request.task_id, &context)?;
        let sent = request.input_responses.len();
        let answers: Vec<_> = elicitation::parse_answers(request.input_responses).collect();
        if answers.len() < sent {
            let said =
                "an input response takes `action`: accept, decline or cancel, and `content`, an object";
            return Err(ErrorData::invalid_params(said, None));
        }
        for (key, answer) in answers {
            if !run.answer(&key, answer) {
                let key: String = key.chars().take(80).collect();
                return Err(ErrorData::invalid_params(format!("No such question is open: {key:?}"), None));
            }
        }
        Ok(())
    }

    async fn cancel_task(&self, request: CancelTaskParams, context: McpContext) -> Result<(), ErrorData> {
        let (_, run) = self.find_task(&request.task_id, &context)?;
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
        let catalog = self.shared.gate.catalog();
        let mut changes = catalog.changes();
        // Lists wait for the first admission, so what it brings is no news, unless they waited in vain.
        let mut early = !catalog.is_admitted();
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                () = self.shared.draining.cancelled() => return Ok(()),
                admitted = catalog.admitted(), if early => {
                    early = false;
                    if admitted {
                        changes.mark_unchanged();
                    }
                }
                changed = changes.changed(), if !early => {
                    if changed.is_err() || context.sink().notify_tool_list_changed().await.is_err() {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Requests that are none of MCP's, among them, to rmcp, those whose parameters have the wrong form.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: McpContext,
    ) -> Result<CustomResult, ErrorData> {
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
        _: McpContext,
    ) -> Result<ListPromptsResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListPromptsRequestMethod>())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: McpContext,
    ) -> Result<ListResourcesResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListResourcesRequestMethod>())
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: McpContext,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListResourceTemplatesRequestMethod>())
    }

    async fn complete(&self, _: CompleteRequestParams, _: McpContext) -> Result<CompleteResult, ErrorData> {
        Err(ErrorData::method_not_found::<CompleteRequestMethod>())
    }
}
