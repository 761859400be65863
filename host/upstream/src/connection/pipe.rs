//! rmcp's transport over the standard streams of a child.

use std::{
    collections::HashSet,
    io,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use loggia_text::printable;
use parking_lot::Mutex;
use rmcp::{
    RoleClient,
    model::{ClientRequest, JsonRpcMessage, RequestId},
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt},
    sync::mpsc,
    time::timeout,
};

use super::{
    bounded_lines::{BoundedLines, StreamLine},
    close_reason::CloseSignal,
    message::{IncomingLine, read_line},
};

/// Messages that wait for rmcp. Small, since each may have the size of the bound.
const INCOMING: usize = 4;
/// Messages that wait for the child to read them.
const OUTGOING: usize = 64;
/// Time for the child to read one message. A child that reads nothing would otherwise collect messages without end.
const WRITE: Duration = Duration::from_secs(30);
/// Requests of the upstream that it has not read the answer of. A form takes minutes, but a person answers few at once.
const OPEN_REQUESTS: usize = 64;
/// Characters of a line that is shown in the log.
const SHOWN: usize = 200;

/// Messages to and from a child. Ends when the child closes its stdout, or breaks a bound.
pub(super) struct PipeTransport {
    incoming: mpsc::Receiver<RxJsonRpcMessage<RoleClient>>,
    outgoing: Option<mpsc::Sender<Vec<u8>>>,
    shared: Arc<PipeState>,
}

struct PipeState {
    /// Requests whose results rmcp itself reads.
    typed: Mutex<HashSet<RequestId>>,
    /// Requests of the upstream that are not answered yet.
    open_requests: AtomicUsize,
    signal: CloseSignal,
}

/// A message that could not be sent.
#[derive(Debug, thiserror::Error)]
pub(super) enum PipeError {
    /// The connection is closed.
    #[error("the connection is closed")]
    Closed,
    /// The message is no JSON.
    #[error("failed to write JSON: {0}")]
    Json(#[from] serde_json::Error),
}

impl PipeTransport {
    /// Starts to read and write. `max` bounds the bytes of a line. Drains `signal` once rmcp has seen everything.
    pub(super) fn start<R, W>(name: &str, stdout: R, stdin: W, max: usize, signal: CloseSignal) -> Self
    where
        R: AsyncRead + Unpin + Send + 'static,
        W: AsyncWrite + Unpin + Send + 'static,
    {
        let shared = Arc::new(PipeState {
            typed: Mutex::default(),
            open_requests: AtomicUsize::new(0),
            signal: signal.clone(),
        });
        let (incoming_sender, incoming) = mpsc::channel(INCOMING);
        let (outgoing, outgoing_receiver) = mpsc::channel(OUTGOING);
        let reader = PipeReader {
            name: name.to_owned(),
            lines: BoundedLines::new(stdout, max),
            shared: shared.clone(),
            messages: incoming_sender,
            rubbish: 0,
        };
        tokio::spawn(reader.read());
        tokio::spawn(write(stdin, outgoing_receiver, signal));
        Self { incoming, outgoing: Some(outgoing), shared }
    }
}

/// A line that waits for room in a queue.
type WaitingLine = (mpsc::Sender<Vec<u8>>, Vec<u8>);

impl PipeTransport {
    /// Queues a message for the child, or returns it if the queue is full.
    fn queue(&self, message: &TxJsonRpcMessage<RoleClient>) -> Result<Option<WaitingLine>, PipeError> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        let outgoing = self.outgoing.as_ref().ok_or(PipeError::Closed)?;
        match outgoing.try_send(line) {
            Ok(()) => Ok(None),
            Err(mpsc::error::TrySendError::Full(line)) => Ok(Some((outgoing.clone(), line))),
            Err(mpsc::error::TrySendError::Closed(_)) => Err(PipeError::Closed),
        }
    }
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
                ClientRequest::CallToolRequest(_)
                    | ClientRequest::ListToolsRequest(_)
                    | ClientRequest::CustomRequest(_)
            )
        {
            self.shared.typed.lock().insert(request.id.clone());
        }
        let shared = self.shared.clone();
        // At once, if there is room: rmcp polls these futures in any order, but a cancellation must not precede its request.
        let queued = self.queue(&message);
        async move {
            let sent = match queued {
                Ok(None) => Ok(()),
                Ok(Some((outgoing, line))) => outgoing.send(line).await.map_err(|_| PipeError::Closed),
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
        // The child sees the end of its stdin.
        self.outgoing = None;
        self.incoming.close();
        self.shared.signal.drain();
        Ok(())
    }
}

struct PipeReader<R> {
    name: String,
    lines: BoundedLines<R>,
    shared: Arc<PipeState>,
    messages: mpsc::Sender<RxJsonRpcMessage<RoleClient>>,
    /// Lines that were no messages.
    rubbish: u64,
}

impl<R: AsyncRead + Unpin> PipeReader<R> {
    async fn read(mut self) {
        let reason = loop {
            let line = match self.lines.next().await {
                Ok(Some(StreamLine::Whole(line))) => line,
                Ok(Some(StreamLine::Cut(line))) => {
                    break Some(format!("it sent a line of more than {} bytes", line.len()));
                }
                // Its process has probably ended, which says more.
                Ok(None) => break None,
                Err(error) => break Some(format!("its stdout cannot be read: {error}")),
            };
            match read_line(&line, |id| self.shared.typed.lock().remove(id)) {
                IncomingLine::Message(message) => {
                    if matches!(*message, JsonRpcMessage::Request(_))
                        && self.shared.open_requests.fetch_add(1, Ordering::Relaxed) >= OPEN_REQUESTS
                    {
                        break Some(format!(
                            "it sent more than {OPEN_REQUESTS} requests without reading the answers"
                        ));
                    }
                    if self.messages.send(*message).await.is_err() {
                        return;
                    }
                }
                IncomingLine::Unused => {}
                IncomingLine::Rubbish if line.iter().all(u8::is_ascii_whitespace) => {}
                IncomingLine::Rubbish => self.report(&line),
            }
        };
        if self.rubbish > 1 {
            tracing::warn!(
                upstream = self.name,
                lines = self.rubbish,
                "lines on stdout were no messages of MCP"
            );
        }
        if let Some(reason) = reason {
            self.shared.signal.explain(reason);
        }
    }

    /// Logs the first line that is no message, and counts the others.
    fn report(&mut self, line: &[u8]) {
        self.rubbish += 1;
        if self.rubbish == 1 {
            let text = String::from_utf8_lossy(&line[..line.len().min(SHOWN * 4)]);
            let text = loggia_text::shorten(&printable(&loggia_text::redact_beginning(&text)), SHOWN);
            tracing::warn!(
                upstream = self.name,
                "ignoring a line on stdout that is no message of MCP, and those like it: {text}"
            );
        }
    }
}

async fn write(mut stdin: impl AsyncWrite + Unpin, mut lines: mpsc::Receiver<Vec<u8>>, signal: CloseSignal) {
    let write = async |stdin: &mut _, line: &[u8]| -> io::Result<()> {
        AsyncWriteExt::write_all(stdin, line).await?;
        AsyncWriteExt::flush(stdin).await
    };
    while let Some(line) = lines.recv().await {
        match timeout(WRITE, write(&mut stdin, &line)).await {
            Ok(Ok(())) => {}
            // The reader finds out why.
            Ok(Err(_)) => return,
            Err(_) => {
                signal.explain(format!("it did not read its stdin for {} s", WRITE.as_secs()));
                signal.drain();
                return;
            }
        }
    }
}
