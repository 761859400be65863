//! What rmcp calls.

use std::{sync::Arc, time::Duration};

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CacheScope, CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestMethod,
        CompleteRequestParams, CompleteResult, CustomRequest, CustomResult, DiscoverResult, ErrorCode,
        GetTaskParams, GetTaskResult, Implementation, ListPromptsRequestMethod, ListPromptsResult,
        ListResourceTemplatesRequestMethod, ListResourceTemplatesResult, ListResourcesRequestMethod,
        ListResourcesResult, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
        SubscriptionFilter, Tool, UpdateTaskParams,
    },
    service::{NotificationContext, RequestContext, SubscriptionContext},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    ask::{self, Sealer},
    list::{Listed, instructions},
    news::Peers,
    tasks,
};
use crate::gate::{Gate, Origin};

/// How long a handshake waits for the first admission, so that its instructions name the facades. Loading from the
/// cache ends well before this; a client does not notice.
const HANDSHAKE: Duration = Duration::from_millis(200);

/// One MCP server over a gate. Cheap to clone: HTTP makes one per session or request.
#[derive(Clone)]
pub struct Handler {
    pub(super) shared: Arc<Shared>,
    pub(super) origin: Origin,
}

pub(super) struct Shared {
    pub(super) gate: Gate,
    listed: Listed,
    peers: Peers,
    /// Listening streams end when this does, so that their clients get a last word.
    draining: CancellationToken,
    /// The calls that are being answered.
    pub(super) calls: TaskTracker,
    /// Seals what goes through clients' hands.
    pub(super) sealer: Sealer,
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

    async fn handshake(&self) {
        let admitted = self.shared.gate.catalog().admitted();
        let _ = tokio::time::timeout(HANDSHAKE, admitted).await;
    }
}

pub(super) type Context = RequestContext<RoleServer>;

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
        self.answer(request, &context).await
    }

    async fn get_task(&self, request: GetTaskParams, _: Context) -> Result<GetTaskResult, ErrorData> {
        let (id, run) = self.task(&request.task_id)?;
        Ok(tasks::told(&id, &run, &self.shared.gate.catalog().snapshot()))
    }

    async fn update_task(&self, request: UpdateTaskParams, _: Context) -> Result<(), ErrorData> {
        let (_, run) = self.task(&request.task_id)?;
        let sent = request.input_responses.len();
        let answers: Vec<_> = ask::answers(request.input_responses).collect();
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
