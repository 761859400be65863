//! The implementation of rmcp's `ServerHandler`.

use std::{borrow::Cow, sync::Arc, time::Duration};

use loggia_facade::RootSource;
use loggia_gate::{
    access::{CallOrigin, Caller, CallerRights},
    call::Gate,
};
use loggia_policy::settings::Revision;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CacheScope, CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestParams,
        CompleteResult, CustomRequest, CustomResult, DiscoverResult, ErrorCode, GetPromptRequestParams,
        GetPromptResponse, GetTaskParams, GetTaskResult, Implementation, ListPromptsResult,
        ListResourceTemplatesRequestMethod, ListResourceTemplatesResult, ListResourcesRequestMethod,
        ListResourcesResult, ListToolsResult, PaginatedRequestParams, ProtocolVersion, ServerCapabilities,
        ServerConfig, SubscriptionFilter, Tool, UpdateTaskParams,
    },
    service::{NotificationContext, RequestContext, SubscriptionContext},
};
use tokio::sync::watch;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    elicitation::StateSealer,
    instructions::render_instructions,
    list::ToolListCache,
    list_changes::SubscribedPeers,
    pages,
    roots::SessionRoots,
    view::{ClientView, ServedEndpoint},
};
use crate::{
    fleet::{FleetLink, FleetMember, receive_mail},
    seal::{SealSecret, ValueSealer},
};

/// Time that a handshake waits for the first catalog, so that its instructions name the facades. Loading from the cache
/// takes less, and clients do not notice the delay.
const HANDSHAKE_WAIT: Duration = Duration::from_millis(200);

/// The same for clients whose model finds tools by these instructions alone: plugins that are compiled now are worth a wait.
const DEFERRED_WAIT: Duration = Duration::from_secs(2);

/// Cache TTL (`ttlMs`) of tool lists: about one model turn. Clients subscribed to `list_changed` invalidate immediately; for
/// the others it is short, so that a new plugin does not seem to be missing. Stale lists are harmless, since calls are
/// checked against the current catalog.
const LIST_TTL_MS: u64 = 10_000;

/// MCP server over a gate. Cheap to clone: HTTP clones it for each session or request.
#[derive(Clone)]
pub struct McpHandler {
    pub(super) shared: Arc<HandlerState>,
    /// Origin of requests that carry none in their extensions.
    pub(super) origin: CallOrigin,
    versions: &'static [ProtocolVersion],
    /// Roots of the client; `None` where they are not taken.
    roots: Option<Arc<SessionRoots>>,
    /// What requests are served that came to no other endpoint.
    endpoint: Arc<ServedEndpoint>,
    /// The transport writes text and structured content of a result from the same bytes.
    pub(super) shares_text: bool,
    /// The other hosts, if there are any.
    pub(super) fleet: Option<Arc<FleetLink>>,
}

pub(super) struct HandlerState {
    pub(super) gate: Gate,
    tool_lists: ToolListCache,
    peers: SubscribedPeers,
    /// Cancelled when the server drains. Subscription streams then end with a final event.
    pub(super) draining: CancellationToken,
    /// Calls in progress.
    pub(super) calls: TaskTracker,
    /// Seals the state that passes through clients.
    pub(super) sealer: StateSealer,
    /// Its key, which also seals ids of sessions.
    values: Arc<ValueSealer>,
}

impl McpHandler {
    /// Creates a server for callers of one origin. Over HTTP, the authentication layer puts a [`CallOrigin`] into the extensions
    /// of each request, which takes precedence. Must be called on a runtime: it spawns a task that notifies clients of
    /// changes until `draining`.
    pub fn new(gate: Gate, origin: CallOrigin, draining: CancellationToken) -> Self {
        Self::with_seal_secret(gate, origin, draining, None)
    }

    /// Creates a server like [`new`](Self::new), whose open questions survive a restart: states that pass through clients are
    /// sealed with a key of this secret.
    pub fn with_seal_secret(
        gate: Gate,
        origin: CallOrigin,
        draining: CancellationToken,
        secret: Option<SealSecret>,
    ) -> Self {
        let values = Arc::new(ValueSealer::new(secret));
        let shared = Arc::new(HandlerState {
            gate,
            tool_lists: ToolListCache::default(),
            peers: SubscribedPeers::default(),
            draining: draining.clone(),
            calls: TaskTracker::new(),
            sealer: StateSealer::new(Arc::clone(&values)),
            values,
        });
        let notifier = Arc::clone(&shared);
        tokio::spawn(async move { notifier.peers.notify_changes(notifier.gate.catalog(), draining).await });
        Self {
            shared,
            origin,
            versions: ProtocolVersion::KNOWN_VERSIONS,
            roots: None,
            endpoint: Arc::default(),
            shares_text: false,
            fleet: None,
        }
    }

    /// Limits the offered revisions of MCP to this one and older: for clients that claim a revision they do not support.
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

