//! Streams on which clients wait for news, which is all that a session has to say without a request. They outlive what rmcp
//! holds of it: most clients keep one open for as long as they live, so a session that only listens sleeps too.

use std::{future, sync::Arc};

use futures_util::{Stream, StreamExt, stream, stream::BoxStream};
use rmcp::{
    model::{ServerJsonRpcMessage, ServerNotification, ToolListChangedNotification},
    transport::{
        common::server_side_http::{ServerSseMessage, SessionId},
        streamable_http_server::{SessionManager, session::local::LocalSessionManager},
    },
};
use tokio::sync::{Mutex, mpsc, watch};

use super::uses::State;

/// What a session that sleeps has not told yet: changes of the list since it fell asleep. None where it did not sleep, or has
/// told. One stream at a time looks, so that nothing is told twice.
pub type Missed = Arc<Mutex<Option<watch::Receiver<()>>>>;

/// A stream of a session.
pub struct Listening {
    pub id: SessionId,
    pub local: Arc<LocalSessionManager>,
    /// Closed with the session.
    pub state: watch::Receiver<State>,
    pub missed: Missed,
    /// While it is held, the session does not end.
    #[allow(dead_code, reason = "it is held, not read")]
    pub held: Arc<()>,
}

impl Listening {
    /// What rmcp tells while the session is awake, which begins with `first`, and what there is to tell while it sleeps.
    pub fn stream(
        self,
        first: BoxStream<'static, ServerSseMessage>,
    ) -> impl Stream<Item = ServerSseMessage> + Send + Sync + 'static {
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
    async fn follow(
        mut self,
        tell: &mpsc::Sender<ServerSseMessage>,
        first: BoxStream<'static, ServerSseMessage>,
    ) -> Option<()> {
        let mut awake = first;
        loop {
            self.catch_up(tell).await?;
            while let Some(message) = awake.next().await {
                tell.send(message).await.ok()?;
            }
            awake = self.sleep(tell).await?;
        }
    }

    /// What happened while it slept.
    async fn catch_up(&self, tell: &mpsc::Sender<ServerSseMessage>) -> Option<()> {
        let missed = self.missed.lock().await.take();
        if missed.is_some_and(|missed| missed.has_changed().unwrap_or(false)) {
            tell.send(changed()).await.ok()?;
        }
        Some(())
    }

    /// Waits for a request to wake the session; none if it ended.
    async fn sleep(
        &mut self,
        tell: &mpsc::Sender<ServerSseMessage>,
    ) -> Option<BoxStream<'static, ServerSseMessage>> {
        loop {
            tokio::select! {
                biased;
                there = awake(&mut self.state) => there.then_some(())?,
                () = next(&self.missed) => {
                    tell.send(changed()).await.ok()?;
                    continue;
                }
            }
            match self.local.create_standalone_stream(&self.id).await {
                Ok(stream) => return Some(stream.boxed()),
                // It fell asleep again in between.
                Err(_) if *self.state.borrow() != State::Awake => {}
                Err(_) => return None,
            }
        }
    }
}

/// Whether it still is when it is awake.
async fn awake(state: &mut watch::Receiver<State>) -> bool {
    state.wait_for(|state| *state == State::Awake).await.is_ok()
}

fn changed() -> ServerSseMessage {
    let changed = ServerNotification::ToolListChangedNotification(ToolListChangedNotification::default());
    ServerSseMessage::from_message(ServerJsonRpcMessage::notification(changed))
}

async fn next(missed: &Missed) {
    let mut missed = missed.lock().await;
    if let Some(changes) = &mut *missed
        && changes.changed().await.is_ok()
    {
        return;
    }
    future::pending().await
}
