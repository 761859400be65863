//! Plain JSON instead of an event stream, for responses before which nothing is streamed. rmcp 3.11 answers each request of a
//! session with a stream, although its clients must accept both.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::{
    body::Body,
    http::{
        HeaderValue,
        header::{CACHE_CONTROL, CONTENT_TYPE},
    },
    response::Response,
};
use futures_util::{Stream, StreamExt, stream};
use rmcp::{model::ServerJsonRpcMessage, transport::common::server_side_http::ServerSseMessage};
use tokio::time::{Instant, timeout_at};

use crate::mcp::message_text;

/// Time after which a stream begins without a message: some clients and proxies give up if there are no headers.
const PATIENCE: Duration = Duration::from_secs(1);

tokio::task_local! {
    /// Slot of the current request. rmcp calls the session manager within the request's task.
    static PLAIN: Arc<PlainSlot>;
}

/// The response of a request that needs no stream.
#[derive(Default)]
struct PlainSlot(Mutex<Option<Arc<ServerJsonRpcMessage>>>);

/// Holds a request's stream back until its first message. If that is the response, it is put into the request's slot, and
/// the stream is empty. Otherwise the stream begins as rmcp made it, with the event that lets a client resume it.
pub async fn hold_back<S>(stream: S) -> impl Stream<Item = ServerSseMessage> + Send + Sync + 'static
where
    S: Stream<Item = ServerSseMessage> + Send + Sync + 'static,
{
    let mut stream: Pin<Box<dyn Stream<Item = ServerSseMessage> + Send + Sync>> = Box::pin(stream);
    let mut begun = Vec::new();
    if let Ok(slot) = PLAIN.try_with(Arc::clone) {
        let until = Instant::now() + PATIENCE;
        while let Ok(Some(event)) = timeout_at(until, stream.next()).await {
            let message = event.message.as_ref();
            let is_first = message.is_some();
            if let Some(response) = message.filter(|message| is_response(message)) {
                slot.put(Arc::clone(response));
                begun.clear();
                break;
            }
            begun.push(event);
            if is_first {
                break;
            }
        }
    }
    stream::iter(begun).chain(stream)
}

fn is_response(message: &ServerJsonRpcMessage) -> bool {
    matches!(message, ServerJsonRpcMessage::Response(_) | ServerJsonRpcMessage::Error(_))
}

/// Answers the current request with this message alone.
pub fn answer_plainly(message: &ServerJsonRpcMessage) {
    let _ = PLAIN.try_with(|slot| slot.put(Arc::new(message.clone())));
}

impl PlainSlot {
    fn put(&self, message: Arc<ServerJsonRpcMessage>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(message);
    }
}

/// Runs a request; replaces the stream of its response by the message that was put into its slot, if there is one.
pub async fn run_plain(request: impl Future<Output = Response>) -> Response {
    let slot = Arc::<PlainSlot>::default();
    let response = PLAIN.scope(Arc::clone(&slot), request).await;
    let message = slot.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    match message.and_then(|message| message_text(&message).ok()) {
        Some(text) => to_json(response, text),
        None => response,
    }
}

/// Replaces the body, and the headers of a stream.
fn to_json(response: Response, text: String) -> Response {
    let (mut head, _) = response.into_parts();
    head.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    head.headers.remove(CACHE_CONTROL);
    head.headers.remove("x-accel-buffering");
    Response::from_parts(head, Body::from(text))
}

#[cfg(test)]
mod tests {
    use rmcp::model::{
        JsonRpcMessage, RequestId, ServerNotification, ServerResult, ToolListChangedNotification,
    };

    use super::*;

    fn response() -> ServerSseMessage {
        let response = JsonRpcMessage::response(ServerResult::empty(()), RequestId::Number(1));
        ServerSseMessage::from_message(response)
    }

    fn notification() -> ServerSseMessage {
        let notification =
            ServerNotification::ToolListChangedNotification(ToolListChangedNotification::default());
        ServerSseMessage::from_message(JsonRpcMessage::notification(notification))
    }

    fn priming() -> ServerSseMessage {
        ServerSseMessage::priming("0", Duration::from_secs(3))
    }

    /// Checks how many events are streamed, and whether there is a plain response.
    async fn check(events: Vec<ServerSseMessage>, ends: bool, expected: (usize, bool)) {
        let slot = Arc::<PlainSlot>::default();
        let tail = if ends { stream::empty().left_stream() } else { stream::pending().right_stream() };
        let held = PLAIN.scope(Arc::clone(&slot), hold_back(stream::iter(events).chain(tail))).await;
        let streamed = held.take_until(tokio::time::sleep(Duration::from_secs(5))).count().await;
        let plain = slot.0.lock().unwrap().is_some();
        assert_eq!((streamed, plain), expected);
    }

    #[tokio::test(start_paused = true)]
    async fn only_a_response_before_all_else_is_plain() {
        check(vec![response()], true, (0, true)).await;
        check(vec![priming(), response()], true, (0, true)).await;
        check(vec![priming(), notification(), response()], true, (3, false)).await;
        check(vec![notification(), response()], true, (2, false)).await;
        check(vec![priming()], false, (1, false)).await;
        check(vec![], true, (0, false)).await;
    }
}
