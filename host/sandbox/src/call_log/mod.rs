//! A guest's stdout and stderr as log lines. No byte of them reaches the host's own stdout. `rate` limits the lines of all
//! calls together.

mod rate;

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use loggia_facade::{LogLevel, Session};
use loggia_policy::model::{
    PluginLimits,
    limit_names::{LOG_RATE, LOGS},
};
use loggia_text::{redact, seam};
use parking_lot::Mutex;
use wasmtime_wasi::{
    cli::{IsTerminal, StdoutStream},
    p2::{OutputStream, Pollable, StreamResult},
};

use self::rate::LogRate;
use crate::limits::LINE_OVERHEAD;

/// Bytes of a line. A longer one is broken, between credentials.
const LINE: usize = 4 << 10;

/// Bytes kept of the end of stderr, where a panic writes its message.
const KEPT: usize = 4 << 10;

/// Bytes buffered beyond these before a text is broken or cut, so that a credential across the place is seen whole. No
/// secret of a policy is longer.
const SLACK: usize = 4 << 10;

/// What the logs of a plugin's calls share.
pub(crate) struct PluginLog {
    /// Bytes that each call may log.
    limit: usize,
    rate: Arc<LogRate>,
}

/// The log of one call: lines of both streams and of the plugin's own `log`, up to a number of bytes. After the first line
/// that does not fit, all are dropped.
///
/// Clones share one log: the two streams of the guest and the reporter of failed requests write to it from the threads that
/// poll the call. The lock is held while a line is passed to the session, which never blocks.
#[derive(Clone)]
pub(crate) struct CallLog(Arc<Mutex<LogState>>);

struct LogState {
    session: Option<Session>,
    left: usize,
    dropped: usize,
    rate: Option<Arc<LogRate>>,
    /// Lines dropped because they came too fast.
    rate_limited: usize,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    last_words: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stream {
    Stdout,
    Stderr,
}

impl Stream {
    fn level(self) -> LogLevel {
        match self {
            Self::Stdout => LogLevel::Info,
            Self::Stderr => LogLevel::Warn,
        }
    }
}

impl PluginLog {
    pub(crate) fn new(limits: &PluginLimits) -> Self {
        Self { limit: limits.logs, rate: Arc::new(LogRate::new(limits.log_rate)) }
    }

    /// Makes the log of one call.
    pub(crate) fn call(&self, session: &Session) -> CallLog {
        CallLog::new(Some(session.clone()), self.limit, Some(Arc::clone(&self.rate)))
    }
}

impl CallLog {
    /// Makes the log of a guest whose surface is read. Its lines go nowhere; only the end of stderr is kept.
    pub(crate) fn unread(limits: &PluginLimits) -> Self {
        Self::new(None, limits.logs, None)
    }

    /// Creates a log of at most `limit` bytes, and of no more lines per second than `rate` allows all calls of the plugin.
    fn new(session: Option<Session>, limit: usize, rate: Option<Arc<LogRate>>) -> Self {
        Self(Arc::new(Mutex::new(LogState {
            session,
            left: limit,
            dropped: 0,
            rate,
            rate_limited: 0,
            stdout: Vec::new(),
            stderr: Vec::new(),
            last_words: Vec::new(),
        })))
    }

    pub(crate) fn stdout(&self) -> impl StdoutStream + 'static {
        StreamWriter(self.clone(), Stream::Stdout)
    }

