//! Line-delimited JSON-RPC over a pair of streams.
//!
//! rmcp's own transport silently drops a line that is not JSON, and the client waits forever. This one responds with an
//! error if the line has an id: numbers out of range and excessive nesting are not valid JSON for the parser, but the
//! sender should learn of it. The same holds for a request with an invalid id, which rmcp takes for a notification.

use std::{borrow::Cow, io, sync::Arc};

use futures_util::{future::BoxFuture, poll};
use loggia_facade::json::has_many_values;
use rmcp::{
    ErrorData, RoleServer,
    model::{ClientNotification, ErrorCode, JsonRpcMessage, ProtocolVersion},
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use serde_json::{Value, error::Category};
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader},
    sync::{Mutex, watch},
};

use super::{
    direct::DirectCalls,
    opening::{ClientOpening, OpeningDecision},
};
use crate::{
    jsonrpc::{
        ids,
        ids::MessageOutline,
        refusals::{BATCH, INVALID, duplicate_name, too_many_values},
        tool_call::PlainToolCall,
        tree::{TreeError, parse_tree},
    },
    mcp::{DirectOutcome, SessionRoots, message_text},
};

/// Bytes read at once: what a pipe holds.
const READ: usize = 64 << 10;
/// Longest line: arguments are limited to 1 MiB by default, and JSON may escape every byte of them.
const MAX_LINE: usize = 16 << 20;
/// Bytes of responses that the client has not read. Above it, no further requests are read. Calls that were read before
/// still finish, so the queues of plugins bound the excess.
const MAX_UNREAD: usize = 16 << 20;
/// Memory of a queued response besides its bytes.
const ANSWER_OVERHEAD: usize = 2 << 10;

/// Line-delimited JSON-RPC transport.
pub struct LineTransport<R, W> {
    read: BufReader<R>,
    line: Vec<u8>,
    /// Set while the rest of an overlong line is skipped.
    skipping: bool,
    /// Set after the first warning about a line that is not JSON.
    warned: bool,
    opening: ClientOpening,
    /// Learns of changes of the client's roots here, since rmcp handles notifications and requests in any order.
    roots: Option<Arc<SessionRoots>>,
    direct: Option<DirectCalls>,
    /// The output stream; `None` once it is closed. `send` returns independent futures, so the mutex serializes the writes:
    /// a holder waits for the client alone, never for another lock.
    write: Arc<Mutex<Option<W>>>,
    /// Bytes that wait to be written. `receive` waits until they fall below [`MAX_UNREAD`], so that a client that does not
    /// read its responses cannot make the host buffer more of them. Senders never wait for it, so writing always progresses.
    unread: Arc<watch::Sender<usize>>,
    /// Error response that is being written. Kept here, since rmcp drops the future of `receive` at any await.
    pending_answer: Option<BoxFuture<'static, io::Result<()>>>,
}

