//! Phases of a connection and their timeouts. Request headers must arrive quickly, responses may take as long as they need,
//! and the idle timeout depends on whether the last caller was authenticated.

use std::{
    io::{self, IoSlice},
    pin::{Pin, pin},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::Instant,
};

use super::{oversize::HeadRefusal, timeouts::ConnectionTimeouts};

/// Clock of one connection. Every event that changes the phase occurs within the connection's own task, so `enforce`, which
/// checks the deadline after each poll, misses none.
#[derive(Debug)]
pub struct ConnectionClock {
    timeouts: ConnectionTimeouts,
    /// Current phase. The connection's task changes it; `eviction_reason` reads it from the task that accepts another
    /// connection, with the connection table locked. Both hold this lock only to copy the value, and take no other lock
    /// while they do, so the order cannot deadlock.
    phase: Mutex<Phase>,
    /// Set once a complete request head has arrived.
    asked: AtomicBool,
    /// Set once a request was authenticated.
    authenticated: AtomicBool,
}

#[derive(Debug, Clone, Copy)]
enum Phase {
    /// The client is sending the head of a request.
    ReadingHead { until: Instant },
    /// The request is being handled.
    Answering,
    /// The response is complete, but may still have to be sent. Then the connection is idle for `rest`.
    Sending { rest: Duration },
    /// The response was sent, and the client may send another request.
    Idle { until: Instant },
}

/// Why a connection may be evicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EvictionReason {
    /// It has not sent a complete request yet.
    Silent,
    /// None of its requests was authenticated, and none is in progress.
    Unauthenticated,
}

impl ConnectionClock {
    /// Starts the clock of a new connection. The header timeout runs at once, since an idle connection occupies a place.
    pub fn new(timeouts: ConnectionTimeouts) -> Arc<Self> {
        let phase = Mutex::new(Phase::ReadingHead { until: Instant::now() + timeouts.head });
        Arc::new(Self {
            timeouts,
            phase,
            asked: AtomicBool::new(false),
            authenticated: AtomicBool::new(false),
        })
    }

    /// Restarts the header timeout when the connection is served, after waiting for a place.
    pub fn start(&self) {
        self.set(|_| Phase::ReadingHead { until: Instant::now() + self.timeouts.head });
    }

    fn set(&self, next: impl FnOnce(Phase) -> Phase) {
        let mut phase = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        *phase = next(*phase);
    }

    /// Records received bytes: on an idle connection, the beginning of a head.
    pub fn bytes_received(&self) {
        self.set(|phase| match phase {
            Phase::Idle { .. } => Phase::ReadingHead { until: Instant::now() + self.timeouts.head },
            other => other,
        });
    }

    /// Records that all output was sent.
    pub fn flushed(&self) {
        self.set(|phase| match phase {
            Phase::Sending { rest } => Phase::Idle { until: Instant::now() + rest },
            other => other,
        });
    }

    /// Records a complete request head.
    pub fn asked(&self) {
        self.asked.store(true, Ordering::Relaxed);
        self.set(|_| Phase::Answering);
    }

    /// Records a complete response. Unauthenticated connections have a shorter idle timeout.
    pub fn answered(&self, known: bool) {
        self.authenticated.fetch_or(known, Ordering::Relaxed);
        let rest = if known { self.timeouts.idle } else { self.timeouts.idle.min(self.timeouts.head) };
        self.set(|_| Phase::Sending { rest });
    }

    /// Returns why the connection may be evicted at capacity, or `None` if it may not.
    pub fn eviction_reason(&self) -> Option<EvictionReason> {
        match self.phase() {
            Phase::ReadingHead { .. } if !self.asked.load(Ordering::Relaxed) => Some(EvictionReason::Silent),
            Phase::ReadingHead { .. } | Phase::Idle { .. } if !self.authenticated.load(Ordering::Relaxed) => {
                Some(EvictionReason::Unauthenticated)
            }
            _ => None,
        }
    }

