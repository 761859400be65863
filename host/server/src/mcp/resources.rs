//! Resources: results of `read` actions, by URI. Reading one is a call of its action, so it needs no other right, passes every
//! check of the gate, and is limited and audited like it.

use std::{sync::Arc, time::Duration};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use futures_util::future::join_all;
use loggia_facade::{
    Answer, Block, Command, Content, Detail, Envelope, Failure, Input, Object, Request, code,
    trace::ParentSpan,
};
use loggia_gate::{
    access::CallOrigin,
    catalog::{CatalogResource, CatalogSnapshot},
    run::CallEvent,
};
use rmcp::{
    ErrorData,
    model::{
        CacheScope, CompleteRequestParams, CompleteResult, CompletionInfo, ListResourceTemplatesResult,
        ListResourcesResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResult, Resource,
        ResourceContents, ResourceTemplate, ResourceTemplateReference,
    },
};
use serde_json::{Value, json};

use super::{
    handler::{McpContext, McpHandler},
    operation::request_ids,
    pages,
    tool_pages::read_page,
};

/// Time for listing what exists of one resource: clients list resources when they connect.
const ITEMS_TIMEOUT: Duration = Duration::from_secs(5);
/// Items of one resource in the list.
const ITEMS: usize = 100;
/// Characters of a URI in a message.
const QUOTED: usize = 200;

impl McpHandler {
    /// Answers `resources/list`: the resources with a fixed URI, and what the others list.
    pub(super) async fn answer_resource_list(
        &self,
        request: Option<PaginatedRequestParams>,
        context: &McpContext,
    ) -> Result<ListResourcesResult, ErrorData> {
        let _operation = self.time_operation("resources/list", context);
        let (origin, resources) = self.visible_resources(context).await;
        let listed = resources.iter().map(|resource| self.list_items(resource, &origin, context));
        let mut listed: Vec<Resource> = join_all(listed).await.into_iter().flatten().collect();
        listed.sort_by(|one, other| one.uri.cmp(&other.uri));
        listed.dedup_by(|one, other| one.uri == other.uri);
        let cursor = request.and_then(|request| request.cursor);
        let (page, next) = pages::page(&listed, |resource| &resource.uri, cursor.as_deref())?;
        let mut result = ListResourcesResult::with_all_items(page);
        result.next_cursor = next;
        // Items come and go with every call.
        let fresh = if resources.iter().any(has_items) { 0 } else { self.ttl_ms() };
        Ok(result.with_ttl_ms(fresh).with_cache_scope(self.cache_scope(context)))
    }

    /// Answers `resources/templates/list`.
    pub(super) async fn answer_template_list(
        &self,
        request: Option<PaginatedRequestParams>,
        context: &McpContext,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let _operation = self.time_operation("resources/templates/list", context);
        let (_, resources) = self.visible_resources(context).await;
        let templates = resources.iter().filter(|resource| !resource.template().is_fixed());
        let mut templates: Vec<ResourceTemplate> = templates.filter_map(to_template).collect();
        templates.sort_by(|one, other| one.uri_template.cmp(&other.uri_template));
        let cursor = request.and_then(|request| request.cursor);
        let (page, next) = pages::page(&templates, |template| &template.uri_template, cursor.as_deref())?;
        let mut result = ListResourceTemplatesResult::with_all_items(page);
        result.next_cursor = next;
        Ok(result.with_ttl_ms(self.ttl_ms()).with_cache_scope(self.cache_scope(context)))
    }

    /// Answers `resources/read`.
    pub(super) async fn answer_resource(
        &self,
        request: ReadResourceRequestParams,
        context: &McpContext,
    ) -> Result<ReadResourceResult, ErrorData> {
        let operation = self.time_operation("resources/read", context);
        let _counted = self.shared.calls.token();
        if let Some(file) = self.read_skill_file(&request.uri, context).await {
            return file;
        }
        let (snapshot, origin) = self.resource_origin(context).await;
        let pages = self.shown_pages(context.client_capabilities().as_ref());
        if let Some(page) = read_page(&snapshot, origin.list, &origin.rights, (&request.uri, pages)) {
            return Ok(page.with_ttl_ms(self.ttl_ms()).with_cache_scope(self.cache_scope(context)));
        }
        let contents = self.read_contents(&request.uri, operation.span(), context).await?;
        // Whether it changes is the plugin's business, so that nothing may be kept.
        Ok(ReadResourceResult::new(contents).with_ttl_ms(0).with_cache_scope(CacheScope::Private))
    }

