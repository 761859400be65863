//! Messages to a child, in order.

use std::{
    collections::VecDeque,
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker, ready},
    time::Duration,
};

use futures_util::future::poll_fn;
use parking_lot::Mutex;
use tokio::{io::AsyncWrite, sync::Notify, time::timeout};

use crate::connection::close_reason::CloseSignal;

/// Messages that wait for the child to read them.
const QUEUED: usize = 64;
/// Time for the child to read one message. A child that reads nothing would otherwise collect messages without end.
const WRITE: Duration = Duration::from_secs(30);

/// Time between a failed write and the end of the connection. A child that is gone closes its stdout, too: the reader then
/// passes on what it sent before, and its exit status says more.
const FAILED: Duration = Duration::from_millis(500);

/// The connection is closed.
#[derive(Debug, thiserror::Error)]
#[error("the connection is closed")]
pub(in crate::connection) struct PipeClosed;

/// The stdin of a child. Cheap to clone.
///
/// A message is written by its sender if nothing waits before it and the pipe has room, so that it costs no change of
/// threads. What the pipe does not take is queued for a task, which waits for the child.
#[derive(Clone)]
pub(super) struct ChildWriter {
    shared: Arc<WriterState>,
}

struct WriterState {
    /// Locked for non-blocking writes and never across an await. A write and the decision to queue are one step, which
    /// keeps the order of messages.
    queue: Mutex<WriteQueue>,
    /// Wakes the task when something is queued or the queue is closed. Only the task waits.
    work: Notify,
    /// Wakes senders when a message leaves the queue.
    room: Notify,
}

struct WriteQueue {
    /// `None` once the child's stdin is closed.
    stdin: Option<Pin<Box<dyn AsyncWrite + Send>>>,
    lines: VecDeque<Vec<u8>>,
    /// Bytes of the first line that are written.
    written: usize,
    /// No message follows.
    is_closed: bool,
    /// A write failed.
    has_failed: bool,
}

impl ChildWriter {
    /// Starts the task that writes queued messages. It ends when the writer is closed or the child is gone.
    pub(super) fn start(stdin: impl AsyncWrite + Send + 'static, signal: CloseSignal) -> Self {
        let queue = WriteQueue {
            stdin: Some(Box::pin(stdin)),
            lines: VecDeque::new(),
            written: 0,
            is_closed: false,
            has_failed: false,
        };
        let shared =
            Arc::new(WriterState { queue: Mutex::new(queue), work: Notify::new(), room: Notify::new() });
        tokio::spawn(write_queued(Arc::clone(&shared), signal));
        Self { shared }
    }

    /// Writes or queues a line. Returns it if the queue is full.
    pub(super) fn try_send(&self, line: Vec<u8>) -> Result<Option<Vec<u8>>, PipeClosed> {
        let mut queue = self.shared.queue.lock();
        if queue.is_closed || queue.stdin.is_none() {
            return Err(PipeClosed);
        }
        if queue.lines.len() >= QUEUED {
            return Ok(Some(line));
        }
        let is_first = queue.lines.is_empty();
        queue.lines.push_back(line);
        if !is_first {
            return Ok(None);
        }
        // Without a waker: what is left is written by the task, which brings its own.
        match queue.poll_line(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Ok(())) => Ok(None),
            Poll::Ready(Err(_)) => {
                queue.fail();
                drop(queue);
                self.shared.work.notify_one();
                Err(PipeClosed)
            }
            Poll::Pending => {
                drop(queue);
                self.shared.work.notify_one();
                Ok(None)
            }
        }
    }

    /// Writes or queues a line. Waits while the queue is full.
    pub(super) async fn send(&self, mut line: Vec<u8>) -> Result<(), PipeClosed> {
        loop {
            // Before the look at the queue, so that no wake-up is missed.
            let mut room = std::pin::pin!(self.shared.room.notified());
            room.as_mut().enable();
            match self.try_send(line)? {
                None => return Ok(()),
                Some(refused) => line = refused,
            }
            room.await;
        }
    }

    /// Accepts no more messages. The child sees the end of its stdin after the last one.
    pub(super) fn close(&self) {
        let mut queue = self.shared.queue.lock();
        queue.is_closed = true;
        if queue.lines.is_empty() {
            queue.stdin = None;
        }
        drop(queue);
        self.shared.work.notify_one();
        self.shared.room.notify_waiters();
    }
}

