//! Messages of a client to calls of its session that another host of the fleet runs.
//!
//! Any host may receive what a client answers, so the ids of the server's requests name the host that waits for the answer. Which
//! host runs a call of the client is unknown, so what concerns one goes to all.

use std::sync::Arc;

use futures_util::{FutureExt, Stream, StreamExt, future::BoxFuture};
use rmcp::{
    model::{
        ClientJsonRpcMessage, ClientNotification, JsonRpcMessage, NumberOrString, RequestId,
        ServerJsonRpcMessage, ServerNotification,
    },
    transport::{
        common::server_side_http::{ServerSseMessage, SessionId},
        streamable_http_server::SessionManager,
    },
};

use super::{BoundedSessions, phase::SessionPhase};
use crate::fleet::{FleetMessage, SessionMessages};

impl BoundedSessions {
    /// Writes the address of this host into the ids of its requests.
    pub(super) fn with_shared_ids(
        &self,
        stream: impl Stream<Item = ServerSseMessage> + Send + Sync + 'static,
    ) -> impl Stream<Item = ServerSseMessage> + Send + Sync + 'static {
        let host: Option<Arc<str>> = self.fleet.as_ref().map(|fleet| fleet.address().into());
        stream.map(move |mut event| {
            if let (Some(host), Some(message)) = (&host, &mut event.message)
                && let Some(shared) = with_shared_id(message, host)
            {
                *message = Arc::new(shared);
            }
            event
        })
    }

    /// Takes a message of a client that is for this host, with the id that this host knows. Passes the others on.
    pub(super) fn take_own(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Option<ClientJsonRpcMessage> {
        let Some(fleet) = &self.fleet else { return Some(message) };
        let (host, message) = with_own_id(message);
        let to_all = host.is_none() && concerns_calls(&message);
        if host.as_deref().is_none_or(|host| host == fleet.address()) && !to_all {
            return Some(message);
        }
        let passed = serde_json::to_value(&message).ok()?;
        let passed = FleetMessage::Session { session: id.to_string(), message: passed };
        match host {
            Some(host) => {
                fleet.post(&host, &passed);
                None
            }
            None => {
                fleet.send_all(&passed);
                Some(message)
            }
        }
    }

    /// Lets the other hosts forget a session.
    pub(super) fn end_elsewhere(&self, id: &SessionId) {
        if let Some(fleet) = &self.fleet {
            fleet.send_all(&FleetMessage::SessionEnd { session: id.to_string() });
        }
    }

    /// Takes a message for calls that this host runs in a session.
    async fn accept_passed(self: Arc<Self>, id: SessionId, message: ClientJsonRpcMessage) {
        // A session that sleeps has no calls.
        let is_awake = self.table().0.get(&id).is_some_and(|session| session.is_in(SessionPhase::Awake));
        if is_awake && let Err(error) = self.local.accept_message(&id, message).await {
            tracing::debug!("a message for a session was not taken: {error}");
        }
    }
}

impl SessionMessages for Arc<BoundedSessions> {
    fn accept(&self, session: String, message: ClientJsonRpcMessage) -> BoxFuture<'static, ()> {
        Arc::clone(self).accept_passed(session.into(), message).boxed()
    }

    fn end(&self, session: String) -> BoxFuture<'static, ()> {
        let sessions = Arc::clone(self);
        async move {
            let id = SessionId::from(session);
            sessions.forget(&id);
            sessions.release(&id).await;
        }
        .boxed()
    }
}

/// Returns a message with the address in its id, if it is a request of the server, or cancels one.
fn with_shared_id(message: &ServerJsonRpcMessage, host: &str) -> Option<ServerJsonRpcMessage> {
    match message {
        JsonRpcMessage::Request(request) => {
            let mut request = request.clone();
            request.id = to_shared(&request.id, host);
            Some(JsonRpcMessage::Request(request))
        }
        JsonRpcMessage::Notification(notification) => match &notification.notification {
            ServerNotification::CancelledNotification(cancelled) => {
                let id = to_shared(cancelled.params.request_id.as_ref()?, host);
                let mut notification = notification.clone();
                if let ServerNotification::CancelledNotification(cancelled) = &mut notification.notification {
                    cancelled.params.request_id = Some(id);
                }
                Some(JsonRpcMessage::Notification(notification))
            }
            _ => None,
        },
        _ => None,
    }
}

/// Returns the address in the id of a client's answer, and the answer with the id that this host knows.
fn with_own_id(message: ClientJsonRpcMessage) -> (Option<String>, ClientJsonRpcMessage) {
    match message {
        JsonRpcMessage::Response(mut response) => {
            let own = from_shared(&response.id);
            let host = own.map(|(host, id)| {
                response.id = id;
                host
            });
            (host, JsonRpcMessage::Response(response))
        }
        JsonRpcMessage::Error(mut error) => {
            let own = error.id.as_ref().and_then(from_shared);
            let host = own.map(|(host, id)| {
                error.id = Some(id);
                host
            });
            (host, JsonRpcMessage::Error(error))
        }
        other => (None, other),
    }
}

/// Returns true for notifications that may concern calls of any host.
fn concerns_calls(message: &ClientJsonRpcMessage) -> bool {
    let JsonRpcMessage::Notification(notification) = message else { return false };
    matches!(notification.notification, ClientNotification::CancelledNotification(_))
}

fn to_shared(id: &RequestId, host: &str) -> RequestId {
    NumberOrString::String(format!("{host}.{id}").into())
}

fn from_shared(id: &RequestId) -> Option<(String, RequestId)> {
    let NumberOrString::String(text) = id else { return None };
    let (host, number) = text.split_once('.')?;
    Some((host.to_owned(), NumberOrString::Number(number.parse().ok()?)))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn ids_of_the_servers_requests_name_their_host() {
        let shared = |message: Value| {
            let message: ServerJsonRpcMessage = serde_json::from_value(message).unwrap();
            with_shared_id(&message, "abc").map(|message| serde_json::to_value(message).unwrap())
        };
        let ping = json!({"jsonrpc": "2.0", "id": 7, "method": "ping"});
        assert_eq!(shared(ping).unwrap()["id"], "abc.7");
        let cancel =
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}});
        assert_eq!(shared(cancel).unwrap()["params"]["requestId"], "abc.7");
        assert_eq!(shared(json!({"jsonrpc": "2.0", "id": 7, "result": {}})), None);
        assert_eq!(shared(json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})), None);
    }

    #[test]
    fn answers_find_their_host() {
        for (id, host, own) in [
            (json!("abc.7"), Some("abc"), json!(7)),
            (json!("abc"), None, json!("abc")),
            (json!("abc.x"), None, json!("abc.x")),
            (json!(7), None, json!(7)),
        ] {
            for rest in
                [json!({"result": {"action": "decline"}}), json!({"error": {"code": 1, "message": "x"}})]
            {
                let mut message = rest;
                message["jsonrpc"] = "2.0".into();
                message["id"] = id.clone();
                let (found, message) = with_own_id(serde_json::from_value(message).unwrap());
                assert_eq!(found.as_deref(), host, "{id}");
                assert_eq!(serde_json::to_value(message).unwrap()["id"], own, "{id}");
            }
        }
    }
}
