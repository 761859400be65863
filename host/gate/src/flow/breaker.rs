//! A facade that fails again and again rests.
//!
//! Each fault costs a call's whole budget, and a caller that repeats itself would keep the machine busy with nothing
//! else. A fault is the facade's own (a trap, a limit that was hit), never a failure that it tells in good order.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
};

use loggia_facade::{Failure, Fault, FaultKind, code};
use loggia_text::units;
use tokio::time::Instant;

use crate::access::Terms;

/// Counts the faults of one version of a facade: a new one begins with none.
pub struct Breaker {
    terms: Terms,
    state: Mutex<State>,
}

enum State {
    /// Calls run; when the last faults happened, oldest first.
    Closed(VecDeque<Instant>),
    /// Calls are refused until then; the next one after that is tried.
    Open(Instant),
}

impl Breaker {
    /// A breaker that has seen no fault.
    pub fn new(terms: Terms) -> Self {
        Self { terms, state: Mutex::new(State::Closed(VecDeque::new())) }
    }

    /// Refuses at once what would be refused later: before a call waits for its turn, or a person is asked.
    pub fn look(&self, facade: &str) -> Result<(), Failure> {
        match *self.state() {
            State::Open(until) if Instant::now() < until => Err(self.resting(facade, until)),
            _ => Ok(()),
        }
    }

    /// Lets a call run, if the facade does not rest. After its rest one call is tried; the others wait for what comes
    /// of it.
    pub fn pass(&self, facade: &str) -> Result<Pass<'_>, Failure> {
        let mut state = self.state();
        let State::Open(until) = *state else { return Ok(Pass { breaker: self, tried: None }) };
        let now = Instant::now();
        if now < until {
            return Err(self.resting(facade, until));
        }
        let until = now + self.terms.rest;
        *state = State::Open(until);
        Ok(Pass { breaker: self, tried: Some(until) })
    }

    /// A call ended by a fault.
    pub fn fault(&self, fault: &Fault) {
        // The host's own mistakes are not the facade's.
        if fault.kind == FaultKind::Host {
            return;
        }
        let Terms { faults, within, rest } = self.terms;
        let now = Instant::now();
        let mut state = self.state();
        match &mut *state {
            State::Closed(seen) => {
                while seen.front().is_some_and(|at| now.duration_since(*at) >= within) {
                    seen.pop_front();
                }
                seen.push_back(now);
                if seen.len() < faults as usize {
                    return;
                }
            }
            // Of calls that began before; what comes of the one that is tried decides.
            State::Open(until) if now < *until => return,
            State::Open(_) => {}
        }
        *state = State::Open(now + rest);
        drop(state);
        let (within, rest) = (units::format_duration(within), units::format_duration(rest));
        let facade = fault.facade.as_str();
        tracing::warn!(
            facade,
            "it failed {faults} times within {within}: its calls are refused for {rest} (`limits.breaker-faults`)"
        );
    }

    /// How it stands: 0 calls run, 1 it has rested and one call is tried, 2 it rests.
    pub fn rests(&self) -> u64 {
        match *self.state() {
            State::Closed(_) => 0,
            State::Open(until) if until <= Instant::now() => 1,
            State::Open(_) => 2,
        }
    }

    fn resting(&self, facade: &str, until: Instant) -> Failure {
        let Terms { faults, within, .. } = self.terms;
        let left = until.duration_since(Instant::now()).as_millis();
        let said = format!(
            "unavailable: `{facade}` failed {faults} times within {} and rests",
            units::format_duration(within)
        );
        let hint = format!(
            "It is tried again in {} s; do without it until then. The operator's log says how it failed, and \
             `limits.breaker-faults` in its policy sets how often it may.",
            left.div_ceil(1000)
        );
        let retry_after_ms = u64::try_from(left).ok();
        Failure { retry_after_ms, ..Failure::new(code::UNAVAILABLE, said).hint(hint) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call that runs.
pub struct Pass<'a> {
    breaker: &'a Breaker,
    /// It is the one after a rest, and others are refused until then, by which its turn is known.
    tried: Option<Instant>,
}

impl Pass<'_> {
    /// The call ended, with the fault that it may have ended by.
    pub fn end(mut self, facade: &str, fault: Option<&Fault>) {
        let decides = self.take_turn();
        match fault {
            Some(fault) => self.breaker.fault(fault),
            None if decides => {
                *self.breaker.state() = State::Closed(VecDeque::new());
                tracing::info!(facade, "it answers again");
            }
            None => {}
        }
    }

    /// Whether it is still the one that is tried: one that takes longer than a rest has lost its turn to another. Then the
    /// state is open for what it decides, or for the next.
    fn take_turn(&mut self) -> bool {
        let Some(mine) = self.tried.take() else { return false };
        let mut state = self.breaker.state();
        let is_its = matches!(*state, State::Open(until) if until == mine);
        if is_its {
            *state = State::Open(Instant::now());
        }
        is_its
    }
}

