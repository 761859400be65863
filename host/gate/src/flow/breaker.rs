//! Circuit breaker: refuses the calls of a facade that faults repeatedly, for a while.
//!
//! Each fault costs a call's whole budget, so a client that retries in a loop could keep the host busy with faults alone.
//! Only faults count (a trap, a limit that was hit), not failures that a facade returns.

use loggia_policy::model::limit_names::BREAKER_FAULTS;
use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
};

use loggia_facade::{Failure, Fault, FaultKind};
use loggia_policy::model::BreakerConfig;
use loggia_text::units;
use tokio::time::Instant;

use crate::failures::unavailable;

/// Circuit breaker of one version of a facade; a new version starts with a closed one.
pub struct CircuitBreaker {
    config: BreakerConfig,
    /// Guards the transitions below. Held for one of them at a time, never across an await, and no other lock is taken
    /// under it. Nobody waits for the breaker: an open one refuses.
    state: Mutex<BreakerState>,
}

enum BreakerState {
    /// Calls run. Holds the times of recent faults, oldest first.
    Closed(VecDeque<Instant>),
    /// Calls are refused until this time; then one call probes the facade.
    Open(Instant),
}

impl CircuitBreaker {
    /// Creates a closed breaker.
    pub fn new(config: BreakerConfig) -> Self {
        Self { config, state: Mutex::new(BreakerState::Closed(VecDeque::new())) }
    }

    /// Refuses a call early, before it waits for a permit or a person is asked. Does not start a probe.
    pub fn check(&self, facade: &str) -> Result<(), Failure> {
        match *self.lock() {
            BreakerState::Open(until) if Instant::now() < until => Err(self.refusal(facade, until)),
            _ => Ok(()),
        }
    }

    /// Admits a call unless the breaker is open. Once its time is over, a single call is admitted as a probe, and the
    /// others are refused until its result is known.
    pub fn admit(&self, facade: &str) -> Result<BreakerPass<'_>, Failure> {
        let mut state = self.lock();
        let BreakerState::Open(until) = *state else {
            return Ok(BreakerPass { breaker: self, probe_until: None });
        };
        let now = Instant::now();
        if now < until {
            return Err(self.refusal(facade, until));
        }
        let until = now + self.config.rest;
        *state = BreakerState::Open(until);
        Ok(BreakerPass { breaker: self, probe_until: Some(until) })
    }

    /// Counts a fault; opens the breaker at the limit, or if a probe failed.
    pub fn record_fault(&self, fault: &Fault) {
        // A fault of the host is not the facade's.
        if fault.kind == FaultKind::Host {
            return;
        }
        let BreakerConfig { faults, within, rest } = self.config;
        let now = Instant::now();
        let mut state = self.lock();
        match &mut *state {
            BreakerState::Closed(faults_seen) => {
                while faults_seen.front().is_some_and(|at| now.duration_since(*at) >= within) {
                    faults_seen.pop_front();
                }
                faults_seen.push_back(now);
                if faults_seen.len() < faults as usize {
                    return;
                }
            }
            // From a call that started before the breaker opened; only the probe decides.
            BreakerState::Open(until) if now < *until => return,
            BreakerState::Open(_) => {}
        }
        *state = BreakerState::Open(now + rest);
        drop(state);
        let (within, rest) = (units::format_duration(within), units::format_duration(rest));
        let facade = fault.facade.as_str();
        tracing::warn!(
            facade,
            "circuit breaker opened: {faults} faults within {within}; calls are refused for {rest} (`{BREAKER_FAULTS}`)"
        );
    }

    /// State as a metric. 0: closed. 1: half-open, the next call probes. 2: open.
    pub fn state_code(&self) -> u64 {
        match *self.lock() {
            BreakerState::Closed(_) => 0,
            BreakerState::Open(until) if until <= Instant::now() => 1,
            BreakerState::Open(_) => 2,
        }
    }

    fn refusal(&self, facade: &str, until: Instant) -> Failure {
        let BreakerConfig { faults, within, .. } = self.config;
        let left = until.duration_since(Instant::now()).as_millis();
        let failure = unavailable(format_args!(
            "`{facade}` failed {faults} times within {}; its circuit breaker is open",
            units::format_duration(within)
        ));
        let hint = format!(
            "Retry in {} s. The operator's log shows the failures, and `{BREAKER_FAULTS}` in its policy sets how \
             many open the breaker.",
            left.div_ceil(1000)
        );
        let retry_after_ms = u64::try_from(left).ok();
        Failure { retry_after_ms, ..failure.hint(hint) }
    }

    fn lock(&self) -> MutexGuard<'_, BreakerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Admission of one call. Dropped without an end (the call was cancelled), it decides nothing.
pub struct BreakerPass<'a> {
    breaker: &'a CircuitBreaker,
    /// Set for a probe: the time until which it keeps others out, which also identifies it.
    probe_until: Option<Instant>,
}