impl<R, W> LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    /// Creates the transport of a server that supports these revisions.
    pub fn new(read: R, write: W, versions: Cow<'static, [ProtocolVersion]>) -> Self {
        let write = Arc::new(Mutex::new(Some(write)));
        let unread = Arc::new(watch::Sender::new(0));
        Self {
            read: BufReader::with_capacity(READ, read),
            line: Vec::new(),
            skipping: false,
            warned: false,
            opening: ClientOpening::new(versions),
            roots: None,
            direct: None,
            write,
            unread,
            pending_answer: None,
        }
    }

    /// Sets the roots of the client, which are told of changes.
    pub fn with_roots(self, roots: Option<Arc<SessionRoots>>) -> Self {
        Self { roots, ..self }
    }

    /// Begins calls here, where the client waits for nothing else.
    pub fn with_direct_calls(self, direct: DirectCalls) -> Self {
        Self { direct: Some(direct), ..self }
    }

    /// Reads one line; returns false at the end of the stream. Cancel safe: bytes that were read stay in the buffer.
    async fn read_line(&mut self) -> io::Result<bool> {
        loop {
            let available = self.read.fill_buf().await?;
            if available.is_empty() {
                return Ok(false);
            }
            let end = memchr::memchr(b'\n', available);
            let taken = end.map_or(available.len(), |end| end + 1);
            let room = (MAX_LINE + 1).saturating_sub(self.line.len());
            self.skipping |= taken > room;
            self.line.extend_from_slice(&available[..taken.min(room)]);
            self.read.consume(taken);
            if end.is_some() {
                return Ok(true);
            }
        }
    }

    /// Parses a line into a message, an error response, or nothing.
    fn parse(&mut self, line: &[u8]) -> ParsedLine {
        let line = line.trim_ascii();
        let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        if std::mem::take(&mut self.skipping) {
            let message = format!("Invalid request: a line may have {} MiB at most", MAX_LINE >> 20);
            return ParsedLine::refuse(ids::find_id(line), message);
        }
        if line.is_empty() {
            return ParsedLine::Nothing;
        }
        if has_many_values(line) {
            return ParsedLine::refuse(ids::find_id(line), too_many_values());
        }
        let read = match parse_tree(line) {
            Ok(tree) => match PlainToolCall::from_tree(tree) {
                // Further requests are best served beside this one, on all threads.
                Ok(call) if self.read.buffer().is_empty() && self.begins_calls() => {
                    return ParsedLine::Call(Box::new(call));
                }
                Ok(call) => Ok(call.into_message()),
                Err(tree) => serde_json::from_value(tree),
            },
            Err(TreeError::Duplicate(name)) => {
                // Of two ids, neither is reliable.
                return ParsedLine::refuse(
                    ids::find_id(line).filter(|_| name != "id"),
                    duplicate_name(&name),
                );
            }
            Err(TreeError::Syntax(error)) => Err(error),
        };
        let error = match read {
            Ok(message) => return self.route(message, line),
            Err(error) => error,
        };
        match error.classify() {
            Category::Syntax | Category::Eof => match ids::find_id(line) {
                Some(id) => {
                    let message = format!("Parse error: {error}");
                    ParsedLine::Answer(Some(id), ErrorData::new(ErrorCode::PARSE_ERROR, message, None))
                }
                // No response without an id: a peer that echoes would cause an endless loop. Warn once, since any process
                // may be writing to the wrong pipe.
                None => {
                    if !std::mem::replace(&mut self.warned, true) {
                        tracing::warn!(
                            "ignoring a line on stdin that is not JSON: {error} (further ones are ignored silently)"
                        );
                    }
                    ParsedLine::Nothing
                }
            },
            _ if line.starts_with(b"[") => ParsedLine::refuse(None, BATCH),
            _ => match MessageOutline::parse(line) {
                // Notifications are not answered, known or not.
                MessageOutline { id: None, has_method: true } => ParsedLine::Nothing,
                outline @ MessageOutline { has_method: true, .. } => {
                    ParsedLine::refuse_unreadable(outline.id)
                }
                // It may be a response of the client, whose id is ours.
                _ => ParsedLine::refuse(None, INVALID),
            },
        }
    }

    fn begins_calls(&self) -> bool {
        self.direct.as_ref().is_some_and(DirectCalls::are_possible)
    }

    /// Begins a call. Returns the message for rmcp unless it has ended. Never pending, so that no response is lost when rmcp
    /// drops the future of `receive`.
    async fn begin_call(&mut self, mut call: PlainToolCall) -> Option<RxJsonRpcMessage<RoleServer>> {
        let begun = match &self.direct {
            Some(direct) => direct.begin(&mut call).await,
            None => DirectOutcome::Declined,
        };
        let (text, counted) = match begun {
            DirectOutcome::Answered(text, counted) => (text, counted),
            DirectOutcome::Started(started) => {
                return Some(call.into_message_with(started.into_extensions()));
            }
            DirectOutcome::Declined => return Some(call.into_message()),
        };
        let (to, line) = (Arc::clone(&self.write), text.into_bytes());
        let unread = UnreadBytes::with(Arc::clone(&self.unread), line.len() + ANSWER_OVERHEAD);
        let mut writing = Box::pin(async move {
            let _held = (unread, counted);
            // A client that is gone is noticed where its requests are read.
            drop(write(to, line).await);
        });
        // A client that sends its next request before it reads must not wait for itself.
        if poll!(&mut writing).is_pending() {
            tokio::spawn(writing);
        }
        None
    }

    /// Decides on a message that rmcp can parse.
    fn route(&mut self, message: RxJsonRpcMessage<RoleServer>, line: &[u8]) -> ParsedLine {
        if let JsonRpcMessage::Notification(sent) = &message {
            if let (ClientNotification::RootsListChangedNotification(_), Some(roots)) =
                (&sent.notification, &self.roots)
            {
                roots.mark_changed();
            }
            let outline = MessageOutline::parse(line);
            if outline.id.is_some() {
                return ParsedLine::refuse_unreadable(outline.id);
            }
        }
        match self.opening.check(&message) {
            OpeningDecision::Pass => {
                if let Some(direct) = &mut self.direct {
                    direct.observe(&message, self.opening.has_lifecycle());
                }
                ParsedLine::Message(Box::new(message))
            }
            OpeningDecision::Drop => {
                tracing::debug!("ignoring a message before the handshake");
                ParsedLine::Nothing
            }
            OpeningDecision::Refuse(error) => ParsedLine::Answer(MessageOutline::parse(line).id, error),
        }
    }
}

enum ParsedLine {
    /// A call that may begin here.
    Call(Box<PlainToolCall>),
    Message(Box<RxJsonRpcMessage<RoleServer>>),
    Answer(Option<Value>, ErrorData),
    Nothing,
}