impl WriteQueue {
    /// Writes the first line.
    fn poll_line(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let (Some(stdin), Some(line)) = (&mut self.stdin, self.lines.front()) else {
            return Poll::Ready(Ok(()));
        };
        while self.written < line.len() {
            match ready!(stdin.as_mut().poll_write(context, &line[self.written..]))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                bytes => self.written += bytes,
            }
        }
        ready!(stdin.as_mut().poll_flush(context))?;
        self.lines.pop_front();
        self.written = 0;
        Poll::Ready(Ok(()))
    }

    /// Gives the child up.
    fn fail(&mut self) {
        self.has_failed = true;
        self.stdin = None;
        self.lines.clear();
        self.is_closed = true;
    }
}

async fn write_queued(shared: Arc<WriterState>, signal: CloseSignal) {
    loop {
        let is_empty = {
            let mut queue = shared.queue.lock();
            if queue.has_failed {
                break;
            }
            if queue.lines.is_empty() && queue.is_closed {
                queue.stdin = None;
                return;
            }
            queue.lines.is_empty()
        };
        if is_empty {
            shared.work.notified().await;
            continue;
        }
        let written = timeout(WRITE, poll_fn(|context| shared.queue.lock().poll_line(context))).await;
        if !matches!(written, Ok(Ok(()))) {
            shared.queue.lock().fail();
        }
        shared.room.notify_waiters();
        if written.is_err() {
            signal.explain(format!("it did not read its stdin for {} s", WRITE.as_secs()));
            signal.drain();
            return;
        }
    }
    if timeout(FAILED, signal.drained()).await.is_err() {
        signal.explain("it closed its stdin");
        signal.drain();
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, duplex};

    use super::*;

    fn line(number: usize) -> Vec<u8> {
        format!("{number:07}\n").into_bytes()
    }

    #[tokio::test]
    async fn messages_stay_in_order() {
        // Room for three and a half.
        let (stdin, mut child) = duplex(28);
        let writer = ChildWriter::start(stdin, CloseSignal::default());
        let sending = tokio::spawn({
            let writer = writer.clone();
            async move {
                for number in 0..300 {
                    writer.send(line(number)).await.unwrap();
                }
                writer.close();
            }
        });
        let mut read = Vec::new();
        child.read_to_end(&mut read).await.unwrap();
        sending.await.unwrap();
        assert_eq!(read, (0..300).flat_map(line).collect::<Vec<_>>());
        assert!(writer.try_send(line(0)).is_err());
    }

    #[tokio::test]
    async fn a_message_with_room_is_written_at_once() {
        let (stdin, mut child) = duplex(8);
        let writer = ChildWriter::start(stdin, CloseSignal::default());
        writer.try_send(line(1)).unwrap();
        assert!(writer.shared.queue.lock().lines.is_empty());
        writer.try_send(line(2)).unwrap();
        assert_eq!(writer.shared.queue.lock().lines.len(), 1);
        let mut read = [0; 16];
        child.read_exact(&mut read).await.unwrap();
        assert_eq!(read[..], [line(1), line(2)].concat());
    }

    #[tokio::test(start_paused = true)]
    async fn a_child_that_reads_nothing_is_given_up() {
        let (stdin, _child) = duplex(1);
        let signal = CloseSignal::default();
        let writer = ChildWriter::start(stdin, signal.clone());
        for number in 0..QUEUED {
            assert_eq!(writer.try_send(line(number)).unwrap(), None);
        }
        assert_eq!(writer.try_send(line(0)).unwrap(), Some(line(0)));
        assert!(writer.send(line(0)).await.is_err());
        signal.drained().await;
        assert_eq!(signal.reason(), "it did not read its stdin for 30 s");
    }

    #[tokio::test]
    async fn a_child_that_is_gone_takes_nothing() {
        let (stdin, child) = duplex(1);
        drop(child);
        let writer = ChildWriter::start(stdin, CloseSignal::default());
        assert!(writer.try_send(line(1)).is_err());
        assert!(writer.send(line(1)).await.is_err());
    }
}
