//! Chooses the runtime that polls a call.
//!
//! The first slice of a call is polled inline, on the task of its follower: most calls end within it and pay for no thread
//! hop. A call that is still pending (its first epoch passed, or it waits for something) moves to the `calls` runtime,
//! whose threads have a lower priority. One that then computes for longer than most calls moves on to the `heavy`
//! runtime, which has fewer threads, so that a processor stays free: a call that waits for a file must not queue behind
//! guests that loop, each of which runs to the end of its epoch. All calls of a facade that is over its CPU share
//! (`cpu_shares.rs`) start on `heavy`, however short each of them is.
//!
//! Calls of a facade that is I/O-bound stay on the runtime of their follower, since each change of threads costs more than
//! they compute. One that computes after all moves to `calls`, like the others.

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
    catalog::CatalogEntry,
    flow::{CpuShares, FacadeFlow},
    run::CallState,
};

/// Policy for the first slice of calls.
#[derive(Debug, Clone, Copy)]
pub enum InlinePolicy {
    /// Every call stays on the runtime of its follower. For benchmarks of a single runtime.
    Always,
    /// At most this many first slices at once run inline, so that other I/O threads stay free.
    Slots(usize),
    /// Every call starts on the `calls` runtime.
    Never,
}

/// Schedules calls: first slice inline, then the `calls` runtime, then `heavy`.
///
/// It holds no lock and no task waits for it: a call that finds no inline slot is spawned at once.
pub struct Executor {
    /// `None`: calls stay on the runtime of their followers.
    lanes: Option<RuntimeHandles>,
    /// Number of first slices that may run inline at once.
    slots: usize,
    /// Number of inline slots in use; may exceed `slots` for a moment, by the calls that are about to be refused one. A
    /// slot is held for a single poll and returned on drop, also if that poll panics. Relaxed, since it guards no data.
    inline: AtomicUsize,
    /// CPU accounting of all facades, charged around each poll of each call.
    shares: Arc<CpuShares>,
}

/// Runtimes for calls that do not end within their first slice.
#[derive(Clone)]
pub struct RuntimeHandles {
    /// Runtime for most calls; lower priority than I/O.
    pub calls: Handle,
    /// Runtime for calls that compute for long; fewer threads.
    pub heavy: Handle,
}

impl Executor {
    /// Creates an executor over these runtimes.
    pub fn new(lanes: RuntimeHandles, inline: InlinePolicy) -> Self {
        let (slots, lanes) = match inline {
            InlinePolicy::Always => (usize::MAX, None),
            InlinePolicy::Slots(slots) => (slots, Some(lanes)),
            InlinePolicy::Never => (0, Some(lanes)),
        };
        Self { lanes, slots, inline: AtomicUsize::new(0), shares: Arc::default() }
    }

    /// Wraps a call for polling. Nothing runs yet.
    pub(crate) fn prepare(
        &self,
        state: Arc<CallState>,
        entry: Arc<CatalogEntry>,
        future: BoxFuture<'static, Envelope>,
    ) -> ScheduledCall {
        ScheduledCall::new(state, entry, future, Arc::clone(&self.shares))
    }

    /// Polls the first slice of a call inline, if a slot is free. Returns the call if it has not ended. Never pending.
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

    /// Runs a call to its end on a runtime.
    pub(crate) fn spawn(&self, call: ScheduledCall) {
        let Some(RuntimeHandles { calls, heavy }) = self.lanes.clone() else {
            tokio::spawn(call.run_to_end());
            return;
        };
        if call.is_over_share() {
            heavy.spawn(call.run_to_end());
            return;
        }
        match Handle::try_current() {
            Ok(here) if call.entry.facade.is_io_bound() => {
                here.spawn(async move {
                    if let Some(computes) = call.run_while_io_bound().await {
                        calls.spawn(run_on_calls(computes, heavy));
                    }
                });
            }
            _ => {
                calls.spawn(run_on_calls(call, heavy));
            }
        }
    }

    fn take_slot(&self) -> Option<InlineSlot<'_>> {
        let taken = self.inline.fetch_add(1, Ordering::Relaxed);
        let slot = InlineSlot(&self.inline);
        (taken < self.slots).then_some(slot)
    }
}

/// Runs a call on the current runtime, and on `heavy` once it computes for long.
async fn run_on_calls(call: ScheduledCall, heavy: Handle) {
    if let Some(computes) = call.run_while_light().await {
        heavy.spawn(computes.run_to_end());
    }
}

/// Counts an overrun if the call computed through its slice. One that waited at once did not.
fn record_overrun(pace: &FacadeFlow, begun: Instant) {
    if begun.elapsed() >= Duration::from_micros(500) {
        pace.record_overrun();
    }
}

/// Inline slot, returned on drop.
struct InlineSlot<'a>(&'a AtomicUsize);

impl Drop for InlineSlot<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Runs CPU-bound work that cannot yield. If it is `long`, the tasks of this worker thread move to another one first.
pub(crate) fn run_cpu_bound<T>(long: bool, call: impl FnOnce() -> T) -> T {
    let moves =
        || Handle::try_current().is_ok_and(|here| here.runtime_flavor() == RuntimeFlavor::MultiThread);
    if long && moves() { tokio::task::block_in_place(call) } else { call() }
}
