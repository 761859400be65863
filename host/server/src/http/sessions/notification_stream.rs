//! Notification streams of sessions. They carry list changes, the only messages outside of requests, and survive hibernation:
//! most clients keep one open for their lifetime, so a session that only listens hibernates, too.
//!
//! Delivery is at least once: a change may be sent twice if the session hibernates or wakes at that moment, and then the
//! client asks for the lists once more than necessary.

use std::{future, sync::Arc};

use futures_util::{FutureExt, Stream, StreamExt, stream, stream::BoxStream};
use rmcp::{
    model::{
        JsonRpcMessage, JsonRpcNotification, PromptListChangedNotification, ResourceListChangedNotification,
        ServerJsonRpcMessage, ServerNotification, ToolListChangedNotification,
    },
    transport::{
        common::server_side_http::{ServerSseMessage, SessionId},
        streamable_http_server::{SessionManager, session::local::LocalSessionManager},
    },
};
use tokio::sync::{mpsc, watch};

use super::phase::{PendingChanges, SessionPhase};

/// A notification stream of a session.
pub struct NotificationStream {
    pub id: SessionId,
    pub local: Arc<LocalSessionManager>,
    /// Phase of the session; closed when the session ends.
    pub state: watch::Receiver<SessionPhase>,
    pub news: PendingChanges,
    /// Set if an earlier stream may have lost a change.
    pub missed: bool,
    /// Prevents the session from expiring while the stream is open.
    #[allow(dead_code, reason = "it is held, not read")]
    pub held: Arc<()>,
}

type EventStream = BoxStream<'static, ServerSseMessage>;
type EventSender = mpsc::Sender<ServerSseMessage>;

impl NotificationStream {
    /// Builds the stream: rmcp's messages while the session is awake, starting with `first`, and changes while it hibernates.
    pub fn stream(self, first: EventStream) -> impl Stream<Item = ServerSseMessage> + Send + Sync + 'static {
        let (sender, mut receiver) = mpsc::channel(1);
        tokio::spawn(async move {
            tokio::select! {
                () = sender.closed() => {}
                _over = self.run(&sender, first) => {}
            }
        });
        stream::poll_fn(move |context| receiver.poll_recv(context))
    }

    /// Runs until the session ends or the client disconnects.
    async fn run(mut self, sender: &EventSender, mut awake: EventStream) -> Option<()> {
        loop {
            self.catch_up(sender, &mut awake).await?;
            while let Some(message) = awake.next().await {
                self.forward(sender, message).await?;
            }
            drop(awake);
            // rmcp ends streams above its limit, even of a session that is awake.
            if !self.state.has_changed().ok()? {
                return None;
            }
            awake = self.wait_until_awake(sender).await?;
        }
    }

    /// Sends the messages that rmcp has buffered, then a change that occurred while it could not buffer.
    async fn catch_up(&mut self, sender: &EventSender, awake: &mut EventStream) -> Option<()> {
        while let Some(Some(message)) = awake.next().now_or_never() {
            self.missed &= !ends_change(&message);
            self.forward(sender, message).await?;
        }
        let mut news = self.news.lock().await;
        if std::mem::take(&mut self.missed) || news.has_changed().unwrap_or(false) {
            news.mark_unchanged();
            drop(news);
            return send_changes(sender).await;
        }
        Some(())
    }

    async fn forward(&self, sender: &EventSender, message: ServerSseMessage) -> Option<()> {
        if ends_change(&message) {
            self.news.lock().await.mark_unchanged();
        }
        sender.send(message).await.ok()
    }

    /// Waits for a request to wake the session; returns `None` if the session ended.
    async fn wait_until_awake(&mut self, sender: &EventSender) -> Option<EventStream> {
        loop {
            tokio::select! {
                biased;
                there = wait_awake(&mut self.state) => there.then_some(())?,
                () = next_change(&self.news) => {
                    send_changes(sender).await?;
                    continue;
                }
            }
            match self.local.create_standalone_stream(&self.id).await {
                Ok(stream) => return Some(stream.boxed()),
                // It hibernated again in between.
                Err(_) if self.state.has_changed().ok()? => {}
                Err(_) => return None,
            }
        }
    }
}

/// Waits until the session is awake; returns false if it ended.
async fn wait_awake(state: &mut watch::Receiver<SessionPhase>) -> bool {
    state.wait_for(|state| *state == SessionPhase::Awake).await.is_ok()
}

async fn next_change(news: &PendingChanges) {
    if news.lock().await.changed().await.is_err() {
        future::pending().await
    }
}

/// Sends what an awake session is sent for a change, in the same order.
async fn send_changes(sender: &EventSender) -> Option<()> {
    let changes = [
        ServerNotification::ToolListChangedNotification(ToolListChangedNotification::default()),
        ServerNotification::PromptListChangedNotification(PromptListChangedNotification::default()),
        ServerNotification::ResourceListChangedNotification(ResourceListChangedNotification::default()),
    ];
    for change in changes {
        let message = ServerJsonRpcMessage::notification(change);
        sender.send(ServerSseMessage::from_message(message)).await.ok()?;
    }
    Some(())
}

/// Returns true for the last notification of a change.
fn ends_change(message: &ServerSseMessage) -> bool {
    matches!(
        message.message.as_deref(),
        Some(JsonRpcMessage::Notification(JsonRpcNotification {
            notification: ServerNotification::ResourceListChangedNotification(_),
            ..
        }))
    )
}
