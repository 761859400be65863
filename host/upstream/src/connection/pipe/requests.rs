//! Requests of calls, written without rmcp.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use rmcp::model::{
    ClientRequest, GetMeta, JsonRpcMessage, NumberOrString, ProgressToken, RequestId, RequestMetaObject,
};
use tokio::sync::oneshot;

use super::{
    responses::{PendingResponses, PipeResponse},
    writer::{ChildWriter, PipeClosed},
};

/// First id of a call. rmcp counts its own requests from zero, and sends few. Both fit into 31 bits, which all servers read.
const FIRST_ID: i64 = 1 << 30;

/// Sends the requests of calls to a child. Cheap to clone.
#[derive(Clone)]
pub(in crate::connection) struct PipeRequests {
    writer: ChildWriter,
    responses: Arc<PendingResponses>,
    /// Number of the next request.
    next: Arc<AtomicI64>,
}

/// Id of a request that is about to be sent, and its progress token.
pub(in crate::connection) struct RequestName {
    pub(in crate::connection) id: RequestId,
    pub(in crate::connection) token: ProgressToken,
}

/// A response that is waited for. Dropping it gives the response up.
pub(in crate::connection) struct AwaitedResponse {
    id: RequestId,
    responses: Arc<PendingResponses>,
    receiver: oneshot::Receiver<PipeResponse>,
}

impl PipeRequests {
    pub(super) fn new(writer: ChildWriter, responses: Arc<PendingResponses>) -> Self {
        Self { writer, responses, next: Arc::default() }
    }

    /// Returns an id that no request in flight has.
    pub(in crate::connection) fn next_name(&self) -> RequestName {
        let number = FIRST_ID + self.next.fetch_add(1, Ordering::Relaxed) % FIRST_ID;
        RequestName {
            id: NumberOrString::Number(number),
            token: ProgressToken(NumberOrString::Number(number)),
        }
    }

    /// Sends a request with this metadata. The response is awaited apart.
    pub(in crate::connection) async fn send(
        &self,
        mut request: ClientRequest,
        name: RequestName,
        meta: &RequestMetaObject,
    ) -> Result<AwaitedResponse, PipeClosed> {
        let own = request.get_meta_mut();
        own.extend(meta.clone());
        own.set_progress_token(name.token);
        let receiver = self.responses.add(name.id.clone());
        let awaited =
            AwaitedResponse { id: name.id.clone(), responses: Arc::clone(&self.responses), receiver };
        let message = JsonRpcMessage::<_, (), ()>::request(request, name.id);
        let mut line = serde_json::to_vec(&message).map_err(|_| PipeClosed)?;
        line.push(b'\n');
        self.writer.send(line).await?;
        Ok(awaited)
    }
}

impl AwaitedResponse {
    /// Waits for the response. Stays pending if the connection ends first.
    pub(in crate::connection) async fn response(&mut self) -> PipeResponse {
        match (&mut self.receiver).await {
            Ok(response) => response,
            Err(_) => std::future::pending().await,
        }
    }
}

impl Drop for AwaitedResponse {
    fn drop(&mut self) {
        self.responses.take(&self.id);
    }
}
