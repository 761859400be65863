//! The work budget of a call, in steps that are the same on every machine.
//!
//! A regular expression search cannot be interrupted and the validator has no deadline, so patterns (`pattern.rs`)
//! charge every step here before they take it. One step takes about a nanosecond of optimised code. The budget is per
//! thread, because the validator passes no context to its keywords.

use std::cell::RefCell;

/// A text whose matching exceeded the budget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WorkOverrun {
    /// The pattern.
    pub(crate) pattern: String,
    /// The address of the text, by which its parameter is found.
    pub(crate) text: *const u8,
}

#[derive(Default)]
struct WorkBudget {
    left: usize,
    is_limited: bool,
    overrun: Option<WorkOverrun>,
}

thread_local! {
    static WORK: RefCell<WorkBudget> = RefCell::default();
}

/// Limits the work of this thread until the returned guard is dropped.
#[must_use]
pub(crate) fn limit(steps: usize) -> WorkGuard {
    let own = WorkBudget { left: steps, is_limited: true, overrun: None };
    WorkGuard(WORK.with(|work| work.replace(own)))
}

/// Limits the work of its thread while it lives. Dropping it restores the previous budget.
pub(crate) struct WorkGuard(WorkBudget);

impl Drop for WorkGuard {
    fn drop(&mut self) {
        WORK.with(|work| drop(work.replace(std::mem::take(&mut self.0))));
    }
}

/// Charges steps. False if fewer are left; the budget is empty from then on.
pub(crate) fn spend(steps: usize) -> bool {
    WORK.with_borrow_mut(|work| {
        if !work.is_limited {
            return true;
        }
        let left = work.left.checked_sub(steps);
        work.left = left.unwrap_or(0);
        left.is_some() && work.overrun.is_none()
    })
}

/// Records the text that exceeded the budget. Only the first one is kept.
pub(crate) fn record_overrun(pattern: &str, text: &str) {
    WORK.with_borrow_mut(|work| {
        let at = || WorkOverrun { pattern: pattern.to_owned(), text: text.as_ptr() };
        work.overrun.get_or_insert_with(at);
    });
}

/// The text that exceeded the budget. If there is one, results of the validator are meaningless.
pub(crate) fn overrun() -> Option<WorkOverrun> {
    WORK.with_borrow(|work| work.overrun.clone())
}
