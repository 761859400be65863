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

use super::{oversize::HeadRefusal, times::Times};

/// The clock of one connection. Whatever sets it runs within the connection's own task, so `keep`, which looks after each
/// poll, misses nothing.
#[derive(Debug)]
pub struct Clock {
    times: Times,
    does: Mutex<Does>,
    /// A whole head has come, once at least.
    asked: AtomicBool,
    /// A request was a known caller's, once at least.
    known: AtomicBool,
}

#[derive(Debug, Clone, Copy)]
enum Does {
    /// It sends the head of a request.
    Asks { until: Instant },
    /// It is answered.
    Hears,
    /// All of the answer is there, and some of it may still have to be sent. How long it may rest then.
    Takes { rest: Duration },
    /// It has been answered, and may ask again.
    Rests { until: Instant },
}

/// Why a connection may have to make room for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Yields {
    /// No whole request has come yet.
    Silent,
    /// Of its requests none was a known caller's, and none is under way.
    Refused,
}

impl Clock {
    /// Of a connection that was just made: who only connects holds a place that others wait for.
    pub fn new(times: Times) -> Arc<Self> {
        let does = Mutex::new(Does::Asks { until: Instant::now() + times.head });
        Arc::new(Self { times, does, asked: AtomicBool::new(false), known: AtomicBool::new(false) })
    }

    /// It is served only now: the time that it waited for a place was not its own.
    pub fn begin(&self) {
        self.set(|_| Does::Asks { until: Instant::now() + self.times.head });
    }

    fn set(&self, next: impl FnOnce(Does) -> Does) {
        let mut does = self.does.lock().unwrap_or_else(PoisonError::into_inner);
        *does = next(*does);
    }

    /// Some bytes came: after a rest, the first of a head.
    pub fn heard(&self) {
        self.set(|does| match does {
            Does::Rests { .. } => Does::Asks { until: Instant::now() + self.times.head },
            other => other,
        });
    }

    /// Nothing is left to be sent.
    pub fn sent(&self) {
        self.set(|does| match does {
            Does::Takes { rest } => Does::Rests { until: Instant::now() + rest },
            other => other,
        });
    }

    /// A head has come.
    pub fn asked(&self) {
        self.asked.store(true, Ordering::Relaxed);
        self.set(|_| Does::Hears);
    }

    /// The answer has been given. Who is not known may not hold a place for as long as who is.
    pub fn answered(&self, known: bool) {
        self.known.fetch_or(known, Ordering::Relaxed);
        let rest = if known { self.times.idle } else { self.times.idle.min(self.times.head) };
        self.set(|_| Does::Takes { rest });
    }

    /// Whether the connection has to make room where there are too many, and why.
    pub fn yields(&self) -> Option<Yields> {
        match self.does() {
            Does::Asks { .. } if !self.asked.load(Ordering::Relaxed) => Some(Yields::Silent),
            Does::Asks { .. } | Does::Rests { .. } if !self.known.load(Ordering::Relaxed) => {
                Some(Yields::Refused)
            }
            _ => None,
        }
    }

    fn does(&self) -> Does {
        *self.does.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn until(&self) -> Option<Instant> {
        match self.does() {
            Does::Asks { until } | Does::Rests { until } => Some(until),
            // What is sent has a time of its own, in which some of it must be taken.
            Does::Hears | Does::Takes { .. } => None,
        }
    }

    /// Drives a connection as long as it keeps to its times; none where it did not.
    pub async fn keep<T>(&self, connection: impl Future<Output = T>) -> Option<T> {
        let mut connection = pin!(connection);
        let mut alarm = pin!(tokio::time::sleep_until(Instant::now()));
        std::future::poll_fn(|cx| {
            if let Poll::Ready(ended) = connection.as_mut().poll(cx) {
                return Poll::Ready(Some(ended));
            }
            let Some(until) = self.until() else { return Poll::Pending };
            if alarm.deadline() != until {
                alarm.as_mut().reset(until);
            }
            alarm.as_mut().poll(cx).map(|()| None)
        })
        .await
    }
}

/// Tells the clock, when it is dropped, that an answer has been given.
pub struct Answer {
    /// Of its connection.
    pub clock: Arc<Clock>,
    /// Whether it was known whom it is for.
    pub known: bool,
}

impl Drop for Answer {
    fn drop(&mut self) {
        self.clock.answered(self.known);
    }
}

/// The stream of a connection, which tells its clock what comes and what is sent.
pub struct Timed<S> {
    /// Itself.
    pub stream: Pin<Box<S>>,
    /// Its connection's.
    pub clock: Arc<Clock>,
    /// What is written in place of hyper's own refusals.
    pub refusal: HeadRefusal,
}

impl<S: AsyncWrite> Timed<S> {
    /// Writes what takes the place of these bytes; none where nothing does. An answer of ours follows a whole head.
    fn poll_refuse(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Option<Poll<io::Result<()>>> {
        let asks = matches!(self.clock.does(), Does::Asks { .. });
        (asks && self.refusal.replaces(bytes)).then(|| self.refusal.poll_write(self.stream.as_mut(), cx))
    }
}

impl<S: AsyncRead> AsyncRead for Timed<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        to: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = to.filled().len();
        let read = self.stream.as_mut().poll_read(cx, to);
        if to.filled().len() > before {
            self.clock.heard();
        }
        read
    }
}

impl<S: AsyncWrite> AsyncWrite for Timed<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if let Some(refused) = self.poll_refuse(cx, bytes) {
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
        if let Some(refused) = self.poll_refuse(cx, first) {
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
            self.clock.sent();
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

    const TIMES: Times = Times {
        head: Duration::from_secs(10),
        idle: Duration::from_secs(75),
        write: Duration::from_secs(30),
    };

    /// H47: after how many seconds a connection is over that does this, and a second later that, and then nothing.
    #[tokio::test(start_paused = true)]
    async fn each_thing_that_a_connection_does_has_its_time() {
        type Step = fn(&Clock);
        let (asked, heard, sent): (Step, Step, Step) = (Clock::asked, Clock::heard, Clock::sent);
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
            let clock = Clock::new(TIMES);
            let connection = async {
                for step in steps {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    step(&clock);
                }
                pending::<()>().await;
            };
            let kept = tokio::time::timeout(Duration::from_secs(1000), clock.keep(connection)).await;
            let ended = kept.is_ok().then(|| begun.elapsed().as_secs());
            assert_eq!(ended, expected, "{what}");
        }
    }
}
