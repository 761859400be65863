//! Calls that wait for a person. They hold no permit and their clocks stand still, so only their number bounds them.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use loggia_facade::{Failure, code};

use super::{origin::Caller, run::Run};

/// Parked calls of one caller.
const PER_CALLER: usize = 4;
/// Parked calls of all callers: each keeps an instance of the sandbox alive.
const ALL: usize = 64;

/// Counts the parked calls.
#[derive(Default, Clone)]
pub struct Parking(Arc<Mutex<HashMap<Caller, usize>>>);

/// A call is parked for as long as this lives.
pub struct Parked {
    parking: Parking,
    run: Arc<Run>,
}

impl Parking {
    /// Parks a call.
    pub fn park(&self, run: &Arc<Run>) -> Result<Parked, Failure> {
        let mut parked = self.lock();
        let all: usize = parked.values().sum();
        let own = parked.get(&run.caller).copied().unwrap_or(0);
        // Callers without a name are many in one.
        if own >= PER_CALLER && run.caller != Caller::Anonymous {
            let said = format!("busy: {own} calls of yours wait for an answer already");
            return Err(Failure::new(code::UNAVAILABLE, said).hint("answer or cancel one of them first"));
        }
        if all >= ALL {
            let said = "busy: too many calls wait for an answer";
            return Err(Failure { retry_after_ms: Some(10_000), ..Failure::new(code::UNAVAILABLE, said) });
        }
        parked.insert(run.caller.clone(), own + 1);
        drop(parked);
        run.park();
        Ok(Parked { parking: self.clone(), run: Arc::clone(run) })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Caller, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Parked {
    fn drop(&mut self) {
        let mut parked = self.parking.lock();
        if let Some(own) = parked.get_mut(&self.run.caller) {
            *own -= 1;
            if *own == 0 {
                parked.remove(&self.run.caller);
            }
        }
        drop(parked);
        self.run.resume();
    }
}