impl Drop for Pass<'_> {
    /// The call was dropped before it ended: the next one is tried in its stead.
    fn drop(&mut self) {
        self.take_turn();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn fault(kind: FaultKind) -> Fault {
        Fault { kind, facade: "x".into(), message: "failed".into(), limit: None, log: None }
    }

    fn breaker() -> Breaker {
        let second = Duration::from_secs(1);
        Breaker::new(Terms { faults: 3, within: 10 * second, rest: 5 * second })
    }

    async fn wait(seconds: u64) {
        tokio::time::advance(Duration::from_secs(seconds)).await;
    }

    /// What comes of one call.
    fn call(breaker: &Breaker, ends: Option<FaultKind>) -> Result<(), Failure> {
        breaker.look("x")?;
        breaker.pass("x")?.end("x", ends.map(fault).as_ref());
        Ok(())
    }

    #[tokio::test(start_paused = true)]
    async fn faults_that_come_together_open_it_and_one_good_call_closes_it() {
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
        assert_eq!(refused.message, "unavailable: `x` failed 3 times within 10s and rests");
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
        let tried = breaker.pass("x").unwrap();
        call(&breaker, None).unwrap_err();
        // It was dropped without an end: another is tried.
        drop(tried);
        let tried = breaker.pass("x").unwrap();
        call(&breaker, None).unwrap_err();
        tried.end("x", None);
        call(&breaker, None).unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_that_is_tried_for_longer_than_a_rest_decides_nothing() {
        let breaker = breaker();
        for _ in 0..3 {
            call(&breaker, Some(FaultKind::Cpu)).unwrap();
        }
        let mut tried = Vec::new();
        for _ in 0..3 {
            wait(5).await;
            tried.push(breaker.pass("x").unwrap());
        }
        tried.pop().unwrap().end("x", None);
        // One is dropped, one fails: neither opens it, and calls run side by side.
        drop(tried.pop());
        tried.pop().unwrap().end("x", Some(&fault(FaultKind::Trap)));
        let _beside = breaker.pass("x").unwrap();
        call(&breaker, None).unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn calls_that_began_before_it_opened_change_nothing() {
        let breaker = breaker();
        let early: Vec<_> = (0..6).map(|_| breaker.pass("x").unwrap()).collect();
        let mut early = early.into_iter();
        let mut end = |ends: Option<FaultKind>| early.next().unwrap().end("x", ends.map(fault).as_ref());
        (0..3).for_each(|_| end(Some(FaultKind::Memory)));
        wait(2).await;
        end(Some(FaultKind::Memory));
        end(None);
        assert_eq!(breaker.look("x").unwrap_err().retry_after_ms, Some(3000));
    }

    #[tokio::test(start_paused = true)]
    async fn the_hosts_own_mistakes_are_not_counted() {
        let breaker = breaker();
        for _ in 0..9 {
            call(&breaker, Some(FaultKind::Host)).unwrap();
        }
    }
}
