//! The sessions of stateful HTTP clients: rmcp's own, but only so many. Whoever can connect can begin sessions, and
//! each holds some 60 KB until its client says goodbye, which few do.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use futures_util::{Stream, StreamExt};
use rmcp::{
    model::{ClientJsonRpcMessage, ServerJsonRpcMessage},
    transport::{
        common::server_side_http::{ServerSseMessage, SessionId},
        streamable_http_server::{
            SessionManager,
            session::local::{LocalSessionManager, LocalSessionManagerError},
        },
    },
};

use crate::telemetry::meters::Gauge;

/// Sessions at once. A client whose session made room for another is told so (404), and by the protocol begins anew.
const MOST: usize = 256;
/// A client that is silent for so long loses its session, and with it the news that the list changed.
const SILENCE: Duration = Duration::from_secs(24 * 60 * 60);

/// rmcp's sessions, the idlest of which makes room where there are too many.
pub struct Sessions {
    local: LocalSessionManager,
    uses: Mutex<HashMap<SessionId, Use>>,
    /// How many there are.
    count: Arc<Gauge>,
}

/// How a session is used.
struct Use {
    last: Instant,
    /// Held by each of its open streams too.
    open: Arc<()>,
}

impl Default for Sessions {
    fn default() -> Self {
        let mut local = LocalSessionManager::default();
        local.session_config.keep_alive = Some(SILENCE);
        Self { local, uses: Mutex::default(), count: Arc::default() }
    }
}

impl Sessions {
    /// None yet; how many there are is told there.
    pub fn counted(count: Arc<Gauge>) -> Self {
        Self { count, ..Self::default() }
    }

    fn uses(&self) -> MutexGuard<'_, HashMap<SessionId, Use>> {
        self.uses.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A session is used now; what keeps it from being idle.
    fn touch(&self, id: &SessionId) -> Option<Arc<()>> {
        let mut uses = self.uses();
        let session = uses.get_mut(id)?;
        session.last = Instant::now();
        Some(Arc::clone(&session.open))
    }

    /// Counts a session that begins; the one that makes room for it, if one must.
    fn begin(&self, id: &SessionId) -> Option<SessionId> {
        let mut uses = self.uses();
        let idlest =
            || uses.iter().min_by_key(|(_, session)| (Arc::strong_count(&session.open) > 1, session.last));
        let room = (uses.len() >= MOST).then(|| idlest().map(|(id, _)| id.clone())).flatten();
        if let Some(room) = &room {
            uses.remove(room);
        }
        uses.insert(id.clone(), Use { last: Instant::now(), open: Arc::default() });
        self.count.set(uses.len());
        room
    }
}

/// A stream that keeps its session from being idle while it is open.
fn open<S: Stream>(stream: S, session: Option<Arc<()>>) -> impl Stream<Item = S::Item> {
    stream.inspect(move |_| {
        let _open = &session;
    })
}

impl SessionManager for Sessions {
    type Error = LocalSessionManagerError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        let created = self.local.create_session().await?;
        if let Some(room) = self.begin(&created.0) {
            tracing::debug!("a session makes room for another");
            let _ = self.local.close_session(&room).await;
        }
        Ok(created)
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        self.local.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        self.touch(id);
        self.local.has_session(id).await
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        {
            let mut uses = self.uses();
            uses.remove(id);
            self.count.set(uses.len());
        }
        self.local.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let session = self.touch(id);
        Ok(open(self.local.create_stream(id, message).await?, session))
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), Self::Error> {
        self.local.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let session = self.touch(id);
        Ok(open(self.local.create_standalone_stream(id).await?, session))
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let session = self.touch(id);
        Ok(open(self.local.resume(id, last_event_id).await?, session))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_idlest_session_makes_room_and_one_with_an_open_stream_last() {
        let sessions = Sessions::default();
        let id = |n: usize| SessionId::from(format!("s{n}"));
        for n in 0..MOST {
            assert_eq!(sessions.begin(&id(n)), None, "{n}");
        }
        let stream = sessions.touch(&id(0));
        sessions.touch(&id(1));
        assert_eq!(sessions.begin(&id(MOST)), Some(id(2)), "the least lately used");
        for n in 3..=MOST + 1 {
            // 1 was used after all that followed it; 0 longest ago, but it is open.
            let expected = if n < MOST {
                id(n)
            } else if n == MOST {
                id(1)
            } else {
                id(MOST)
            };
            assert_eq!(sessions.begin(&id(MOST + n)), Some(expected), "{n}");
        }
        drop(stream);
        assert_eq!(sessions.begin(&id(3 * MOST)), Some(id(0)));
    }
}
