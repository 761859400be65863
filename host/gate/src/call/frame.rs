//! One call as the facade that answers it sees it: its permit, its clock, and the calls above it.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use loggia_facade::{CallId, CallJournal, Failure, Limit, ScopeKey, code, trace::ParentSpan};
use tokio::{sync::Mutex, time::Instant};
use tokio_util::sync::CancellationToken;

use super::{gate_state::GateState, timeout::WallTimeout};
use crate::{
    catalog::{CatalogEntry, CatalogSlot},
    flow::CallPermit,
    plan::PlannedCall,
    run::{CallState, CleanupTime},
};

/// Longest time that a stopped call has to undo what it has done.
const MAX_CLEANUP: Duration = Duration::from_secs(24 * 3600);

/// One call of one facade: the root call, or a nested one. Owned by its facade's port and by the future that answers it.
pub(crate) struct CallFrame {
    pub(super) id: CallId,
    pub(super) gate: Arc<GateState>,
    /// State of the root call, shared by all frames below it.
    pub(super) state: Arc<CallState>,
    pub(super) entry: Arc<CatalogEntry>,
    /// Index of the action in the surface.
    pub(super) action: usize,
    /// End of the call's wall clock, as [`CallState::start_clock`] counts it.
    pub(super) due: Instant,
    /// The call that made this one.
    pub(super) parent: Option<Arc<CallFrame>>,
    /// The call's right to run. `None` while this call, or one below it, waits for a person.
    ///
    /// The lock is held while a permit is awaited, so that parallel branches of a call that resume together take one
    /// permit and not one each; the others wait for the lock and then find the permit. No task holds two of these locks,
    /// and a holder waits only for a permit, with a timeout, so they cannot deadlock.
    pub(super) permit: Mutex<Option<CallPermit>>,
    /// Failure that ends a call which may not resume after it was parked. Set once, by the branch that finds out; the
    /// future in `answer.rs` reads it after each poll, so no task waits for it.
    pub(super) stop_reason: OnceLock<Failure>,
    /// Set when this call ends while a nested call is running: it is then unknown which of the two used up the time, so
    /// neither is charged with a fault. Relaxed, since no other data depends on it.
    pub(super) nested_interrupted: Arc<AtomicBool>,
    /// Questions that facades asked in this call and in those below it. Only a limit: a race of parallel branches may
    /// let a few more through.
    pub(super) questions_asked: AtomicUsize,
    /// Key of its entries in the journal of its run, if a durable call makes it.
    journal_key: Option<String>,
    /// Cancelled when this call is to end. Most calls share that of the call that made them.
    pub(super) cancel: CancellationToken,
    /// Of a durable call: set once it, or one below it, undoes what it has done.
    pub(super) cleanup: Option<Arc<CleanupTime>>,
    /// Span of this call.
    pub(super) span: ParentSpan,
}

impl CallFrame {
    /// Creates the frame of a root call.
    pub(super) fn root(
        gate: Arc<GateState>,
        state: Arc<CallState>,
        planned: &PlannedCall,
        permit: CallPermit,
        due: Instant,
    ) -> Self {
        let cancel = match planned.entry.facade.is_durable() {
            // Cancelled alone when its clock runs out.
            true => state.cancel.child_token(),
            false => state.cancel.clone(),
        };
        Self {
            id: next_call_id(),
            gate,
            state,
            cancel,
            cleanup: planned.entry.facade.is_durable().then(Arc::default),
            entry: Arc::clone(&planned.entry),
            action: planned.action,
            due,
            parent: None,
            permit: Mutex::new(Some(permit)),
            stop_reason: OnceLock::new(),
            nested_interrupted: Arc::default(),
            questions_asked: AtomicUsize::new(0),
            journal_key: None,
            span: ParentSpan::default(),
        }
    }

    /// Sets the span of this call.
    pub(super) fn with_span(self, span: &ParentSpan) -> Self {
        Self { span: span.clone(), ..self }
    }

    /// Creates the frame of a call that another call makes. `cancel`: a signal of its own.
    pub(super) fn nested(
        parent: &Arc<Self>,
        planned: &PlannedCall,
        permit: CallPermit,
        due: Instant,
        cancel: Option<CancellationToken>,
    ) -> Self {
        let (gate, state) = (Arc::clone(&parent.gate), Arc::clone(&parent.state));
        let journal_key = planned.idempotency_key.clone().filter(|_| parent.is_durable());
        Self {
            parent: Some(Arc::clone(parent)),
            journal_key,
            cancel: cancel.unwrap_or_else(|| match planned.entry.facade.is_durable() {
                true => parent.cancel.child_token(),
                false => parent.cancel.clone(),
            }),
            ..Self::root(gate, state, planned, permit, due)
        }
    }

    /// Whether the call goes on after a restart: its facade is durable, and so are all calls above it.
    pub(super) fn is_durable(&self) -> bool {
        let is_recorded = match &self.parent {
            None => self.state.recorder().is_some_and(|recorder| recorder.resumes()),
            Some(_) => self.journal_key.is_some(),
        };
        is_recorded && self.entry.facade.is_durable()
    }