    /// Reads what a facade publishes under a URI, by a call of its action.
    pub(super) async fn read_contents(
        &self,
        uri: &str,
        span: &ParentSpan,
        context: &McpContext,
    ) -> Result<Vec<ResourceContents>, ErrorData> {
        let (snapshot, origin) = self.resource_origin(context).await;
        let origin = origin.with_span(span);
        let (resource, params) = find(&snapshot, &origin, uri)?;
        let call = (resource.action().name.clone(), params, Detail::Full);
        let envelope = self.call_action(&resource, call, &origin, context);
        to_contents(envelope.await, &resource, uri)
    }

    /// Answers `completion/complete` for a variable of a template: the values that its list of items has.
    pub(super) async fn complete_variable(
        &self,
        reference: &ResourceTemplateReference,
        request: &CompleteRequestParams,
        context: &McpContext,
    ) -> Result<CompleteResult, ErrorData> {
        let (origin, resources) = self.visible_resources(context).await;
        let resource = resources
            .iter()
            .find(|resource| resource.definition().is_some_and(|own| own.uri == reference.uri))
            .ok_or_else(|| unknown_resource(&reference.uri))?;
        let (variable, begun) = (&request.argument.name, request.argument.value.to_lowercase());
        if !resource.template().variables().any(|name| name == variable) {
            let names: Vec<&str> = resource.template().variables().collect();
            let message =
                format!("The template has no variable {variable:.80?}; it has: {}", names.join(", "));
            return Err(ErrorData::invalid_params(message, None));
        }
        let items = self.read_items(resource, &origin, context).await;
        let values =
            items.iter().filter_map(|item| match variable_values(resource, item)?.get(variable)? {
                Value::String(text) => Some(text.clone()),
                Value::Number(number) => Some(number.to_string()),
                _ => None,
            });
        let mut values: Vec<String> =
            values.filter(|value| value.to_lowercase().starts_with(&begun)).collect();
        values.sort();
        values.dedup();
        let total = u32::try_from(values.len()).ok();
        let has_more = values.len() > CompletionInfo::MAX_VALUES;
        values.truncate(CompletionInfo::MAX_VALUES);
        let completion = CompletionInfo::with_pagination(values, total, has_more);
        Ok(CompleteResult::new(completion.map_err(|reason| ErrorData::internal_error(reason, None))?))
    }

    /// Finds a resource for a subscription, and the prefix of the keys of state that it is made from.
    pub(super) async fn find_subscribed(
        &self,
        uri: &str,
        context: &McpContext,
    ) -> Result<(String, Option<String>), ErrorData> {
        let (snapshot, origin) = self.resource_origin(context).await;
        let (resource, params) = find(&snapshot, &origin, uri)?;
        Ok((resource.entry.surface().name.clone(), resource.state_prefix(&params)))
    }

    /// Returns the resources that the client of a request sees, with its origin.
    async fn visible_resources(&self, context: &McpContext) -> (CallOrigin, Vec<CatalogResource>) {
        let (snapshot, origin) = self.resource_origin(context).await;
        let resources = snapshot.resources(origin.list, &origin.rights);
        (origin, resources)
    }

    /// Returns the catalog for a request, and its origin. A resource cannot ask a person anything, so its calls are of a client
    /// that cannot either.
    async fn resource_origin(&self, context: &McpContext) -> (Arc<CatalogSnapshot>, CallOrigin) {
        let catalog = self.gate().catalog();
        catalog.wait_until_admitted().await;
        let origin =
            self.origin(context).with_request_ids(request_ids(context)).with_roots(self.root_source());
        (catalog.snapshot(), origin)
    }