    /// Sets what is served.
    #[must_use]
    pub fn with_endpoint(self, endpoint: Arc<ServedEndpoint>) -> Self {
        Self { endpoint, ..self }
    }

    /// Writes results of calls so that [`message_text`](super::message_text) must write their messages.
    #[must_use]
    pub fn with_shared_text(self) -> Self {
        Self { shares_text: true, ..self }
    }

    /// Makes the server one of several, without sessions: for stdio. Must be called on a runtime.
    #[must_use]
    pub fn in_fleet(self, member: Option<FleetMember>, stop: CancellationToken) -> Self {
        let Some(FleetMember { mail, inbox, versions }) = member else { return self };
        let link = Arc::new(FleetLink::new(mail));
        let handler = self.with_fleet(Arc::clone(&link));
        tokio::spawn(receive_mail(link, inbox, handler.clone(), None, versions, stop));
        handler
    }

    /// Lets other hosts answer requests about their calls.
    #[must_use]
    pub(crate) fn with_fleet(self, fleet: Arc<FleetLink>) -> Self {
        Self { fleet: Some(fleet), ..self }
    }

    /// Takes the roots of the client. Only for a server whose one client is a program of the local user.
    #[must_use]
    pub fn with_client_roots(self) -> Self {
        Self { roots: Some(Arc::default()), ..self }
    }

    /// Returns the roots of the client, if they are taken.
    pub fn client_roots(&self) -> Option<Arc<SessionRoots>> {
        self.roots.clone()
    }

    /// Returns the source of roots for a call.
    pub(super) fn root_source(&self) -> Option<Arc<dyn RootSource>> {
        self.roots.clone().map(|roots| roots as _)
    }

    /// Returns the origin of a request. Read for each one, since a session may be used with another token than it began with.
    pub(super) fn origin(&self, context: &McpContext) -> CallOrigin {
        let parts = context.extensions.get::<http::request::Parts>();
        let origin = parts.and_then(|parts| parts.extensions.get::<CallOrigin>()).unwrap_or(&self.origin);
        {
            let view = self.view(context);
            origin.clone().with_list(view.list, view.client.answer_budget())
        }
    }

    /// Returns the endpoint that a request came to.
    fn served_endpoint(&self, context: &McpContext) -> Arc<ServedEndpoint> {
        ServedEndpoint::of_request(&context.extensions).unwrap_or_else(|| Arc::clone(&self.endpoint))
    }

    /// Returns how the client of a request is served.
    pub(super) fn view(&self, context: &McpContext) -> ClientView {
        self.served_endpoint(context).view_of(context)
    }

    /// Returns how the client of a session is served.
    pub(super) fn view_in_session(&self, client: &rmcp::model::InitializeRequestParams) -> ClientView {
        self.endpoint.view_in_session(client)
    }

    /// Renders the instructions for the client of a request.
    fn instructions(&self, context: &McpContext) -> String {
        let (origin, endpoint) = (self.origin(context), self.served_endpoint(context));
        let snapshot = self.shared.gate.catalog().snapshot();
        render_instructions(&snapshot, origin.list, &origin.rights, endpoint.instructions.as_deref())
    }

    /// Builds the server's capabilities and name. rmcp calls this for every request, so the instructions are added elsewhere.
    fn server_config(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_tool_list_changed();
        let capabilities = capabilities.enable_prompts().enable_prompts_list_changed();
        let capabilities = capabilities.enable_completions().enable_tasks().build();
        let name = Implementation::new("loggia", env!("CARGO_PKG_VERSION")).with_title("Loggia");
        let config = ServerConfig::new(capabilities).with_server_info(name);
        // Fallback of a handshake whose client requests an unsupported revision.
        match self.versions.iter().rev().find(|version| version.has_initialize()) {
            Some(newest) => config.with_protocol_version(newest.clone()),
            None => config,
        }
    }

    /// Returns the tracker of calls in progress, which shutdown waits for.
    pub fn calls(&self) -> TaskTracker {
        self.shared.calls.clone()
    }

    /// Subscribes to changes of the lists, at the moment when sessions are notified.
    pub fn list_changes(&self) -> watch::Receiver<()> {
        self.shared.peers.changes()
    }

    /// Returns what seals the values that pass through clients.
    pub(crate) fn sealer(&self) -> Arc<ValueSealer> {
        Arc::clone(&self.shared.values)
    }

    /// Returns the gate.
    pub fn gate(&self) -> &Gate {
        &self.shared.gate
    }

    /// Returns the cache scope of lists: private for named callers, since lists depend on their rights, and where clients get
    /// different lists.
    pub(super) fn cache_scope(&self, context: &McpContext) -> CacheScope {
        match self.origin(context).caller {
            Caller::Local | Caller::Anonymous if !self.served_endpoint(context).lists.differ() => {
                CacheScope::Public
            }
            _ => CacheScope::Private,
        }
    }

