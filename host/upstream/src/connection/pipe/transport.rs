//! rmcp's transport over the standard streams of a child.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use parking_lot::Mutex;
use rmcp::{
    RoleClient,
    model::{ClientRequest, JsonRpcMessage},
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::mpsc,
};

use super::{
    pipe_state::PipeState,
    reader::PipeReader,
    requests::PipeRequests,
    writer::{ChildWriter, PipeClosed},
};
use crate::connection::{call_registry::CallRegistry, close_reason::CloseSignal};

/// Messages that wait for rmcp. Small, since each may have the size of the bound.
const INCOMING: usize = 4;

/// Messages to and from a child. Ends when the child closes its stdout, or breaks a bound.
pub(in crate::connection) struct PipeTransport {
    incoming: mpsc::Receiver<RxJsonRpcMessage<RoleClient>>,
    writer: ChildWriter,
    shared: Arc<PipeState>,
}

impl PipeTransport {
    /// Starts to read and write. Drains `signal` once rmcp has seen everything.
    pub(in crate::connection) fn start<R, W>(
        reader: PipeReader<R>,
        stdin: W,
        calls: Arc<CallRegistry>,
        signal: CloseSignal,
    ) -> (Self, PipeRequests)
    where
        R: AsyncRead + Unpin + Send + 'static,
        W: AsyncWrite + Send + 'static,
    {
        let shared = Arc::new(PipeState {
            typed: Mutex::default(),
            open_requests: AtomicUsize::new(0),
            responses: Arc::default(),
            calls,
            signal: signal.clone(),
        });
        let (messages, incoming) = mpsc::channel(INCOMING);
        tokio::spawn(reader.read(Arc::clone(&shared), messages));
        let writer = ChildWriter::start(stdin, signal);
        let requests = PipeRequests::new(writer.clone(), Arc::clone(&shared.responses));
        (Self { incoming, writer, shared }, requests)
    }
}

/// A message that could not be sent.
#[derive(Debug, thiserror::Error)]
pub(in crate::connection) enum PipeError {
    /// The connection is closed.
    #[error(transparent)]
    Closed(#[from] PipeClosed),
    /// The message is no JSON.
    #[error("failed to write JSON: {0}")]
    Json(#[from] serde_json::Error),
}

impl Transport<RoleClient> for PipeTransport {
    type Error = PipeError;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), PipeError>> + Send + 'static {
        let answers = matches!(&message, JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_));
        if let JsonRpcMessage::Request(request) = &message
            && !matches!(
                &request.request,
                ClientRequest::ListToolsRequest(_) | ClientRequest::CustomRequest(_)
            )
        {
            self.shared.typed.lock().insert(request.id.clone());
        }
        let (shared, writer) = (self.shared.clone(), self.writer.clone());
        // At once, if there is room: rmcp polls these futures in any order, but a cancellation must not precede its request.
        let sent = to_line(&message).and_then(|line| Ok(writer.try_send(line)?));
        async move {
            let sent = match sent {
                Ok(None) => Ok(()),
                Ok(Some(line)) => writer.send(line).await.map_err(PipeError::Closed),
                Err(error) => Err(error),
            };
            if answers {
                // Saturating: rmcp also answers what it refuses by itself.
                let _ = shared
                    .open_requests
                    .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |open| open.checked_sub(1));
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        let message = self.incoming.recv().await;
        if message.is_none() {
            // Not before: rmcp has now passed on every answer that came before the end.
            self.shared.signal.drain();
        }
        message
    }

    async fn close(&mut self) -> Result<(), PipeError> {
        self.writer.close();
        self.incoming.close();
        self.shared.signal.drain();
        Ok(())
    }
}

fn to_line(message: &TxJsonRpcMessage<RoleClient>) -> Result<Vec<u8>, PipeError> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}