    /// Lists a resource with a fixed URI, or what exists of it.
    async fn list_items(
        &self,
        resource: &CatalogResource,
        origin: &CallOrigin,
        context: &McpContext,
    ) -> Vec<Resource> {
        if resource.template().is_fixed() {
            return resource
                .definition()
                .map(|own| to_resource(resource, &own.uri, None))
                .into_iter()
                .collect();
        }
        let items = self.read_items(resource, origin, context).await;
        let listed = items.iter().filter_map(|item| {
            let uri = resource.template().expand(&variable_values(resource, item)?)?;
            let title = ["title", "name"].into_iter().find_map(|key| item.get(key)?.as_str());
            Some(to_resource(resource, &uri, title))
        });
        listed.collect()
    }

    /// Calls the action that lists what exists of a resource. A failure counts as an empty list: that of other facades is good.
    async fn read_items(
        &self,
        resource: &CatalogResource,
        origin: &CallOrigin,
        context: &McpContext,
    ) -> Vec<Object> {
        let Some(items) = resource.definition().and_then(|own| own.items.clone()) else { return Vec::new() };
        let listing = self.call_action(resource, (items, Object::new(), Detail::Standard), origin, context);
        let listed = match tokio::time::timeout(ITEMS_TIMEOUT, listing).await {
            Ok(envelope) => envelope.outcome,
            Err(_) => Err(Failure::new(code::TIMED_OUT, "the list of its items took too long")),
        };
        match listed.map(|reply| reply.data.into_value()) {
            Ok(Value::Array(items)) => {
                let objects = items.into_iter().filter_map(|item| match item {
                    Value::Object(item) => Some(item),
                    _ => None,
                });
                objects.take(ITEMS).collect()
            }
            Ok(_) => Vec::new(),
            Err(failure) => {
                let facade = &resource.entry.surface().name;
                tracing::debug!(facade, "items of a resource are not listed: {}", failure.message);
                Vec::new()
            }
        }
    }

    /// Calls an action of a resource's facade to its end. Dropping the future cancels the call.
    async fn call_action(
        &self,
        resource: &CatalogResource,
        (action, params, detail): (String, Object, Detail),
        origin: &CallOrigin,
        context: &McpContext,
    ) -> Envelope {
        let facade = resource.entry.surface().name.clone();
        let input = Input::Action { action, params, detail };
        let request = Request::new(facade, input);
        let mut exec = self.gate().start(origin.clone(), request);
        loop {
            let event = tokio::select! {
                event = exec.next() => event,
                () = context.ct.cancelled() => {
                    let failure = Failure::new(code::CANCELLED, "the request was cancelled");
                    return Envelope::new(Command { key: "action", name: None }, Err(failure));
                }
            };
            match event {
                CallEvent::Done(envelope) => return *envelope,
                CallEvent::Progress(_) => {}
                // Dropping the call withdraws the approval.
                CallEvent::AwaitsApproval => {
                    let message = "denied: reading this resource needs a person's approval";
                    let failure =
                        Failure::new(code::DENIED, message).hint("call the action of the tool instead");
                    return Envelope::new(Command { key: "action", name: None }, Err(failure));
                }
                CallEvent::Asks(mut asks) => exec.close_unless(&mut asks, |_| false, &Answer::Declined),
            }
        }
    }
}

/// The values of a resource's variables in an item of its list: the fields of their names; of a single variable, also `id`.
fn variable_values(resource: &CatalogResource, item: &Object) -> Option<Object> {
    let variables: Vec<&str> = resource.template().variables().collect();
    let values = variables.iter().map(|name| {
        let value = match (item.get(*name), variables.len()) {
            (None, 1) => item.get("id"),
            (value, _) => value,
        };
        Some(((*name).to_owned(), value?.clone()))
    });
    values.collect()
}

fn has_items(resource: &CatalogResource) -> bool {
    resource.definition().is_some_and(|own| own.items.is_some())
}

fn find(
    snapshot: &CatalogSnapshot,
    origin: &CallOrigin,
    uri: &str,
) -> Result<(CatalogResource, Object), ErrorData> {
    snapshot.find_resource(uri, origin.list, &origin.rights).ok_or_else(|| unknown_resource(uri))
}

