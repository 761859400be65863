//! Streams on which clients wait for news, which is all that a session has to say without a request. They outlive what rmcp
//! holds of it: most clients keep one open for as long as they live, so a session that only listens sleeps too.
//!
//! A change may be told twice, where rmcp tells it at the moment when the session falls asleep or wakes up, but is never left
//! out: who is told once too often asks for a list.

use std::{future, sync::Arc};

use futures_util::{FutureExt, Stream, StreamExt, stream, stream::BoxStream};
use rmcp::{
    model::{
        JsonRpcMessage, JsonRpcNotification, ServerJsonRpcMessage, ServerNotification,
        ToolListChangedNotification,
    },
    transport::{
        common::server_side_http::{ServerSseMessage, SessionId},
        streamable_http_server::{SessionManager, session::local::LocalSessionManager},
    },
};
use tokio::sync::{mpsc, watch};

use super::phase::{PendingChanges, SessionPhase};

/// A stream of a session.
pub struct NotificationStream {
    pub id: SessionId,
    pub local: Arc<LocalSessionManager>,
    /// Closed with the session.
    pub state: watch::Receiver<SessionPhase>,
    pub news: PendingChanges,
    /// Whether something may have been told to an earlier stream that nobody heard any more.
    pub missed: bool,
    /// While it is held, the session does not end.
    #[allow(dead_code, reason = "it is held, not read")]
    pub held: Arc<()>,
}

type EventStream = BoxStream<'static, ServerSseMessage>;
type EventSender = mpsc::Sender<ServerSseMessage>;

impl NotificationStream {
    /// What rmcp tells while the session is awake, which begins with `first`, and what there is to tell while it sleeps.
    pub fn stream(self, first: EventStream) -> impl Stream<Item = ServerSseMessage> + Send + Sync + 'static {
        let (tell, mut told) = mpsc::channel(1);
        tokio::spawn(async move {
            tokio::select! {
                () = tell.closed() => {}
                _over = self.follow(&tell, first) => {}
            }
        });
        stream::poll_fn(move |context| told.poll_recv(context))
    }

    /// Ends with the session, or when nobody listens any more.
    async fn follow(mut self, tell: &EventSender, mut awake: EventStream) -> Option<()> {
        loop {
            self.catch_up(tell, &mut awake).await?;
            while let Some(message) = awake.next().await {
                self.forward(tell, message).await?;
            }
            drop(awake);
            // Of too many streams of a session that is awake, rmcp ends some.
            if !self.state.has_changed().ok()? {
                return None;
            }
            awake = self.wait_until_awake(tell).await?;
        }
    }

    /// First what rmcp has kept for the stream, then what happened while it could keep nothing.
    async fn catch_up(&mut self, tell: &EventSender, awake: &mut EventStream) -> Option<()> {
        while let Some(Some(message)) = awake.next().now_or_never() {
            self.missed &= !is_list_changed(&message);
            self.forward(tell, message).await?;
        }
        let mut news = self.news.lock().await;
        if std::mem::take(&mut self.missed) || news.has_changed().unwrap_or(false) {
            news.mark_unchanged();
            drop(news);
            tell.send(list_changed()).await.ok()?;
        }
        Some(())
    }

    async fn forward(&self, tell: &EventSender, message: ServerSseMessage) -> Option<()> {
        if is_list_changed(&message) {
            self.news.lock().await.mark_unchanged();
        }
        tell.send(message).await.ok()
    }

    /// Waits for a request to wake the session; none if it ended.
    async fn wait_until_awake(&mut self, tell: &EventSender) -> Option<EventStream> {
        loop {
            tokio::select! {
                biased;
                there = wait_awake(&mut self.state) => there.then_some(())?,
                () = next_change(&self.news) => {
                    tell.send(list_changed()).await.ok()?;
                    continue;
                }
            }
            match self.local.create_standalone_stream(&self.id).await {
                Ok(stream) => return Some(stream.boxed()),
                // It fell asleep again in between.
                Err(_) if self.state.has_changed().ok()? => {}
                Err(_) => return None,
            }
        }
    }
}

/// Whether it still is when it is awake.
async fn wait_awake(state: &mut watch::Receiver<SessionPhase>) -> bool {
    state.wait_for(|state| *state == SessionPhase::Awake).await.is_ok()
}

async fn next_change(news: &PendingChanges) {
    if news.lock().await.changed().await.is_err() {
        future::pending().await
    }
}

fn list_changed() -> ServerSseMessage {
    let changed = ServerNotification::ToolListChangedNotification(ToolListChangedNotification::default());
    ServerSseMessage::from_message(ServerJsonRpcMessage::notification(changed))
}

fn is_list_changed(message: &ServerSseMessage) -> bool {
    matches!(
        message.message.as_deref(),
        Some(JsonRpcMessage::Notification(JsonRpcNotification {
            notification: ServerNotification::ToolListChangedNotification(_),
            ..
        }))
    )
}
