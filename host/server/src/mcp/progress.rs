//! Progress notifications of a request.

use std::time::Duration;

use loggia_facade::Progress;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use tokio::time::Instant;

use super::handler::McpContext;

/// Sends the progress notifications of one request: only if the client gave a token, and with increasing values, as MCP
/// requires. They are rate-limited, since a plugin may report as often as it likes.
pub(super) struct ProgressSender {
    token: Option<ProgressToken>,
    last: f64,
    /// Earliest time of the next notification.
    pub(super) next_at: Instant,
    /// Latest progress that came too early to be sent.
    pub(super) pending: Option<Progress>,
}

/// Minimum interval between notifications.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(20);

impl ProgressSender {
    pub(super) fn new(context: &McpContext) -> Self {
        Self {
            token: context.meta.get_progress_token(),
            last: f64::NEG_INFINITY,
            next_at: Instant::now(),
            pending: None,
        }
    }

    pub(super) async fn report(&mut self, context: &McpContext, progress: Progress) {
        if self.token.is_none() || progress.done <= self.last {
            return;
        }
        let now = Instant::now();
        // Even for the last value: a plugin may claim completion as often as it likes.
        if now < self.next_at {
            self.pending = Some(progress);
            return;
        }
        self.pending = None;
        let Some(token) = self.token.clone() else { return };
        (self.last, self.next_at) = (progress.done, now + PROGRESS_INTERVAL);
        let mut params = ProgressNotificationParam::new(token, progress.done);
        if let Some(total) = progress.total {
            params = params.with_total(total);
        }
        if let Some(message) = progress.message {
            params = params.with_message(message);
        }
        // A disconnected client is noticed by the request's own token.
        let _ = context.peer.notify_progress(params).await;
    }

    /// Sends the pending progress: the next may come late or never.
    pub(super) async fn flush(&mut self, context: &McpContext) {
        if let Some(progress) = self.pending.take() {
            self.next_at = Instant::now();
            self.report(context, progress).await;
        }
    }
}
