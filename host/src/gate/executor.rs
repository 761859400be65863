//! Where a call runs.
//!
//! A call's first slice runs inline, on the task of whoever follows it: most calls end within it, and no thread hop is
//! paid. What does not end (its first epoch passed, or it waits for something) moves to a second runtime, whose
//! threads have a lower priority. What has then computed for longer than most calls take moves on to a third, whose
//! threads are fewer and of lower priority still: a call that waits for a file must not queue behind guests that loop,
//! each of which runs to the end of its epoch.

use std::{
    future::poll_fn,
    panic::AssertUnwindSafe,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::Poll,
    time::Duration,
};

use futures_util::{FutureExt, future::BoxFuture};
use loggia_facade::{Envelope, Failure, Fault, FaultKind, Stop};
use tokio::{runtime::Handle, time::Instant};

use super::{permits::Pace, printable, run::Run};

/// How long a cancelled call may take to end by itself before it is dropped.
const GRACE: Duration = Duration::from_millis(250);

/// What a call may compute on the second runtime …
const SHARE: Duration = Duration::from_millis(5);
/// … within this time: one that runs for long may compute now and then, and saves nothing up.
const WINDOW: Duration = Duration::from_millis(250);

/// Whether first slices run inline.
#[derive(Debug, Clone, Copy)]
pub enum Inline {
    /// All of them, and what follows stays on the I/O runtime too. For measuring: one runtime for everything.
    Always,
    /// At most so many at once, so that the other I/O threads stay free.
    Slots(usize),
    /// Every call starts on the second runtime.
    Never,
}

/// The runtimes, and who may do without them.
pub struct Executor {
    /// None: calls stay on the runtime of whoever follows them.
    lanes: Option<Lanes>,
    slots: usize,
    inline: AtomicUsize,
}

/// Where calls run that do not end at once.
#[derive(Clone)]
pub struct Lanes {
    /// The second runtime.
    pub calls: Handle,
    /// The third, for calls that compute for long.
    pub heavy: Handle,
}

/// One call, ready to be polled, with what ends it from outside.
pub struct Work {
    /// The call itself.
    pub future: BoxFuture<'static, Envelope>,
    /// Its shared state.
    pub run: Arc<Run>,
}

impl Executor {
    /// An executor over these runtimes.
    pub fn new(lanes: Lanes, inline: Inline) -> Self {
        let (slots, lanes) = match inline {
            Inline::Always => (usize::MAX, None),
            Inline::Slots(slots) => (slots, Some(lanes)),
            Inline::Never => (0, Some(lanes)),
        };
        Self { lanes, slots, inline: AtomicUsize::new(0) }
    }

    /// Gives a call its first slice here. Its envelope, or the call, if it has not ended.
    pub async fn first_slice(&self, mut work: Work) -> Result<Envelope, Work> {
        let pace = &work.run.entry.pace;
        let Some(_slot) = self.slot().filter(|_| pace.may_start_inline()) else { return Err(work) };
        let begun = Instant::now();
        let polled = poll_fn(|context| {
            let polled = AssertUnwindSafe(|| work.future.as_mut().poll(context));
            Poll::Ready(std::panic::catch_unwind(polled))
        })
        .await;
        match polled {
            Ok(Poll::Ready(envelope)) => Ok(envelope),
            Ok(Poll::Pending) => {
                note_overrun(&work.run.entry.pace, begun);
                Err(work)
            }
            Err(_) => Ok(work.panicked()),
        }
    }

    /// Lets a call run to its end, away from who follows it.
    pub fn spawn(&self, work: Work) {
        let Some(Lanes { calls, heavy }) = self.lanes.clone() else {
            tokio::spawn(work.run_to_end());
            return;
        };
        calls.spawn(async move {
            if let Some(computes) = work.run_while_light().await {
                heavy.spawn(computes.run_to_end());
            }
        });
    }

    fn slot(&self) -> Option<Slot<'_>> {
        let taken = self.inline.fetch_add(1, Ordering::Relaxed);
        let slot = Slot(&self.inline);
        (taken < self.slots).then_some(slot)
    }
}

/// A call that waited at once did not use up its slice; only one that computed through it did.
fn note_overrun(pace: &Pace, begun: Instant) {
    if begun.elapsed() >= Duration::from_micros(500) {
        pace.overran();
    }
}

/// One of the inline slots, given back when it is dropped.
struct Slot<'a>(&'a AtomicUsize);

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Work {
    async fn run_to_end(self) {
        let run = Arc::clone(&self.run);
        run.finish(self.supervise().await);
    }

    /// Runs it to its end too, but gives it back once it has computed for longer than its share.
    async fn run_while_light(mut self) -> Option<Self> {
        let (mut begun, mut computed) = (Instant::now(), Duration::ZERO);
        let mut ends = Box::pin(self.run.cancel.clone().cancelled_owned());
        let polled = poll_fn(|context| {
            if ends.as_mut().poll(context).is_ready() {
                return Poll::Ready(None);
            }
            let polls = Instant::now();
            if polls.duration_since(begun) > WINDOW {
                (begun, computed) = (polls, Duration::ZERO);
            }
            let future = AssertUnwindSafe(|| self.future.as_mut().poll(context));
            let polled = std::panic::catch_unwind(future);
            computed += polls.elapsed();
            match polled {
                Ok(Poll::Pending) if computed > SHARE => Poll::Ready(None),
                Ok(Poll::Pending) => Poll::Pending,
                Ok(Poll::Ready(envelope)) => Poll::Ready(Some(Ok(envelope))),
                Err(_) => Poll::Ready(Some(Err(()))),
            }
        })
        .await;
        match polled {
            Some(ended) => self.run.finish(ended.unwrap_or_else(|()| self.panicked())),
            None => return Some(self),
        }
        None
    }

    /// Runs until the call ends or its caller goes away.
    async fn supervise(mut self) -> Envelope {
        let work = AssertUnwindSafe(&mut self.future).catch_unwind();
        tokio::select! {
            biased;
            envelope = work => return envelope.unwrap_or_else(|_| self.panicked()),
            () = self.run.cancel.cancelled() => {}
        }
        let work = AssertUnwindSafe(Pin::as_mut(&mut self.future)).catch_unwind();
        // Whatever it still says, its caller is gone.
        let _ = tokio::time::timeout(GRACE, work).await;
        self.stopped(Stop::Cancelled)
    }

    fn panicked(&self) -> Envelope {
        let facade = self.run.entry.surface().name.clone();
        tracing::error!(facade, "the host panicked while it ran a call");
        let message = "the host failed while it ran this call".to_owned();
        self.stopped(Stop::Fault(Fault { kind: FaultKind::Host, facade, message, limit: None, log: None }))
    }

    fn stopped(&self, stop: Stop) -> Envelope {
        Envelope::new(self.run.command.clone(), Err(Failure::from(stop)))
    }
}

/// What the operator sees of a fault; the caller sees only its sentence. Guests have a part in these texts, so each
/// line of them stays on a line of its own.
pub fn log_fault(fault: &Fault) {
    let (facade, kind) = (fault.facade.as_str(), fault.kind.as_str());
    tracing::warn!(facade, kind, "{}", printable(&fault.message));
    for line in fault.log.iter().flat_map(|log| log.lines()) {
        tracing::debug!(facade, "{}", printable(line));
    }
}
