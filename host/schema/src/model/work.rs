//! How much work checking one call's parameters may be, in steps that are the same on every machine.
//!
//! A search by a regular expression cannot be interrupted and the validator knows no clock, so patterns
//! (`pattern.rs`) ask here for each step before they take it. One step is about a nanosecond of optimised code.

use std::cell::RefCell;

/// A text that could not be matched within the allowed work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WorkOverrun {
    /// The pattern it was matched against.
    pub pattern: String,
    /// Where the text lies, so that its parameter can be found.
    pub text: *const u8,
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

/// Gives this thread so many steps until the returned guard is dropped.
#[must_use]
pub(crate) fn limit(steps: usize) -> WorkGuard {
    let own = WorkBudget { left: steps, is_limited: true, overrun: None };
    WorkGuard(WORK.with(|work| work.replace(own)))
}

/// While it lives, the work of this thread is bounded. What held before holds again afterwards.
pub(crate) struct WorkGuard(WorkBudget);

impl Drop for WorkGuard {
    fn drop(&mut self) {
        WORK.with(|work| drop(work.replace(std::mem::take(&mut self.0))));
    }
}

/// Takes steps; false where fewer are left, and none is left from then on.
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

/// Notes which text used the work up; the first counts.
pub(crate) fn record_overrun(pattern: &str, text: &str) {
    WORK.with_borrow_mut(|work| {
        let at = || WorkOverrun { pattern: pattern.to_owned(), text: text.as_ptr() };
        work.overrun.get_or_insert_with(at);
    });
}

/// The text that used the work up. While there is one, no verdict of the validator counts.
pub(crate) fn overrun() -> Option<WorkOverrun> {
    WORK.with_borrow(|work| work.overrun.clone())
}
