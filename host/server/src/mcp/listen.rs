//! What clients are notified of: streams of `subscriptions/listen`, and subscriptions of sessions.

use std::sync::Arc;

use http::request::Parts;
use rmcp::{
    ErrorData,
    model::SubscriptionFilter,
    service::{SubscriptionContext, SubscriptionSendError, SubscriptionSink},
};

use super::{
    handler::{McpContext, McpHandler},
    subscriptions::{
        SUBSCRIPTIONS, SessionHold, SubscribedResource, Subscriber, SubscriptionId, UpdatedResources,
    },
};

/// Sends the notifications of changed lists that a stream has asked for.
async fn notify_stream(stream: &SubscriptionSink) -> Result<(), SubscriptionSendError> {
    let wants = |asked: Option<bool>| asked == Some(true);
    if wants(stream.accepted().tools_list_changed) {
        stream.notify_tool_list_changed().await?;
    }
    if wants(stream.accepted().prompts_list_changed) {
        stream.notify_prompt_list_changed().await?;
    }
    if wants(stream.accepted().resources_list_changed) {
        stream.notify_resource_list_changed().await?;
    }
    Ok(())
}

/// The subscriptions of a stream, which end with it.
struct StreamSubscriptions<'a> {
    handler: &'a McpHandler,
    ids: Vec<SubscriptionId>,
}

impl Drop for StreamSubscriptions<'_> {
    fn drop(&mut self) {
        self.ids.iter().for_each(|id| self.handler.shared.subscriptions.remove(*id));
    }
}

impl McpHandler {
    /// Returns the notifications of a stream that are sent.
    pub(super) fn accepted_changes(requested: &SubscriptionFilter) -> SubscriptionFilter {
        let uris = requested.resource_subscriptions.iter().flatten().take(SUBSCRIPTIONS).cloned();
        let sent = SubscriptionFilter::builder()
            .tools_list_changed()
            .prompts_list_changed()
            .resources_list_changed()
            .resource_subscriptions(uris);
        requested.intersection(&sent.build())
    }

    /// Sends changes to a stream of `subscriptions/listen` until it ends.
    pub(super) async fn follow_changes(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let catalog = self.gate().catalog();
        let mut changes = catalog.subscribe();
        // Lists wait for the first catalog, so it is no change, unless the wait timed out.
        let mut early = !catalog.is_admitted();
        let updated = Arc::new(UpdatedResources::default());
        let subscribing = self.subscribe_stream(&context, &updated);
        let subscriptions = tokio::select! {
            () = context.cancelled() => return Ok(()),
            () = self.shared.draining.cancelled() => return Ok(()),
            subscriptions = subscribing => subscriptions,
        };
        // The client may have read a resource before its subscription began.
        for uri in &subscriptions.1 {
            if context.sink().notify_resource_updated(uri.as_str()).await.is_err() {
                return Ok(());
            }
        }
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                () = self.shared.draining.cancelled() => return Ok(()),
                admitted = catalog.wait_until_admitted(), if early => {
                    early = false;
                    if admitted {
                        changes.mark_unchanged();
                    }
                }
                changed = changes.changed(), if !early => {
                    if changed.is_err() || notify_stream(context.sink()).await.is_err() {
                        return Ok(());
                    }
                }
                uri = updated.next() => {
                    if context.sink().notify_resource_updated(uri).await.is_err() {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Subscribes a stream to the resources that it names; returns their URIs. Those that its caller does not see never change.
    async fn subscribe_stream<'a>(
        &'a self,
        context: &SubscriptionContext,
        updated: &Arc<UpdatedResources>,
    ) -> (StreamSubscriptions<'a>, Vec<String>) {
        let (mut subscriptions, mut found) =
            (StreamSubscriptions { handler: self, ids: Vec::new() }, Vec::new());
        for uri in context.accepted().resource_subscriptions.iter().flatten() {
            let Ok((facade, prefix)) = self.find_subscribed(uri, context.request_context()).await else {
                continue;
            };
            let resource = SubscribedResource { uri: uri.clone(), facade, prefix };
            let subscriber = Subscriber::Stream(Arc::downgrade(updated));
            if let Some(id) = self.shared.subscriptions.add(resource, subscriber).await {
                subscriptions.ids.push(id);
                found.push(uri.clone());
            }
        }
        (subscriptions, found)
    }

    /// Answers `resources/subscribe`.
    pub(super) async fn subscribe_session(&self, uri: String, context: &McpContext) -> Result<(), ErrorData> {
        let _operation = self.time_operation("resources/subscribe", context);
        let (facade, prefix) = self.find_subscribed(&uri, context).await?;
        let hold = context.extensions.get::<Parts>().and_then(|parts| parts.extensions.get::<SessionHold>());
        let subscriber =
            Subscriber::Session { id: session_id(context), peer: context.peer.clone(), _hold: hold.cloned() };
        let resource = SubscribedResource { uri, facade, prefix };
        match self.shared.subscriptions.add(resource, subscriber).await {
            Some(_) => Ok(()),
            None => {
                let message = format!(
                    "Too many subscriptions: a session has at most {SUBSCRIPTIONS}. End some with `resources/unsubscribe`."
                );
                Err(ErrorData::invalid_request(message, None))
            }
        }
    }

    /// Answers `resources/unsubscribe`. Ending a subscription twice is no error.
    pub(super) fn unsubscribe_session(&self, uri: &str, context: &McpContext) {
        let _operation = self.time_operation("resources/unsubscribe", context);
        self.shared.subscriptions.remove_of_session(&session_id(context), uri);
    }
}

/// The session of a request; empty on stdio, where there is one.
fn session_id(context: &McpContext) -> String {
    let parts = context.extensions.get::<Parts>();
    let id = parts.and_then(|parts| parts.headers.get("mcp-session-id")?.to_str().ok());
    id.unwrap_or_default().to_owned()
}
