//! Streams of `subscriptions/listen`: list changes for clients without sessions.

use rmcp::{
    ErrorData,
    model::SubscriptionFilter,
    service::{SubscriptionContext, SubscriptionSendError, SubscriptionSink},
};

use super::handler::McpHandler;

/// Sends the notifications that a stream has asked for.
async fn notify_stream(stream: &SubscriptionSink) -> Result<(), SubscriptionSendError> {
    let wants = |asked: Option<bool>| asked == Some(true);
    if wants(stream.accepted().tools_list_changed) {
        stream.notify_tool_list_changed().await?;
    }
    if wants(stream.accepted().prompts_list_changed) {
        stream.notify_prompt_list_changed().await?;
    }
    Ok(())
}

impl McpHandler {
    /// Returns the notifications of a stream that are sent.
    pub(super) fn accepted_changes(requested: &SubscriptionFilter) -> SubscriptionFilter {
        let sent = SubscriptionFilter::builder().tools_list_changed().prompts_list_changed();
        requested.intersection(&sent.build())
    }

    /// Sends list changes to a stream of `subscriptions/listen` until it ends.
    pub(super) async fn follow_changes(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let catalog = self.gate().catalog();
        let mut changes = catalog.subscribe();
        // Lists wait for the first catalog, so it is no change, unless the wait timed out.
        let mut early = !catalog.is_admitted();
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
            }
        }
    }
}