    fn phase(&self) -> Phase {
        *self.phase.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn deadline(&self) -> Option<Instant> {
        match self.phase() {
            Phase::ReadingHead { until } | Phase::Idle { until } => Some(until),
            // Sending has its own write timeout.
            Phase::Answering | Phase::Sending { .. } => None,
        }
    }

    /// Drives a connection; returns `None` if a deadline passed.
    pub async fn enforce<T>(&self, connection: impl Future<Output = T>) -> Option<T> {
        let mut connection = pin!(connection);
        let mut alarm = pin!(tokio::time::sleep_until(Instant::now()));
        std::future::poll_fn(|cx| {
            if let Poll::Ready(ended) = connection.as_mut().poll(cx) {
                return Poll::Ready(Some(ended));
            }
            let Some(until) = self.deadline() else { return Poll::Pending };
            if alarm.deadline() != until {
                alarm.as_mut().reset(until);
            }
            alarm.as_mut().poll(cx).map(|()| None)
        })
        .await
    }
}

/// Reports the end of the response to the clock when it is dropped.
pub struct ResponseGuard {
    /// Clock of the connection.
    pub clock: Arc<ConnectionClock>,
    /// Set if the request was authenticated.
    pub authenticated: bool,
}

impl Drop for ResponseGuard {
    fn drop(&mut self) {
        self.clock.answered(self.authenticated);
    }
}

/// Stream of a connection, which reports input and output to the clock.
pub struct TimedStream<S> {
    /// The wrapped stream.
    pub stream: Pin<Box<S>>,
    /// Clock of the connection.
    pub clock: Arc<ConnectionClock>,
    /// Replaces hyper's own 431 response.
    pub refusal: HeadRefusal,
}

impl<S: AsyncWrite> TimedStream<S> {
    /// Writes the replacement of these bytes, if they are hyper's refusal. Responses of ours follow a complete head, so they are
    /// never mistaken for it.
    fn poll_replace(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Option<Poll<io::Result<()>>> {
        let is_reading_head = matches!(self.clock.phase(), Phase::ReadingHead { .. });
        (is_reading_head && self.refusal.replaces(bytes))
            .then(|| self.refusal.poll_write(self.stream.as_mut(), cx))
    }
}

impl<S: AsyncRead> AsyncRead for TimedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        to: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = to.filled().len();
        let read = self.stream.as_mut().poll_read(cx, to);
        if to.filled().len() > before {
            self.clock.bytes_received();
        }
        read
    }
}

impl<S: AsyncWrite> AsyncWrite for TimedStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if let Some(refused) = self.poll_replace(cx, bytes) {
            return refused.map_ok(|()| bytes.len());
        }
        self.stream.as_mut().poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let first = bytes.iter().find(|bytes| !bytes.is_empty()).map_or(&[][..], |bytes| bytes);
        if let Some(refused) = self.poll_replace(cx, first) {
            return refused.map_ok(|()| bytes.iter().map(|bytes| bytes.len()).sum());
        }
        self.stream.as_mut().poll_write_vectored(cx, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    /// hyper flushes after it has written everything.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = self.stream.as_mut().poll_flush(cx);
        if matches!(flushed, Poll::Ready(Ok(()))) {
            self.clock.flushed();
        }
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream.as_mut().poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use super::*;

    const TIMES: ConnectionTimeouts = ConnectionTimeouts {
        head: Duration::from_secs(10),
        idle: Duration::from_secs(75),
        write: Duration::from_secs(30),
    };

    /// H47: performs one step a second, then nothing, and expects the connection to time out after so many seconds.
    #[tokio::test(start_paused = true)]
    async fn each_connection_phase_has_its_timeout() {
        type Step = fn(&ConnectionClock);
        let (asked, heard, sent): (Step, Step, Step) =
            (ConnectionClock::asked, ConnectionClock::bytes_received, ConnectionClock::flushed);
        let (known, unknown): (Step, Step) = (|clock| clock.answered(true), |clock| clock.answered(false));
        for (what, steps, expected) in [
            ("nothing arrives", vec![], Some(10)),
            ("a head arrives slowly", vec![heard, heard, heard], Some(10)),
            ("the request is handled", vec![heard, asked, heard, sent], None),
            ("it is idle", vec![asked, known, sent], Some(3 + 75)),
            ("it is unauthenticated", vec![asked, unknown, sent], Some(3 + 10)),
            ("its response is being sent", vec![asked, known, heard], None),
            ("the next head arrives slowly", vec![asked, known, sent, heard, heard], Some(4 + 10)),
            ("the next head has arrived", vec![asked, unknown, sent, heard, asked], None),
        ] {
            let begun = Instant::now();
            let clock = ConnectionClock::new(TIMES);
            let connection = async {
                for step in steps {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    step(&clock);
                }
                pending::<()>().await;
            };
            let kept = tokio::time::timeout(Duration::from_secs(1000), clock.enforce(connection)).await;
            let ended = kept.is_ok().then(|| begun.elapsed().as_secs());
            assert_eq!(ended, expected, "{what}");
        }
    }
}
