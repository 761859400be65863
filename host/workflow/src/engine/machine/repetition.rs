//! Steps that return to their beginning.

use super::run_machine::RunMachine;
use crate::engine::state::{StepEnd, StepPhase};

impl RunMachine<'_> {
    /// Begins again with a step, with those that did not complete, and with all that depend on one of these. The results of
    /// the others remain. The idempotency keys of the calls stay the same.
    ///
    /// A saga that could not undo everything tries that again instead. One that was undone makes its calls again.
    pub(crate) fn begin_again(&mut self, from: Option<usize>) {
        if self.undo_again() {
            return;
        }
        let undone = self.forget_undone();
        let settled =
            |phase: &StepPhase| matches!(phase, StepPhase::Ended(StepEnd::Completed | StepEnd::Skipped));
        let mut again: Vec<bool> = self.state.phases.iter().map(|phase| !settled(phase)).collect();
        undone.into_iter().for_each(|step| again[step] = true);
        if let Some(chosen) = from.and_then(|from| again.get_mut(from)) {
            *chosen = true;
        }
        let mut has_changed = true;
        while has_changed {
            has_changed = false;
            for index in 0..again.len() {
                let follows = self.definition(index).depends_on.iter().any(|before| again[*before]);
                has_changed |= follows && !again[index];
                again[index] |= follows;
            }
        }
        for index in (0..again.len()).filter(|index| again[*index]) {
            self.drop_tasks(index);
            self.state.phases[index] = StepPhase::Waiting;
            self.state.context.forget_step(&self.definition(index).id);
        }
        self.state.clock.remaining = self.plan.workflow.timeout;
        self.state.is_over = false;
    }

    /// Takes back steps of which no request was made. Of a loop, each item's request counts.
    pub(crate) fn take_back(&mut self, unmade: &[usize]) {
        for index in unmade.iter().copied() {
            let requests = || unmade.iter().filter(|other| **other == index).count();
            let is_first = match self.state.phases.get(index) {
                Some(StepPhase::Asking { .. }) => true,
                Some(StepPhase::Calling { call, .. }) => call.attempt == 0,
                Some(StepPhase::Each(each)) => {
                    each.completed + each.failed == 0 && each.calls.len() == requests()
                }
                _ => false,
            };
            if is_first {
                self.state.phases[index] = StepPhase::Waiting;
                self.state.context.forget_step(&self.definition(index).id);
            }
        }
    }
}
