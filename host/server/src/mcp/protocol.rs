//! The implementation of rmcp's `ServerHandler`: which request is answered where.

use std::borrow::Cow;

use loggia_gate::access::CallerRights;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CacheScope, CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestParams,
        CompleteResult, CustomRequest, CustomResult, DiscoverResult, ErrorCode, GetPromptRequestParams,
        GetPromptResponse, GetSkillRequestParams, GetSkillResult, GetTaskParams, GetTaskResult,
        InitializeRequestParams, InitializeResult, JsonObject, ListPromptsResult,
        ListResourceTemplatesResult, ListResourcesResult, ListSkillsResult, ListToolsResult,
        PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse,
        ServerConfig, SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams,
        UpdateTaskParams,
    },
    service::{NotificationContext, SubscriptionContext},
};
use serde_json::Value;

use super::{
    handler::{McpContext, McpHandler},
    pages,
    panics::catch_panic,
    view::{ClientView, ShownPages},
};

impl McpHandler {
    /// Reads a tool as it is listed to most clients.
    fn read_listed<T>(&self, name: &str, read: impl FnOnce(&Tool) -> T) -> Option<T> {
        let (catalog, view) = (self.shared.gate.catalog(), ClientView::default());
        let listed = self.shared.tool_lists.tools(catalog, view, &CallerRights::all());
        // Sorted by name.
        let at = listed.1.binary_search_by(|tool| (*tool.name).cmp(name)).ok()?;
        listed.1.get(at).map(read)
    }

    /// Returns true if rmcp compares parameters of this tool with headers.
    pub fn has_header_parameters(&self, name: &str) -> bool {
        self.read_listed(name, |tool| annotates_header(&tool.input_schema)).unwrap_or_default()
    }

    async fn answer_initialize(
        &self,
        request: InitializeRequestParams,
        context: &McpContext,
    ) -> Result<InitializeResult, ErrorData> {
        let _operation = self.time_operation("initialize", context);
        self.wait_for_catalog(self.served_endpoint(context).view_in_session(&request)).await;
        context.peer.set_peer_info(request.clone());
        if let Some(roots) = &self.roots {
            roots.set_peer(&context.peer);
        }
        let result = self.negotiate_initialize(&request)?;
        Ok(result.with_instructions(self.instructions(context)))
    }

    async fn answer_discover(&self, context: &McpContext) -> Result<DiscoverResult, ErrorData> {
        let _operation = self.time_operation("server/discover", context);
        self.wait_for_catalog(self.view(context)).await;
        let (fresh, scope) = (self.ttl_ms(), self.cache_scope(context));
        let config = self.server_config().with_instructions(self.instructions(context));
        let result = DiscoverResult::from_server_info(self.versions.to_vec(), config);
        Ok(result.with_ttl_ms(fresh).with_cache_scope(scope))
    }

    async fn answer_tool_list(
        &self,
        request: Option<PaginatedRequestParams>,
        context: &McpContext,
    ) -> Result<ListToolsResult, ErrorData> {
        let _operation = self.time_operation("tools/list", context);
        let catalog = self.shared.gate.catalog();
        catalog.wait_until_admitted().await;
        let pages = self.shown_pages(context.client_capabilities().as_ref());
        let (origin, view) = (self.origin(context), ClientView { pages, ..self.view(context) });
        let (fresh, listed) = (self.ttl_ms(), self.shared.tool_lists.tools(catalog, view, &origin.rights));
        let cursor = request.and_then(|request| request.cursor);
        let (tools, next) = pages::page(&listed.1, |tool| &tool.name, cursor.as_deref())?;
        let mut result = ListToolsResult::with_all_items(tools);
        result.next_cursor = next;
        // A list with pages is not that of other clients.
        let scope = if pages == ShownPages::None { self.cache_scope(context) } else { CacheScope::Private };
        Ok(result.with_ttl_ms(fresh).with_cache_scope(scope))
    }
}

/// Returns true if a property, or one below it, is annotated with `x-mcp-header`.
fn annotates_header(schema: &JsonObject) -> bool {
    let Some(Value::Object(properties)) = schema.get("properties") else { return false };
    let mut properties = properties.values().filter_map(Value::as_object);
    properties.any(|property| property.contains_key("x-mcp-header") || annotates_header(property))
}

