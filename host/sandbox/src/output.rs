//! A guest's stdout and stderr as log lines. No byte of them reaches the host's own stdout.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
    time::{Duration, Instant},
};

use bytes::Bytes;
use loggia_facade::{Level, Session};
use loggia_text::{redact, seam};
use wasmtime_wasi::{
    cli::{IsTerminal, StdoutStream},
    p2::{OutputStream, Pollable, StreamResult},
};

use crate::limits::LINE_OVERHEAD;

/// A line longer than this is broken, between credentials.
const LINE: usize = 4 << 10;

/// How much of stderr is kept: a panic's message stands at its end.
const KEPT: usize = 4 << 10;

/// What is held beyond these before it is broken or cut, so that a credential across the place is seen whole. No secret of
/// a policy is longer.
const SLACK: usize = 4 << 10;

/// The log of one call: lines of both streams and of the plugin's own `log`, up to a number of bytes. Once a line did
/// not fit, none does.
#[derive(Clone)]
pub(crate) struct Output(Arc<Mutex<State>>);

struct State {
    session: Option<Session>,
    left: usize,
    dropped: usize,
    pace: Option<Arc<Pace>>,
    /// Lines that came too fast.
    hasty: usize,
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
    fn level(self) -> Level {
        match self {
            Self::Stdout => Level::Info,
            Self::Stderr => Level::Warn,
        }
    }
}

impl Output {
    /// At most `limit` bytes go to the session's log, and no more lines in a second than all calls of the plugin may.
    pub fn new(session: Option<Session>, limit: usize, pace: Option<Arc<Pace>>) -> Self {
        Self(Arc::new(Mutex::new(State {
            session,
            left: limit,
            dropped: 0,
            pace,
            hasty: 0,
            stdout: Vec::new(),
            stderr: Vec::new(),
            last_words: Vec::new(),
        })))
    }

    pub fn stdout(&self) -> impl StdoutStream + 'static {
        Writer(self.clone(), Stream::Stdout)
    }

    pub fn stderr(&self) -> impl StdoutStream + 'static {
        Writer(self.clone(), Stream::Stderr)
    }

    /// A line that the plugin logs by the contract's own function.
    pub fn log(&self, level: Level, text: &str) {
        let (mut state, mut rest) = (self.lock(), text);
        loop {
            if state.left == 0 {
                state.dropped += rest.len();
                return;
            }
            // Only so much is looked at for each line, or a long text would cost its square.
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

    /// Ends the last lines, says how much was dropped, and gives the end of what was written to stderr.
    pub fn finish(&self) -> String {
        let mut state = self.lock();
        for stream in [Stream::Stdout, Stream::Stderr] {
            state.end_line(stream);
        }
        let (dropped, hasty) = (std::mem::take(&mut state.dropped), std::mem::take(&mut state.hasty));
        if let Some(session) = &state.session {
            if dropped > 0 {
                session
                    .log(Level::Warn, &format!("{dropped} further bytes of output dropped (`limits.logs`)"));
            }
            if hasty > 0 {
                session.log(
                    Level::Warn,
                    &format!("{hasty} lines dropped that came too fast (`limits.log-rate`)"),
                );
            }
        }
        let words = String::from_utf8_lossy(&state.last_words);
        let from = seam(&words, words.len().saturating_sub(KEPT));
        redact(if words.len() > KEPT { &words[from..] } else { &words }).into_owned()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How many lines a plugin may log in a second, over all of its calls: one that floods the log would hide what others
/// say in it.
pub(crate) struct Pace {
    most: u32,
    /// The second that is being counted, and its lines.
    now: Mutex<(Instant, u32)>,
}

impl Pace {
    pub fn new(most: u32) -> Self {
        Self { most, now: Mutex::new((Instant::now(), 0)) }
    }

    /// Whether one more line may be logged.
    fn takes(&self) -> bool {
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        if now.0.elapsed() >= Duration::from_secs(1) {
            *now = (Instant::now(), 0);
        }
        now.1 += 1;
        now.1 <= self.most
    }
}

impl State {
    fn line(&mut self, level: Level, text: &str) {
        let cost = text.len() + LINE_OVERHEAD;
        if cost > self.left {
            self.left = 0;
            self.dropped += text.len();
            return;
        }
        self.left -= cost;
        if self.pace.as_ref().is_some_and(|pace| !pace.takes()) {
            self.hasty += 1;
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

    /// Logs the beginning of a line that is too long.
    fn break_line(&mut self, stream: Stream) {
        let buffer = std::mem::take(self.buffer(stream));
        // A character that is not there whole waits for its end.
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
struct Writer(Output, Stream);

impl IsTerminal for Writer {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Writer {
    fn async_stream(&self) -> Box<dyn tokio::io::AsyncWrite + Send + Sync> {
        Box::new(self.clone())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for Writer {
    async fn ready(&mut self) {}
}

impl OutputStream for Writer {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.0.lock().write(self.1, &bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(64 << 10)
    }
}

impl tokio::io::AsyncWrite for Writer {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        self.0.lock().write(self.1, bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
