//! One call on its way through the runtimes.

use std::{
    future::poll_fn,
    panic::AssertUnwindSafe,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use futures_util::future::BoxFuture;
use loggia_facade::{Envelope, Failure, Fault, FaultKind, Stop};
use tokio::time::Instant;

use crate::{catalog::Entry, flow::CpuShares, run::CallState};

/// How long a cancelled call may take to end by itself before it is dropped.
const CANCEL_GRACE: Duration = Duration::from_millis(250);

/// What a call may compute on the second runtime …
const LIGHT_BUDGET: Duration = Duration::from_millis(5);
/// … within this time: one that runs for long may compute now and then, and saves nothing up.
const LIGHT_WINDOW: Duration = Duration::from_millis(250);

/// A call, ready to be polled, with what ends it from outside.
pub(crate) struct ScheduledCall {
    /// Its shared state.
    pub state: Arc<CallState>,
    /// The version that answers: at its expense it runs.
    pub entry: Arc<Entry>,
    future: BoxFuture<'static, Envelope>,
    shares: Arc<CpuShares>,
}

impl ScheduledCall {
    /// A call that has not begun.
    pub(crate) fn new(
        state: Arc<CallState>,
        entry: Arc<Entry>,
        future: BoxFuture<'static, Envelope>,
        shares: Arc<CpuShares>,
    ) -> Self {
        Self { state, entry, future, shares }
    }

    /// Whether its facade computed more than its share just now.
    pub(crate) fn is_over_share(&self) -> bool {
        self.shares.is_over_share(&self.entry.flow.cpu_share)
    }

    /// Goes on with it, at its facade's expense. A panic is its end.
    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Envelope> {
        let begun = Instant::now();
        let future = AssertUnwindSafe(|| self.future.as_mut().poll(context));
        let polled = std::panic::catch_unwind(future);
        self.shares.charge(&self.entry.flow.cpu_share, begun.elapsed());
        polled.unwrap_or_else(|_| Poll::Ready(self.panic_envelope()))
    }

    /// Runs it to its end, and tells who follows it.
    pub(crate) async fn run_to_end(self) {
        let state = Arc::clone(&self.state);
        state.finish(self.supervise().await);
    }

    /// The same, but gives it back once it has computed for longer than its share, or is to end.
    pub(crate) async fn run_while_light(mut self) -> Option<Self> {
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
                Poll::Pending if computed > LIGHT_BUDGET => Poll::Ready(None),
                polled => polled.map(Some),
            }
        });
        match ended.await {
            Some(envelope) => self.state.finish(envelope),
            None => return Some(self),
        }
        None
    }

    /// Runs until the call ends or its caller goes away.
    async fn supervise(mut self) -> Envelope {
        let state = Arc::clone(&self.state);
        tokio::select! {
            biased;
            envelope = poll_fn(|context| self.poll(context)) => return envelope,
            () = state.cancel.cancelled() => {}
        }
        // Whatever it still says, its caller is gone.
        let _ = tokio::time::timeout(CANCEL_GRACE, poll_fn(|context| self.poll(context))).await;
        self.stop_envelope(Stop::Cancelled)
    }

    fn panic_envelope(&self) -> Envelope {
        let facade = self.entry.surface().name.clone();
        tracing::error!(facade, "the host panicked while it ran a call");
        let message = "the host failed while it ran this call".to_owned();
        self.stop_envelope(Stop::Fault(Fault {
            kind: FaultKind::Host,
            facade,
            message,
            limit: None,
            log: None,
        }))
    }

    fn stop_envelope(&self, stop: Stop) -> Envelope {
        Envelope::new(self.state.command.clone(), Err(Failure::from(stop)))
    }
}