    /// Returns the journal of the call, once, if it goes on after a restart.
    pub(super) fn take_journal(&self) -> Option<CallJournal> {
        let recorder = self.state.recorder().filter(|_| self.is_durable())?;
        match &self.journal_key {
            None => recorder.take_journal(),
            Some(key) => Some(recorder.take_nested_journal(key)),
        }
    }

    /// Describes the timeout of this call, for when its clock runs out.
    pub(super) fn wall_timeout(&self, asked: Option<Duration>, wall: Duration, limit: Limit) -> WallTimeout {
        WallTimeout::new(&self.entry, &self.nested_interrupted, asked, wall, limit)
    }

    /// Parks the call while a person is asked: all frames release their permits, and the wall clock stops.
    pub(super) async fn park_while<F: Future>(&self, asking: F) -> Result<F::Output, Failure> {
        let _parked = self.gate.parked.park(&self.state)?;
        for frame in self.frames() {
            drop(frame.permit.lock().await.take());
        }
        let output = asking.await;
        // Catalog and policies may have changed: from the outermost call inwards, each is checked and permitted again.
        let mut frames: Vec<&Self> = self.frames().collect();
        while let Some(frame) = frames.pop() {
            if let Err(failure) = frame.resume().await {
                let _ = frame.stop_reason.set(failure);
                // `answer.rs` ends the call with the reason as soon as it sees this future pending.
                std::future::pending::<()>().await;
            }
        }
        Ok(output)
    }

    /// Checks that a parked call may go on, and takes a permit unless another branch of the call already did.
    async fn resume(&self) -> Result<(), Failure> {
        let action = &self.entry.surface().actions[self.action].name;
        let reason = match self.gate.catalog.slot(self.name()) {
            Some(CatalogSlot::Serving(current)) if current.surface().action(action).is_none() => {
                Some(format!("no longer serving `{action}`"))
            }
            Some(CatalogSlot::Serving(current)) if self.entry.rules.elicit && !current.rules.elicit => {
                Some("no longer allowed to ask".to_owned())
            }
            Some(CatalogSlot::Serving(_)) => None,
            Some(CatalogSlot::Unavailable(reason)) => Some(format!("unavailable: {reason}")),
            None => Some("no longer served".to_owned()),
        };
        if let Some(reason) = reason {
            return Err(Failure::new(code::UNAVAILABLE, format!("`{}` is {reason}", self.name())));
        }
        self.ensure_permit().await
    }

    /// Takes a permit if the call has none.
    async fn ensure_permit(&self) -> Result<(), Failure> {
        let mut permit = self.permit.lock().await;
        if permit.is_none() {
            *permit = Some(match self.depth() {
                0 => self.gate.permits.reacquire_root(&self.entry.flow, self.state.permit_holder()).await?,
                depth => self.gate.permits.acquire_nested(depth, self.state.account.as_ref()).await?,
            });
        }
        Ok(())
    }

    /// Takes back the permits that a question released, if the question was dropped before its answer and the call was not
    /// resumed. A call that has a permit of its own waits for none above it: their holders may be waiting for
    /// one of its depth.
    pub(super) async fn reclaim_permits(&self) -> Result<(), Failure> {
        if self.state.is_parked() || self.permit.lock().await.is_some() {
            return Ok(());
        }
        let mut frames: Vec<&Self> = self.frames().collect();
        while let Some(frame) = frames.pop() {
            frame.ensure_permit().await?;
        }
        Ok(())
    }

    /// Lets this call, and those above it, go on for at most this long after they are stopped.
    pub(super) fn begin_cleanup(&self, most: Duration) {
        let until = Instant::now() + most.min(MAX_CLEANUP);
        self.frames().filter_map(|frame| frame.cleanup.as_ref()).for_each(|time| time.extend(until));
        self.state.cleanup.extend(until);
    }

    /// Iterates over this call and those above it, outermost last.
    pub(super) fn frames(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |frame| frame.parent.as_deref())
    }

    /// Key of its entries in the journal of its run, if a durable call makes it.
    pub(super) fn journal_key(&self) -> Option<&str> {
        self.journal_key.as_deref()
    }

    /// Counts the calls above this one.
    pub(super) fn depth(&self) -> usize {
        self.frames().count() - 1
    }

    /// Key by which the facade knows the caller, if it may know the caller, and the caller is authenticated.
    pub(super) fn caller_key(&self) -> Option<ScopeKey> {
        self.entry.caller_keys.as_ref().and_then(|keys| keys.key_for(&self.state.caller, self.name()))
    }

    /// Name of the facade.
    pub(super) fn name(&self) -> &str {
        &self.entry.surface().name
    }
}

/// Returns an id that is unique in this process.
fn next_call_id() -> CallId {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    CallId(format!("c{}", NEXT.fetch_add(1, Ordering::Relaxed)))
}