impl ParsedLine {
    fn refuse(id: Option<Value>, message: impl Into<Cow<'static, str>>) -> Self {
        Self::Answer(id, ErrorData::new(ErrorCode::INVALID_REQUEST, message, None))
    }

    /// Refuses a request that rmcp cannot parse.
    fn refuse_unreadable(id: Option<Value>) -> Self {
        let is_usable = id.as_ref().is_none_or(ids::is_usable);
        Self::refuse(id, if is_usable { INVALID } else { ids::UNUSABLE_ID })
    }
}

async fn write<W: AsyncWrite + Unpin>(to: Arc<Mutex<Option<W>>>, mut line: Vec<u8>) -> io::Result<()> {
    line.push(b'\n');
    let mut to = to.lock().await;
    let to = to.as_mut().ok_or(io::ErrorKind::NotConnected)?;
    to.write_all(&line).await?;
    to.flush().await
}

/// Counts the bytes of a queued response until it is dropped.
struct UnreadBytes(Arc<watch::Sender<usize>>, usize);

impl UnreadBytes {
    fn with(unread: Arc<watch::Sender<usize>>, bytes: usize) -> Self {
        unread.send_modify(|unread| *unread += bytes);
        Self(unread, bytes)
    }
}

impl Drop for UnreadBytes {
    fn drop(&mut self) {
        self.0.send_modify(|unread| *unread -= self.1);
    }
}

impl<R, W> Transport<RoleServer> for LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let (to, unread) = (Arc::clone(&self.write), Arc::clone(&self.unread));
        async move {
            let line = message_text(&message)?.into_bytes();
            // Writing may take long, and one copy is enough.
            drop(message);
            let _unread = UnreadBytes::with(unread, line.len() + ANSWER_OVERHEAD);
            write(to, line).await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(answer) = &mut self.pending_answer {
                let written = answer.await;
                self.pending_answer = None;
                written.ok()?;
            }
            // Cannot fail, since `self` holds the sender.
            drop(self.unread.subscribe().wait_for(|unread| *unread < MAX_UNREAD).await);
            match self.read_line().await {
                Ok(true) => {}
                // An unterminated line is incomplete.
                Ok(false) => return None,
                Err(error) => {
                    tracing::error!("failed to read from the client: {error}");
                    return None;
                }
            }
            let text = std::mem::take(&mut self.line);
            let line = self.parse(&text);
            self.line = text;
            self.line.clear();
            // Do not keep the memory of one long line.
            self.line.shrink_to(1 << 20);
            match line {
                ParsedLine::Call(call) => {
                    if let Some(message) = self.begin_call(*call).await {
                        return Some(message);
                    }
                }
                ParsedLine::Message(message) => return Some(*message),
                ParsedLine::Nothing => {}
                ParsedLine::Answer(id, error) => {
                    let line = ids::error_answer(id, error).to_string().into_bytes();
                    self.pending_answer = Some(Box::pin(write(Arc::clone(&self.write), line)));
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.write.lock().await.take();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":5,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"0"}}}"#;

    /// H54.
    #[tokio::test]
    async fn each_line_is_passed_answered_or_ignored() {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (read, write) = tokio::io::split(ours);
        let mut lines = LineTransport::new(read, write, Cow::Borrowed(ProtocolVersion::KNOWN_VERSIONS));
        let (output, mut input) = tokio::io::split(theirs);
        let mut output = BufReader::new(output).lines();
        let serving = tokio::spawn(async move {
            let mut messages = 0;
            while lines.receive().await.is_some() {
                messages += 1;
            }
            messages
        });
        let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        let long = format!(r#"{{"jsonrpc":"2.0","id":8,"params":"{}"}}"#, "x".repeat(MAX_LINE));
        for line in [
            ping,
            "",
            "rubbish",
            r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a","arguments":{"n":1e400}}}"#,
            r#"[{"jsonrpc":"2.0","id":3,"method":"ping"}]"#,
            r#"{"jsonrpc":"2.0","method":5}"#,
            INITIALIZE,
            r#"{"jsonrpc":"2.0","method":"notifications/unheard_of"}"#,
            r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
            &long,
            &format!("\u{feff}{ping}\r"),
        ] {
            input.write_all(line.as_bytes()).await.unwrap();
            input.write_all(b"\n").await.unwrap();
        }
        input.shutdown().await.unwrap();
        let mut answers = Vec::new();
        while let Some(line) = output.next_line().await.unwrap() {
            let answer: serde_json::Value = serde_json::from_str(&line).unwrap();
            answers.push(format!("{} {}", answer["id"], answer["error"]["code"]));
        }
        assert_eq!(answers, ["2 -32700", "null -32600", "1.5 -32600", "8 -32600"]);
        assert_eq!(serving.await.unwrap(), 4, "the pings, the handshake and the notification");
    }
}
