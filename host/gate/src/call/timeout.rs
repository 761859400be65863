//! Calls that do not answer in time, and whose fault that is.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use loggia_facade::{Failure, Fault, FaultKind, Limit};
use loggia_text::units;

use super::faults::log_fault;
use crate::catalog::Entry;

/// What becomes of a call that does not answer in time.
pub struct Late {
    entry: Arc<Entry>,
    cut_off: Arc<AtomicBool>,
    /// The clock that ran out.
    clock: Duration,
    /// What the operator can raise; nothing, where the caller set a shorter clock.
    limit: Option<Limit>,
}

impl Late {
    /// A call of this entry with this wall clock, or a shorter one that its caller asked for.
    pub fn new(
        entry: &Arc<Entry>,
        cut_off: &Arc<AtomicBool>,
        asked: Option<Duration>,
        wall: Duration,
        limit: Limit,
    ) -> Self {
        let asked = asked.filter(|asked| *asked < wall);
        Self {
            entry: Arc::clone(entry),
            cut_off: Arc::clone(cut_off),
            clock: asked.unwrap_or(wall),
            limit: asked.is_none().then_some(limit),
        }
    }

    /// It did not answer: counts the fault, if it is the facade's own; what its caller is told.
    pub fn told(self) -> Failure {
        let Self { entry, cut_off, clock, limit } = self;
        let facade = entry.surface().name.clone();
        let message = format!("timed out: `{facade}` did not answer within {}", units::format_duration(clock));
        let fault = Fault { kind: FaultKind::Wall, facade, message, limit, log: None };
        // Who asks for little time may neither make the facade rest nor fill the log.
        if fault.limit.is_some() {
            log_fault(&fault);
            if !cut_off.load(Ordering::Relaxed) {
                entry.breaker.fault(&fault);
            }
        }
        Failure::from(&fault)
    }
}

/// A call that a call has made, until it has ended.
pub struct UnderWay(Option<Arc<AtomicBool>>);

impl UnderWay {
    /// It begins. The mark is set if it is dropped before it ends.
    pub fn new(cut_off: &Arc<AtomicBool>) -> Self {
        Self(Some(Arc::clone(cut_off)))
    }

    /// It has ended.
    pub fn ended(mut self) {
        self.0 = None;
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        if let Some(cut_off) = &self.0 {
            cut_off.store(true, Ordering::Relaxed);
        }
    }
}