/// Error for a URI that no facade has, or none that the caller may read.
fn unknown_resource(uri: &str) -> ErrorData {
    let uri: String = uri.chars().take(QUOTED).collect();
    let message =
        format!("Resource not found: {uri:?}. `resources/list` and `resources/templates/list` name them.");
    ErrorData::resource_not_found(message, Some(json!({ "uri": uri })))
}

fn to_resource(resource: &CatalogResource, uri: &str, title: Option<&str>) -> Resource {
    let action = resource.action();
    let name = title.map_or_else(|| readable_name(resource), str::to_owned);
    let listed = Resource::new(uri, name).with_description(action.summary.clone());
    match mime_type(resource) {
        Some(mime_type) => listed.with_mime_type(mime_type),
        None => listed,
    }
}

fn to_template(resource: &CatalogResource) -> Option<ResourceTemplate> {
    let template = ResourceTemplate::new(&resource.definition()?.uri, readable_name(resource))
        .with_description(resource.action().summary.clone());
    Some(match mime_type(resource) {
        Some(mime_type) => template.with_mime_type(mime_type),
        None => template,
    })
}

/// `notes: get`
fn readable_name(resource: &CatalogResource) -> String {
    format!("{}: {}", resource.entry.surface().name, resource.action().name.replace(['_', '-'], " "))
}

fn mime_type(resource: &CatalogResource) -> Option<&str> {
    resource.definition()?.mime_type.as_deref()
}

/// Converts the result of an action: its data, and the blocks of its content that are documents themselves.
fn to_contents(
    envelope: Envelope,
    resource: &CatalogResource,
    uri: &str,
) -> Result<Vec<ResourceContents>, ErrorData> {
    let envelope = match envelope.outcome {
        Err(failure) => return Err(to_error(failure, uri)),
        Ok(_) => envelope,
    };
    let (mut members, content) = envelope.into_parts();
    let mut contents: Vec<ResourceContents> =
        content.into_iter().filter_map(|content| to_content(content, uri)).collect();
    let data = members.remove("data").unwrap_or_default();
    if !data.is_null() || contents.is_empty() {
        let (text, usual) = match data {
            Value::String(text) => (text, "text/plain"),
            data => (data.to_string(), "application/json"),
        };
        let mime_type = mime_type(resource).unwrap_or(usual);
        contents.insert(0, ResourceContents::text(text, uri).with_mime_type(mime_type));
    }
    Ok(contents)
}

fn to_content(content: Content, uri: &str) -> Option<ResourceContents> {
    match content.block {
        Block::Text(text) => Some(ResourceContents::text(text, uri)),
        Block::Image { data, mime_type } | Block::Audio { data, mime_type } => {
            Some(ResourceContents::blob(STANDARD.encode(data), uri).with_mime_type(mime_type))
        }
        // Its own URI names a part, such as a file of a folder.
        Block::Embedded { uri, mime_type, text, blob } => {
            let contents = match (text, blob) {
                (Some(text), _) => ResourceContents::text(text, uri),
                (None, Some(blob)) => ResourceContents::blob(STANDARD.encode(blob), uri),
                (None, None) => return None,
            };
            Some(match mime_type {
                Some(mime_type) => contents.with_mime_type(mime_type),
                None => contents,
            })
        }
        Block::Link { .. } => None,
    }
}

/// Converts the failure of a call. The code tells programs what the message tells people.
fn to_error(failure: Failure, uri: &str) -> ErrorData {
    let uri: String = uri.chars().take(QUOTED).collect();
    let mut data = json!({ "uri": uri, "code": failure.code });
    if let Some(hint) = failure.hint {
        data["hint"] = hint.into();
    }
    match failure.code.as_str() {
        code::NOT_FOUND => ErrorData::resource_not_found(failure.message, Some(data)),
        code::INVALID_PARAMS => ErrorData::invalid_params(failure.message, Some(data)),
        _ => ErrorData::internal_error(failure.message, Some(data)),
    }
}