    async fn wait_for_catalog(&self, view: ClientView) {
        let admitted = self.shared.gate.catalog().wait_until_admitted();
        let most = if view.client.deferred { DEFERRED_WAIT } else { HANDSHAKE_WAIT };
        let _ = tokio::time::timeout(most, admitted).await;
    }

    /// Returns the cache TTL of lists and instructions: zero while plugins are still loading, or there are none.
    pub(super) fn ttl_ms(&self) -> u64 {
        let catalog = self.shared.gate.catalog();
        if catalog.is_admitted() && catalog.snapshot().default_list().listed().next().is_some() {
            LIST_TTL_MS
        } else {
            0
        }
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
        self.wait_for_catalog(self.served_endpoint(&context).view_in_session(&request)).await;
        context.peer.set_peer_info(request.clone());
        if let Some(roots) = &self.roots {
            roots.set_peer(&context.peer);
        }
        let result = self.negotiate_initialize(&request)?;
        Ok(result.with_instructions(self.instructions(&context)))
    }

    async fn discover(&self, context: McpContext) -> Result<DiscoverResult, ErrorData> {
        let _operation = self.time_operation("server/discover");
        self.wait_for_catalog(self.view(&context)).await;
        let (fresh, scope) = (self.ttl_ms(), self.cache_scope(&context));
        let config = self.server_config().with_instructions(self.instructions(&context));
        let result = DiscoverResult::from_server_info(self.versions.to_vec(), config);
        Ok(result.with_ttl_ms(fresh).with_cache_scope(scope))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: McpContext,
    ) -> Result<ListToolsResult, ErrorData> {
        let _operation = self.time_operation("tools/list");
        let catalog = self.shared.gate.catalog();
        catalog.wait_until_admitted().await;
        let (origin, view) = (self.origin(&context), self.view(&context));
        let (fresh, listed) = (self.ttl_ms(), self.shared.tool_lists.tools(catalog, view, &origin.rights));
        let cursor = request.and_then(|request| request.cursor);
        let (tools, next) = pages::page(&listed.1, |tool| &tool.name, cursor.as_deref())?;
        let mut result = ListToolsResult::with_all_items(tools);
        result.next_cursor = next;
        Ok(result.with_ttl_ms(fresh).with_cache_scope(self.cache_scope(&context)))
    }

    /// Finds a tool for rmcp, which checks `x-mcp-header` parameters (arguments repeated in headers, for proxies) before rights
    /// are known. Only the `raw` form can require such headers. All that a caller without rights can learn is that a call
    /// without them is refused, for a tool whose name it knows.
    fn get_tool(&self, name: &str) -> Option<Tool> {
        let (catalog, view) = (self.shared.gate.catalog(), ClientView::default());
        let listed = self.shared.tool_lists.tools(catalog, view, &CallerRights::all());
        // Sorted by name.
        let at = listed.1.binary_search_by(|tool| (*tool.name).cmp(name)).ok()?;
        listed.1.get(at).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: McpContext,
    ) -> Result<CallToolResponse, ErrorData> {
        self.answer_call(request, &context).await
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: McpContext,
    ) -> Result<ListPromptsResult, ErrorData> {
        self.answer_prompt_list(request, &context).await
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: McpContext,
    ) -> Result<GetPromptResponse, ErrorData> {
        Ok(self.answer_prompt(request, &context).await?.into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: McpContext,
    ) -> Result<CompleteResult, ErrorData> {
        self.answer_completion(request, &context).await
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: McpContext,
    ) -> Result<GetTaskResult, ErrorData> {
        self.answer_task(request, &context).await
    }

    async fn update_task(&self, request: UpdateTaskParams, context: McpContext) -> Result<(), ErrorData> {
        self.answer_task_update(request, &context).await
    }

    async fn cancel_task(&self, request: CancelTaskParams, context: McpContext) -> Result<(), ErrorData> {
        self.answer_task_cancellation(request, &context).await
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.shared.peers.add(context.peer);
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(Self::accepted_changes(requested))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.follow_changes(context).await
    }

    /// Handles requests that rmcp could not parse, among them known methods whose parameters are malformed.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: McpContext,
    ) -> Result<CustomResult, ErrorData> {
        let message = match request.method.as_str() {
            "tools/call" => "tools/call takes `name`, a string, and `arguments`, an object",
            "prompts/get" => "prompts/get takes `name`, a string, and `arguments`, an object of strings",
            "completion/complete" => {
                "completion/complete takes `ref`, a prompt, and `argument`, with its `name` and `value`"
            }
            other => {
                let method: String = other.chars().take(80).collect();
                let message = format!("Method not found: {method}");
                return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None));
            }
        };
        Err(ErrorData::invalid_params(message, None))
    }

    // rmcp's defaults return an empty success, which claims capabilities that this server does not have.

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
}
