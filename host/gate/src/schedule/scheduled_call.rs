//! One call as the executor polls it.

use std::{
    future::poll_fn,
    panic::AssertUnwindSafe,
    sync::{Arc, atomic::Ordering},
    task::{Context, Poll},
    time::Duration,
};

use futures_util::future::BoxFuture;
use loggia_facade::{Envelope, Failure, Fault, FaultKind, Stop};
use tokio::time::Instant;

use crate::{catalog::CatalogEntry, flow::CpuShares, run::CallState};

/// CPU time that a call may use on the `calls` runtime within a [`LIGHT_WINDOW`].
const LIGHT_BUDGET: Duration = Duration::from_millis(5);
/// Window of [`LIGHT_BUDGET`]. Unused time does not add up, so a long call that computes now and then stays light.
const LIGHT_WINDOW: Duration = Duration::from_millis(250);

/// A call, ready to be polled: its future, with CPU accounting, panic isolation and cancellation.
pub(crate) struct ScheduledCall {
    /// State of the call.
    pub state: Arc<CallState>,
    /// Facade that is charged for its CPU time.
    pub entry: Arc<CatalogEntry>,
    future: BoxFuture<'static, Envelope>,
    shares: Arc<CpuShares>,
}

impl ScheduledCall {
    /// Wraps the future of a call.
    pub(crate) fn new(
        state: Arc<CallState>,
        entry: Arc<CatalogEntry>,
        future: BoxFuture<'static, Envelope>,
        shares: Arc<CpuShares>,
    ) -> Self {
        Self { state, entry, future, shares }
    }

    /// Returns true if its facade is over its CPU share.
    pub(crate) fn is_over_share(&self) -> bool {
        self.shares.is_over_share(&self.entry.flow.cpu_share)
    }

    /// Polls the call and charges its facade. A panic ends the call with a fault of the host.
    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Envelope> {
        let begun = Instant::now();
        let future = AssertUnwindSafe(|| self.future.as_mut().poll(context));
        let polled = std::panic::catch_unwind(future);
        self.shares.charge(&self.entry.flow.cpu_share, begun.elapsed());
        polled.unwrap_or_else(|_| Poll::Ready(self.panic_envelope()))
    }

    /// Runs the call to its end and stores the outcome.
    pub(crate) async fn run_to_end(self) {
        let state = Arc::clone(&self.state);
        state.end(self.supervise().await).await;
    }

    /// Runs the call like [`run_while_light`](Self::run_while_light), but also returns it when it asks to leave the I/O
    /// runtime.
    pub(crate) async fn run_while_io_bound(self) -> Option<Self> {
        self.run_until(|state| state.leaves_io.swap(false, Ordering::Relaxed)).await
    }

    /// Runs the call like [`run_to_end`](Self::run_to_end), but returns it once it exceeds [`LIGHT_BUDGET`] or is cancelled.
    pub(crate) async fn run_while_light(self) -> Option<Self> {
        self.run_until(|_| false).await
    }

    async fn run_until(mut self, leaves: impl Fn(&CallState) -> bool) -> Option<Self> {
        let (mut begun, mut computed) = (Instant::now(), Duration::ZERO);
        let mut cancelled = Box::pin(self.state.cancel.clone().cancelled_owned());
        let ended = poll_fn(|context| {
            if cancelled.as_mut().poll(context).is_ready() {
                return Poll::Ready(None);
            }
            let polls = Instant::now();
            if polls.duration_since(begun) > LIGHT_WINDOW {
                (begun, computed) = (polls, Duration::ZERO);
            }
            let polled = self.poll(context);
            computed += polls.elapsed();
            match polled {
                Poll::Pending if computed > LIGHT_BUDGET || leaves(&self.state) => Poll::Ready(None),
                polled => polled.map(Some),
            }
        });
        match ended.await {
            Some(envelope) => self.state.end(envelope).await,
            None => return Some(self),
        }
        None
    }

    /// Polls the call until it ends, or, once it is cancelled, until it has had the time to end by itself.
    async fn supervise(mut self) -> Envelope {
        let state = Arc::clone(&self.state);
        tokio::select! {
            biased;
            envelope = poll_fn(|context| self.poll(context)) => return envelope,
            () = state.cancel.cancelled() => {}
        }
        let ended = state.cleanup.finish(poll_fn(|context| self.poll(context))).await;
        // The outcome is discarded, since the call was cancelled, unless it says what was undone.
        let ended = ended.filter(|_| state.cleanup.until().is_some());
        ended.unwrap_or_else(|| self.stop_envelope(Stop::Cancelled))
    }

    fn panic_envelope(&self) -> Envelope {
        let facade = self.entry.surface().name.clone();
        tracing::error!(facade, "the host panicked while it ran a call");
        let fault = Fault::new(FaultKind::Host, facade, "the host failed while it ran this call");
        self.stop_envelope(Stop::Fault(fault))
    }

    fn stop_envelope(&self, stop: Stop) -> Envelope {
        Envelope::new(self.state.command.clone(), Err(Failure::from(stop)))
    }
}
