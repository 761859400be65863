//! What a connection does, and how long it may: heads have little time, answers as much as they need, and what is waited for
//! between them depends on who was answered.

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

/// The clock of one connection. Whatever sets it runs within the connection's own task, so `keep`, which looks after each
/// poll, misses nothing.
#[derive(Debug)]
pub struct ConnectionClock {
    timeouts: ConnectionTimeouts,
    phase: Mutex<Phase>,
    /// A whole head has come, once at least.
    asked: AtomicBool,
    /// A request was a known caller's, once at least.
    authenticated: AtomicBool,
}

#[derive(Debug, Clone, Copy)]
enum Phase {
    /// It sends the head of a request.
    ReadingHead { until: Instant },
    /// It is answered.
    Answering,
    /// All of the answer is there, and some of it may still have to be sent. How long it may rest then.
    Sending { rest: Duration },
    /// It has been answered, and may ask again.
    Idle { until: Instant },
}

/// Why a connection may have to make room for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EvictionReason {
    /// No whole request has come yet.
    Silent,
    /// Of its requests none was a known caller's, and none is under way.
    Unauthenticated,
}

impl ConnectionClock {
    /// Of a connection that was just made: who only connects holds a place that others wait for.
    pub fn new(times: ConnectionTimeouts) -> Arc<Self> {
        let does = Mutex::new(Phase::ReadingHead { until: Instant::now() + times.head });
        Arc::new(Self {
            timeouts: times,
            phase: does,
            asked: AtomicBool::new(false),
            authenticated: AtomicBool::new(false),
        })
    }

    /// It is served only now: the time that it waited for a place was not its own.
    pub fn start(&self) {
        self.set(|_| Phase::ReadingHead { until: Instant::now() + self.timeouts.head });
    }

    fn set(&self, next: impl FnOnce(Phase) -> Phase) {
        let mut does = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        *does = next(*does);
    }

    /// Some bytes came: after a rest, the first of a head.
    pub fn bytes_received(&self) {
        self.set(|does| match does {
            Phase::Idle { .. } => Phase::ReadingHead { until: Instant::now() + self.timeouts.head },
            other => other,
        });
    }

    /// Nothing is left to be sent.
    pub fn flushed(&self) {
        self.set(|does| match does {
            Phase::Sending { rest } => Phase::Idle { until: Instant::now() + rest },
            other => other,
        });
    }

    /// A head has come.
    pub fn asked(&self) {
        self.asked.store(true, Ordering::Relaxed);
        self.set(|_| Phase::Answering);
    }

    /// The answer has been given. Who is not known may not hold a place for as long as who is.
    pub fn answered(&self, known: bool) {
        self.authenticated.fetch_or(known, Ordering::Relaxed);
        let rest = if known { self.timeouts.idle } else { self.timeouts.idle.min(self.timeouts.head) };
        self.set(|_| Phase::Sending { rest });
    }

    /// Whether the connection has to make room where there are too many, and why.
    pub fn eviction_reason(&self) -> Option<EvictionReason> {
        match self.does() {
            Phase::ReadingHead { .. } if !self.asked.load(Ordering::Relaxed) => Some(EvictionReason::Silent),
            Phase::ReadingHead { .. } | Phase::Idle { .. } if !self.authenticated.load(Ordering::Relaxed) => {
                Some(EvictionReason::Unauthenticated)
            }
            _ => None,
        }
    }

    fn does(&self) -> Phase {
        *self.phase.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn deadline(&self) -> Option<Instant> {
        match self.does() {
            Phase::ReadingHead { until } | Phase::Idle { until } => Some(until),
            // What is sent has a time of its own, in which some of it must be taken.
            Phase::Answering | Phase::Sending { .. } => None,
        }
    }

    /// Drives a connection as long as it keeps to its times; none where it did not.
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

/// Tells the clock, when it is dropped, that an answer has been given.
pub struct ResponseGuard {
    /// Of its connection.
    pub clock: Arc<ConnectionClock>,
    /// Whether it was known whom it is for.
    pub authenticated: bool,
}

impl Drop for ResponseGuard {
    fn drop(&mut self) {
        self.clock.answered(self.authenticated);
    }
}

/// The stream of a connection, which tells its clock what comes and what is sent.
pub struct TimedStream<S> {
    /// Itself.
    pub stream: Pin<Box<S>>,
    /// Its connection's.
    pub clock: Arc<ConnectionClock>,
    /// What is written in place of hyper's own refusals.
    pub refusal: HeadRefusal,
}

impl<S: AsyncWrite> TimedStream<S> {
    /// Writes what takes the place of these bytes; none where nothing does. An answer of ours follows a whole head.
    fn poll_replace(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Option<Poll<io::Result<()>>> {
        let asks = matches!(self.clock.does(), Phase::ReadingHead { .. });
        (asks && self.refusal.replaces(bytes)).then(|| self.refusal.poll_write(self.stream.as_mut(), cx))
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

    /// hyper comes here when it has written all that it has.
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

    /// H47: after how many seconds a connection is over that does this, and a second later that, and then nothing.
    #[tokio::test(start_paused = true)]
    async fn each_connection_phase_has_its_timeout() {
        type Step = fn(&ConnectionClock);
        let (asked, heard, sent): (Step, Step, Step) =
            (ConnectionClock::asked, ConnectionClock::bytes_received, ConnectionClock::flushed);
        let (known, unknown): (Step, Step) = (|clock| clock.answered(true), |clock| clock.answered(false));
        for (what, steps, expected) in [
            ("nothing is said", vec![], Some(10)),
            ("a head comes slowly", vec![heard, heard, heard], Some(10)),
            ("it is being answered", vec![heard, asked, heard, sent], None),
            ("it rests", vec![asked, known, sent], Some(3 + 75)),
            ("nobody knows it", vec![asked, unknown, sent], Some(3 + 10)),
            ("its answer is being sent", vec![asked, known, heard], None),
            ("the next head comes slowly", vec![asked, known, sent, heard, heard], Some(4 + 10)),
            ("the next head has come", vec![asked, unknown, sent, heard, asked], None),
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