impl BreakerPass<'_> {
    /// Ends the call, with the fault that ended it, if any. A probe without one closes the breaker.
    pub fn finish(mut self, facade: &str, fault: Option<&Fault>) {
        let decides = self.release_probe();
        match fault {
            Some(fault) => self.breaker.record_fault(fault),
            None if decides => {
                *self.breaker.lock() = BreakerState::Closed(VecDeque::new());
                tracing::info!(facade, "circuit breaker closed: the facade answers again");
            }
            None => {}
        }
    }

    /// Ends a probe and lets the next call through. Returns false if this is no probe, or one that took longer than the
    /// open time and lost its turn to another.
    fn release_probe(&mut self) -> bool {
        let Some(mine) = self.probe_until.take() else { return false };
        let mut state = self.breaker.lock();
        let is_current = matches!(*state, BreakerState::Open(until) if until == mine);
        if is_current {
            *state = BreakerState::Open(Instant::now());
        }
        is_current
    }
}

impl Drop for BreakerPass<'_> {
    /// Releases a probe that was dropped before it ended: the next call probes instead.
    fn drop(&mut self) {
        self.release_probe();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use loggia_facade::code;

    use super::*;

    fn fault(kind: FaultKind) -> Fault {
        Fault::new(kind, "x", "failed")
    }

    fn breaker() -> CircuitBreaker {
        let second = Duration::from_secs(1);
        CircuitBreaker::new(BreakerConfig { faults: 3, within: 10 * second, rest: 5 * second })
    }

    async fn wait(seconds: u64) {
        tokio::time::advance(Duration::from_secs(seconds)).await;
    }

    /// Result of one call.
    fn call(breaker: &CircuitBreaker, ends: Option<FaultKind>) -> Result<(), Failure> {
        breaker.check("x")?;
        breaker.admit("x")?.finish("x", ends.map(fault).as_ref());
        Ok(())
    }

    #[tokio::test(start_paused = true)]
    async fn faults_open_it_and_a_success_closes_it() {
        let breaker = breaker();
        let trap = Some(FaultKind::Trap);
        call(&breaker, trap).unwrap();
        wait(10).await;
        // The first is forgotten; a call that works takes no other back.
        for ends in [trap, trap, None] {
            call(&breaker, ends).unwrap();
        }
        call(&breaker, trap).unwrap();
        let refused = call(&breaker, None).unwrap_err();
        assert_eq!((refused.code.as_str(), refused.retry_after_ms), (code::UNAVAILABLE, Some(5000)));
        assert_eq!(
            refused.message,
            "unavailable: `x` failed 3 times within 10s; its circuit breaker is open"
        );
        wait(4).await;
        assert_eq!(call(&breaker, None).unwrap_err().retry_after_ms, Some(1000));
        wait(1).await;
        // One fault is enough now.
        call(&breaker, trap).unwrap();
        call(&breaker, None).unwrap_err();
        wait(5).await;
        call(&breaker, None).unwrap();
        for ends in [trap, trap, None] {
            call(&breaker, ends).unwrap();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn one_call_at_a_time_is_tried() {
        let breaker = breaker();
        for _ in 0..3 {
            call(&breaker, Some(FaultKind::Cpu)).unwrap();
        }
        wait(5).await;
        let tried = breaker.admit("x").unwrap();
        call(&breaker, None).unwrap_err();
        // It was dropped without an end: another is tried.
        drop(tried);
        let tried = breaker.admit("x").unwrap();
        call(&breaker, None).unwrap_err();
        tried.finish("x", None);
        call(&breaker, None).unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_probe_decides_nothing() {
        let breaker = breaker();
        for _ in 0..3 {
            call(&breaker, Some(FaultKind::Cpu)).unwrap();
        }
        let mut tried = Vec::new();
        for _ in 0..3 {
            wait(5).await;
            tried.push(breaker.admit("x").unwrap());
        }
        tried.pop().unwrap().finish("x", None);
        // One is dropped, one fails: neither opens it, and calls run side by side.
        drop(tried.pop());
        tried.pop().unwrap().finish("x", Some(&fault(FaultKind::Trap)));
        let _beside = breaker.admit("x").unwrap();
        call(&breaker, None).unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn calls_that_began_before_it_opened_change_nothing() {
        let breaker = breaker();
        let early: Vec<_> = (0..6).map(|_| breaker.admit("x").unwrap()).collect();
        let mut early = early.into_iter();
        let mut end = |ends: Option<FaultKind>| early.next().unwrap().finish("x", ends.map(fault).as_ref());
        (0..3).for_each(|_| end(Some(FaultKind::Memory)));
        wait(2).await;
        end(Some(FaultKind::Memory));
        end(None);
        assert_eq!(breaker.check("x").unwrap_err().retry_after_ms, Some(3000));
    }

    #[tokio::test(start_paused = true)]
    async fn the_hosts_own_mistakes_are_not_counted() {
        let breaker = breaker();
        for _ in 0..9 {
            call(&breaker, Some(FaultKind::Host)).unwrap();
        }
    }
}
