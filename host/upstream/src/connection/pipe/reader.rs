//! Messages of a child, and who gets them.

use std::sync::{Arc, atomic::Ordering};

use loggia_text::printable;
use rmcp::{RoleClient, model::JsonRpcMessage, service::RxJsonRpcMessage};
use tokio::{io::AsyncRead, runtime::Handle, sync::mpsc};

use super::{parse_budget::ParseBudget, pipe_state::PipeState};
use crate::connection::{
    bounded_lines::{BoundedLines, StreamLine},
    message::{IncomingLine, read_line},
};

/// Requests of the upstream that it has not read the answer of. A form takes minutes, but a person answers few at once.
const OPEN_REQUESTS: usize = 64;
/// Characters of a line that is shown in the log.
const SHOWN: usize = 200;

/// Reads the messages of a child.
pub(in crate::connection) struct PipeReader<R> {
    name: String,
    lines: BoundedLines<R>,
    budget: ParseBudget,
    /// Runtime for messages beyond the budget.
    calls: Handle,
    /// Lines that were no messages.
    rubbish: u64,
}

impl<R: AsyncRead + Unpin> PipeReader<R> {
    /// Reads this stdout. `max` bounds the bytes of a line. What is beyond a budget is parsed on `calls`.
    pub(in crate::connection) fn new(name: &str, stdout: R, max: usize, calls: Handle) -> Self {
        let (name, lines) = (name.to_owned(), BoundedLines::new(stdout, max));
        Self { name, lines, budget: ParseBudget::new(), calls, rubbish: 0 }
    }

    /// Reads until the child closes its stdout or breaks a bound.
    pub(super) async fn read(
        mut self,
        shared: Arc<PipeState>,
        messages: mpsc::Sender<RxJsonRpcMessage<RoleClient>>,
    ) {
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
            match self.parse(line, &shared).await {
                IncomingLine::Message(message) => {
                    let Some(message) = shared.deliver(*message) else { continue };
                    if matches!(message, JsonRpcMessage::Request(_))
                        && shared.open_requests.fetch_add(1, Ordering::Relaxed) >= OPEN_REQUESTS
                    {
                        break Some(format!(
                            "it sent more than {OPEN_REQUESTS} requests without reading the answers"
                        ));
                    }
                    if messages.send(message).await.is_err() {
                        return;
                    }
                }
                IncomingLine::Unused | IncomingLine::Rubbish => {}
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
            shared.signal.explain(reason);
        }
    }

    /// Parses a line, here or on the runtime for what takes longer. Reports rubbish.
    async fn parse(&mut self, line: Vec<u8>, shared: &Arc<PipeState>) -> IncomingLine {
        let parse = |line: &[u8], shared: &PipeState| read_line(line, |id| shared.typed.lock().remove(id));
        let (line, parsed) = if self.budget.charge(line.len()) {
            let parsed = parse(&line, shared);
            (line, parsed)
        } else {
            let shared = Arc::clone(shared);
            let parsing = self.calls.spawn(async move {
                let parsed = parse(&line, &shared);
                (line, parsed)
            });
            // It cannot panic, and the runtime outlives the connection.
            parsing.await.unwrap_or((Vec::new(), IncomingLine::Rubbish))
        };
        if matches!(parsed, IncomingLine::Rubbish) && !line.iter().all(u8::is_ascii_whitespace) {
            self.report(&line);
        }
        parsed
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
