//! Where a call runs.
//!
//! A call's first slice runs inline, on the task of whoever follows it: most calls end within it, and no thread hop is
//! paid. What does not end (its first epoch passed, or it waits for something) moves to a second runtime, whose
//! threads have a lower priority. What has then computed for longer than most calls take moves on to a third, whose
//! threads are fewer, so that a processor stays free: a call that waits for a file must not queue behind guests that loop,
//! each of which runs to the end of its epoch. There also start the calls of a facade that computed more than its share
//! (`shares.rs`), however short each of them is.

use std::{
    future::poll_fn,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::Poll,
    time::Duration,
};

use futures_util::future::BoxFuture;
use loggia_facade::Envelope;
use tokio::{
    runtime::{Handle, RuntimeFlavor},
    time::Instant,
};

use super::scheduled_call::ScheduledCall;
use crate::{
    catalog::Entry,
    flow::{CpuShares, FacadeFlow},
    run::CallState,
};

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
    shares: Arc<CpuShares>,
}

/// Where calls run that do not end at once.
#[derive(Clone)]
pub struct Lanes {
    /// The second runtime.
    pub calls: Handle,
    /// The third, for calls that compute for long.
    pub heavy: Handle,
}

impl Executor {
    /// An executor over these runtimes.
    pub fn new(lanes: Lanes, inline: Inline) -> Self {
        let (slots, lanes) = match inline {
            Inline::Always => (usize::MAX, None),
            Inline::Slots(slots) => (slots, Some(lanes)),
            Inline::Never => (0, Some(lanes)),
        };
        Self { lanes, slots, inline: AtomicUsize::new(0), shares: Arc::default() }
    }

    /// A call of this run, which has not begun.
    pub(crate) fn prepare(
        &self,
        state: Arc<CallState>,
        entry: Arc<Entry>,
        future: BoxFuture<'static, Envelope>,
    ) -> ScheduledCall {
        ScheduledCall::new(state, entry, future, Arc::clone(&self.shares))
    }

    /// Gives a call its first slice here. Its envelope, or the call, if it has not ended.
    pub(crate) async fn poll_inline(&self, mut call: ScheduledCall) -> Result<Envelope, ScheduledCall> {
        let may_start = |_: &InlineSlot<'_>| !call.is_over_share() && call.entry.flow.may_start_inline();
        let Some(_slot) = self.take_slot().filter(may_start) else { return Err(call) };
        let begun = Instant::now();
        match poll_fn(|context| Poll::Ready(call.poll(context))).await {
            Poll::Ready(envelope) => Ok(envelope),
            Poll::Pending => {
                record_overrun(&call.entry.flow, begun);
                Err(call)
            }
        }
    }

    /// Lets a call run to its end, away from who follows it.
    pub(crate) fn spawn(&self, call: ScheduledCall) {
        let Some(Lanes { calls, heavy }) = self.lanes.clone() else {
            tokio::spawn(call.run_to_end());
            return;
        };
        if call.is_over_share() {
            heavy.spawn(call.run_to_end());
            return;
        }
        calls.spawn(async move {
            if let Some(computes) = call.run_while_light().await {
                heavy.spawn(computes.run_to_end());
            }
        });
    }

    fn take_slot(&self) -> Option<InlineSlot<'_>> {
        let taken = self.inline.fetch_add(1, Ordering::Relaxed);
        let slot = InlineSlot(&self.inline);
        (taken < self.slots).then_some(slot)
    }
}

/// A call that waited at once did not use up its slice; only one that computed through it did.
fn record_overrun(pace: &FacadeFlow, begun: Instant) {
    if begun.elapsed() >= Duration::from_micros(500) {
        pace.record_overrun();
    }
}

/// One of the inline slots, given back when it is dropped.
struct InlineSlot<'a>(&'a AtomicUsize);

impl Drop for InlineSlot<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Does work that cannot be interrupted. Where it is long, the tasks of this thread move to another one first.
pub(crate) fn run_cpu_bound<T>(long: bool, call: impl FnOnce() -> T) -> T {
    let moves =
        || Handle::try_current().is_ok_and(|here| here.runtime_flavor() == RuntimeFlavor::MultiThread);
    if long && moves() { tokio::task::block_in_place(call) } else { call() }
}
