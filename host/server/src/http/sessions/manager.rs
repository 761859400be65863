//! Sessions as rmcp uses them.

use std::{sync::Arc, time::Instant};

use futures_util::{Stream, StreamExt};
use rmcp::{
    model::{ClientJsonRpcMessage, ServerJsonRpcMessage},
    transport::{
        common::server_side_http::{ServerSseMessage, SessionId},
        streamable_http_server::{
            RestoreOutcome, SessionManager,
            session::{
                SessionState, SessionStore, SessionStoreError,
                local::{LocalSessionManager, LocalSessionManagerError},
            },
        },
    },
};

use super::{
    BoundedSessions, CALLER, REQUEST_ID, caller, keep_with,
    phase::SessionPhase,
    plain::{answer_plainly, hold_back},
};
use crate::mcp::unshared_message;

impl SessionManager for BoundedSessions {
    type Error = LocalSessionManagerError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        let id = self.new_id();
        // Unlike its `create_session`, this takes an id.
        let RestoreOutcome::Restored(transport) = self.local.restore_session(id.clone()).await? else {
            return Err(LocalSessionManagerError::SessionNotFound(id));
        };
        let evicted = {
            let mut table = self.table();
            let evicted =
                table.insert(id.clone(), caller(), self.changes.clone(), self.limit, Instant::now());
            self.count.set(table.0.len());
            evicted
        };
        self.release_evicted(evicted).await;
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        let response = self.local.initialize_session(id, message).await?;
        answer_plainly(&response);
        Ok(response)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        // A waking session is reported as missing, which makes rmcp restore it.
        let is_awake = self.table().0.get(id).is_some_and(|session| session.is_in(SessionPhase::Awake));
        Ok(is_awake && self.touch_own(id).is_ok() && self.local.has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        // rmcp also calls this outside of any request, when a worker has ended.
        let is_asked = CALLER.try_with(|_| ()).is_ok();
        if is_asked {
            // Other callers' sessions do not exist for this one, and closing a missing session is no error.
            if self.touch(id, &caller()).is_none() {
                return Ok(());
            }
            self.forget(id);
            self.end_elsewhere(id);
        } else if let Some(session) = self.table().0.get_mut(id)
            && session.expected_closes > 0
        {
            session.expected_closes -= 1;
            return Ok(());
        } else {
            let mut table = self.table();
            table.0.remove(id);
            self.count.set(table.0.len());
        }
        self.local.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let session = self.touch_own(id)?;
        let stream = self.with_shared_ids(self.local.create_stream(id, message).await?);
        let held = REQUEST_ID.try_with(Clone::clone).ok().flatten();
        Ok(hold_back(keep_with(stream, (session, held))).await.map(unshare))
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), Self::Error> {
        self.touch_own(id)?;
        match self.take_own(id, message) {
            Some(message) => self.local.accept_message(id, message).await,
            None => Ok(()),
        }
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        // Keep it awake until rmcp has opened the stream.
        let _busy = self.touch_own(id)?;
        self.listening(id, self.local.create_standalone_stream(id).await?.boxed())
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let session = self.touch_own(id)?;
        if last_event_id.contains('/') {
            let stream = self.with_shared_ids(self.local.resume(id, last_event_id).await?);
            return Ok(keep_with(stream, session).map(unshare).left_stream());
        }
        // rmcp's event ids restart after hibernation.
        let slept = self.table().0.get(id).is_some_and(|session| session.has_hibernated);
        let resumed = match slept {
            true => self.local.create_standalone_stream(id).await?.boxed(),
            false => self.local.resume(id, last_event_id).await?.boxed(),
        };
        Ok(self.listening(id, resumed.map(unshare).boxed())?.right_stream())
    }

    async fn restore_session(&self, id: SessionId) -> Result<RestoreOutcome<Self::Transport>, Self::Error> {
        let _turning = self.transition.lock().await;
        // It may have ended since the lookup.
        match self.table().0.contains_key(&id) {
            true => {}
            false => return Ok(RestoreOutcome::NotSupported),
        }
        self.local.restore_session(id).await
    }
}

/// Prepares an event for rmcp, which writes it by itself.
fn unshare(mut event: ServerSseMessage) -> ServerSseMessage {
    if let Some(message) = event.message.as_deref().and_then(unshared_message) {
        event.message = Some(Arc::new(message));
    }
    event
}

/// Lets rmcp restore hibernated sessions from their `initialize` parameters. Other callers' sessions are not found.
#[async_trait::async_trait]
impl SessionStore for BoundedSessions {
    async fn load(&self, id: &str) -> Result<Option<SessionState>, SessionStoreError> {
        let id = SessionId::from(id);
        if self.touch(&id, &caller()).is_none() {
            return Ok(None);
        }
        Ok(self
            .table()
            .0
            .get(&id)
            .and_then(|session| session.initialize_params.as_deref().cloned())
            .map(SessionState::new))
    }

    async fn store(&self, id: &str, state: &SessionState) -> Result<(), SessionStoreError> {
        if let Some(session) = self.table().0.get_mut(&SessionId::from(id)) {
            session.initialize_params = Some(Arc::new(state.initialize_params.clone()));
        }
        Ok(())
    }

    async fn delete(&self, _: &str) -> Result<(), SessionStoreError> {
        // `close_session` was called before, with the caller's identity.
        Ok(())
    }
}