    pub(crate) fn stderr(&self) -> impl StdoutStream + 'static {
        StreamWriter(self.clone(), Stream::Stderr)
    }

    /// Logs a text of the plugin's, in lines.
    pub(crate) fn log(&self, level: LogLevel, text: &str) {
        let (mut state, mut rest) = (self.0.lock(), text);
        loop {
            if state.left == 0 {
                state.dropped += rest.len();
                return;
            }
            // Only the beginning is searched for each line, or a long text would take quadratic time.
            let near = &rest[..rest.floor_char_boundary(LINE + SLACK)];
            let at = if rest.len() > LINE { seam(near, LINE) } else { rest.len() };
            let (line, more) = rest.split_at(at);
            state.line(level, line);
            rest = more;
            if rest.is_empty() {
                return;
            }
        }
    }

    /// Ends the last lines, logs how much was dropped, and returns the end of stderr.
    pub(crate) fn finish(&self) -> String {
        let mut state = self.0.lock();
        if state.is_settled() {
            return String::new();
        }
        for stream in [Stream::Stdout, Stream::Stderr] {
            state.end_line(stream);
        }
        let (dropped, rate_limited) =
            (std::mem::take(&mut state.dropped), std::mem::take(&mut state.rate_limited));
        if let Some(session) = &state.session {
            if dropped > 0 {
                session.log(LogLevel::Warn, &format!("{dropped} further bytes of output dropped (`{LOGS}`)"));
            }
            if rate_limited > 0 {
                session
                    .log(LogLevel::Warn, &format!("{rate_limited} lines dropped: too many (`{LOG_RATE}`)"));
            }
        }
        let words = String::from_utf8_lossy(&state.last_words);
        let from = seam(&words, words.len().saturating_sub(KEPT));
        redact(if words.len() > KEPT { &words[from..] } else { &words }).into_owned()
    }

    /// Leaves the call: what comes later is not logged.
    pub(crate) fn leave_call(&self) {
        self.0.lock().session = None;
    }
}

impl LogState {
    /// True if nothing waits to be logged and nothing was kept of stderr: `finish` has nothing to do.
    fn is_settled(&self) -> bool {
        let texts = [&self.stdout, &self.stderr, &self.last_words];
        texts.iter().all(|text| text.is_empty()) && self.dropped == 0 && self.rate_limited == 0
    }

    fn line(&mut self, level: LogLevel, text: &str) {
        let cost = text.len() + LINE_OVERHEAD;
        if cost > self.left {
            self.left = 0;
            self.dropped += text.len();
            return;
        }
        self.left -= cost;
        if self.rate.as_ref().is_some_and(|rate| !rate.admit_line()) {
            self.rate_limited += 1;
            return;
        }
        if let Some(session) = &self.session {
            session.log(level, &redact(text));
        }
    }

    fn write(&mut self, stream: Stream, bytes: &[u8]) {
        if stream == Stream::Stderr {
            let tail = &bytes[bytes.len().saturating_sub(KEPT + SLACK)..];
            let surplus = (self.last_words.len() + tail.len()).saturating_sub(KEPT + SLACK);
            self.last_words.drain(..surplus);
            self.last_words.extend_from_slice(tail);
        }
        if self.left == 0 {
            self.dropped += bytes.len();
            return;
        }
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let (text, ended) = match piece.strip_suffix(b"\n") {
                Some(text) => (text, true),
                None => (piece, false),
            };
            for chunk in text.chunks(LINE) {
                self.buffer(stream).extend_from_slice(chunk);
                while self.buffer(stream).len() > LINE + SLACK {
                    self.break_line(stream);
                }
            }
            if ended {
                self.end_line(stream);
            }
        }
    }

    fn end_line(&mut self, stream: Stream) {
        while self.buffer(stream).len() > LINE {
            self.break_line(stream);
        }
        let line = std::mem::take(self.buffer(stream));
        if !line.is_empty() {
            self.line(stream.level(), &String::from_utf8_lossy(&line));
        }
    }

    /// Logs the first part of a line that is too long.
    fn break_line(&mut self, stream: Stream) {
        let buffer = std::mem::take(self.buffer(stream));
        // An incomplete character waits for its remaining bytes.
        let ended = match std::str::from_utf8(&buffer) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => buffer.len(),
        };
        let text = String::from_utf8_lossy(&buffer[..ended]);
        let (line, rest) = text.split_at(seam(&text, LINE));
        self.line(stream.level(), line);
        *self.buffer(stream) = [rest.as_bytes(), &buffer[ended..]].concat();
    }

    fn buffer(&mut self, stream: Stream) -> &mut Vec<u8> {
        match stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
        }
    }
}

#[derive(Clone)]
struct StreamWriter(CallLog, Stream);

impl IsTerminal for StreamWriter {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for StreamWriter {
    fn async_stream(&self) -> Box<dyn tokio::io::AsyncWrite + Send + Sync> {
        Box::new(self.clone())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for StreamWriter {
    async fn ready(&mut self) {}
}

impl OutputStream for StreamWriter {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.0.0.lock().write(self.1, &bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(64 << 10)
    }
}

impl tokio::io::AsyncWrite for StreamWriter {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        self.0.0.lock().write(self.1, bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