impl ServerHandler for McpHandler {
    fn get_info(&self) -> ServerConfig {
        self.server_config()
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(self.versions)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: McpContext,
    ) -> Result<InitializeResult, ErrorData> {
        catch_panic(self.answer_initialize(request, &context)).await
    }

    async fn discover(&self, context: McpContext) -> Result<DiscoverResult, ErrorData> {
        catch_panic(self.answer_discover(&context)).await
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: McpContext,
    ) -> Result<ListToolsResult, ErrorData> {
        catch_panic(self.answer_tool_list(request, &context)).await
    }

    /// Finds a tool for rmcp, which checks `x-mcp-header` parameters (arguments repeated in headers, for proxies) before rights
    /// are known. Only the `raw` form can require such headers. All that a caller without rights can learn is that a call
    /// without them is refused, for a tool whose name it knows.
    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.read_listed(name, Tool::clone)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: McpContext,
    ) -> Result<CallToolResponse, ErrorData> {
        catch_panic(self.answer_call(request, &context)).await
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: McpContext,
    ) -> Result<ListPromptsResult, ErrorData> {
        catch_panic(self.answer_prompt_list(request, &context)).await
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: McpContext,
    ) -> Result<GetPromptResponse, ErrorData> {
        catch_panic(self.answer_prompt(request, &context)).await
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: McpContext,
    ) -> Result<CompleteResult, ErrorData> {
        catch_panic(self.answer_completion(request, &context)).await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: McpContext,
    ) -> Result<ListResourcesResult, ErrorData> {
        catch_panic(self.answer_resource_list(request, &context)).await
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: McpContext,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        catch_panic(self.answer_template_list(request, &context)).await
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: McpContext,
    ) -> Result<ReadResourceResponse, ErrorData> {
        Ok(catch_panic(self.answer_resource(request, &context)).await?.into())
    }

    async fn subscribe(&self, request: SubscribeRequestParams, context: McpContext) -> Result<(), ErrorData> {
        catch_panic(self.subscribe_session(request.uri, &context)).await
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: McpContext,
    ) -> Result<(), ErrorData> {
        catch_panic(async {
            self.unsubscribe_session(&request.uri, &context);
            Ok(())
        })
        .await
    }

    async fn list_skills(
        &self,
        request: Option<PaginatedRequestParams>,
        context: McpContext,
    ) -> Result<ListSkillsResult, ErrorData> {
        catch_panic(self.answer_skill_list(request, &context)).await
    }

    async fn get_skill(
        &self,
        request: GetSkillRequestParams,
        context: McpContext,
    ) -> Result<GetSkillResult, ErrorData> {
        catch_panic(self.answer_skill(request, &context)).await
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: McpContext,
    ) -> Result<GetTaskResult, ErrorData> {
        catch_panic(self.answer_task(request, &context)).await
    }

    async fn update_task(&self, request: UpdateTaskParams, context: McpContext) -> Result<(), ErrorData> {
        catch_panic(self.answer_task_update(request, &context)).await
    }

    async fn cancel_task(&self, request: CancelTaskParams, context: McpContext) -> Result<(), ErrorData> {
        catch_panic(self.answer_task_cancellation(request, &context)).await
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.shared.peers.add(context.peer);
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(Self::accepted_changes(requested))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        catch_panic(self.follow_changes(context)).await
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
            "resources/read" => "resources/read takes `uri`, a string",
            "resources/subscribe" => "resources/subscribe takes `uri`, a string",
            "resources/unsubscribe" => "resources/unsubscribe takes `uri`, a string",
            "skills/get" => "skills/get takes `uri`, a string",
            "completion/complete" => {
                "completion/complete takes `ref`, a prompt or a resource's template, and `argument`, with its `name` and `value`"
            }
            other => {
                let method: String = other.chars().take(80).collect();
                let message = format!("Method not found: {method}");
                return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None));
            }
        };
        Err(ErrorData::invalid_params(message, None))
    }
}
