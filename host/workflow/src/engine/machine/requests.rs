//! Requests of calls: parameters and idempotency keys.

use serde_json::Value;

use super::run_machine::RunMachine;
use crate::{
    definition::ToolCall,
    engine::{
        data::arguments,
        failure::StepError,
        model::{RunEffect, StepTarget, TaskId},
        state::StepCallState,
    },
};

/// Maximum length of an idempotency key that a file states, in bytes.
const MAX_KEY_BYTES: usize = 200;

impl<'a> RunMachine<'a> {
    /// Returns the target of a step's call.
    pub(crate) fn target(&self, index: usize, call: &ToolCall) -> Result<&'a StepTarget, StepError> {
        self.plan.targets.get(index).and_then(Option::as_ref).ok_or_else(|| {
            let id = &self.definition(index).id;
            StepError::new(format!(
                "failed to route tool {} in step {id}: there is no such action",
                call.tool
            ))
        })
    }

    /// Expands the parameters and the key of a call. `item`: index and scope of the item in a `forEach`.
    pub(crate) fn prepare_call(
        &mut self,
        index: usize,
        call: &ToolCall,
        item: Option<(usize, &Value)>,
    ) -> Result<(&'a StepTarget, StepCallState), StepError> {
        let (step, target) = (self.definition(index), self.target(index, call)?);
        let scope = self.state.context.scope(item.map(|(_, seen)| seen));
        let params = arguments::expand_parameters(&step.id, call, target, &scope, self.is_strict())?;
        let Some(template) = &step.key else { return Ok((target, StepCallState::new(params, None))) };
        let key = template.expand(&scope, self.is_strict()).map_err(|error| {
            StepError::from_template(&format!("failed to expand idempotencyKey of step {}", step.id), error)
        })?;
        let key = self.take_key(key.text, (index, item.map(|(item, _)| item)))?;
        Ok((target, StepCallState::new(params, Some(key))))
    }

    /// Checks a key that the file states. No two calls of a run may have the same: one of them would not be made.
    fn take_key(&mut self, key: String, call: (usize, Option<usize>)) -> Result<String, StepError> {
        let step = &self.definition(call.0).id;
        if key.is_empty() || key.len() > MAX_KEY_BYTES {
            let bytes = key.len();
            let message =
                format!("the idempotencyKey of step {step} has {bytes} bytes, not 1 to {MAX_KEY_BYTES}");
            return Err(StepError::new(message));
        }
        match self.state.keys.get(&key) {
            Some(other) if *other != call => {
                let other = self.call_label(other.0, other.1);
                let message =
                    format!("the idempotencyKey of step {step} is that of {other}, another call of this run");
                Err(StepError::new(message))
            }
            _ => {
                self.state.keys.insert(key.clone(), call);
                Ok(key)
            }
        }
    }

    /// Requests the active attempt of a call.
    pub(crate) fn request_call(&mut self, task: TaskId, call: &StepCallState) {
        let key = self.call_key(task, call.key.as_deref());
        self.request(task, call, key);
    }

    /// Requests the active attempt of a call, with this idempotency key.
    pub(crate) fn request(&mut self, task: TaskId, call: &StepCallState, idempotency_key: String) {
        let Some(target) = self.plan.target(task) else { return };
        let (facade, action, params) = (target.facade.clone(), target.action.clone(), call.params.clone());
        self.effects.push(RunEffect::Call { task, facade, action, params, idempotency_key });
    }

    /// Returns the idempotency key of a call: the one that the file states, or one of the run's own.
    pub(crate) fn call_key(&self, task: TaskId, stated: Option<&str>) -> String {
        let round = match self.state.saga.round {
            0 => String::new(),
            round => format!("~{round}"),
        };
        let step = || escape_key_part(&self.definition(task.step).id);
        match (stated, task.item) {
            (Some(stated), _) => format!("{stated}{round}"),
            (None, None) => format!("{}{round}/{}", self.state.id, step()),
            (None, Some(item)) => format!("{}{round}/{}#{item}", self.state.id, step()),
        }
    }

    /// Names a call: `step`, or `step#item`.
    pub(crate) fn call_label(&self, step: usize, item: Option<usize>) -> String {
        let id = &self.definition(step).id;
        item.map_or_else(|| id.clone(), |item| format!("{id}#{item}"))
    }
}

/// Escapes a step's id for use in an idempotency key, where `/` and `#` are separators. A nested workflow derives its
/// keys from this one, and no two calls may share a key.
fn escape_key_part(id: &str) -> String {
    id.replace('%', "%25").replace('/', "%2F").replace('#', "%23")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_steps_make_the_same_part_of_a_key() {
        let ids = ["a", "a/b", "a%2Fb", "a#0", "a-b", "a%230"];
        let parts: std::collections::HashSet<String> = ids.iter().map(|id| escape_key_part(id)).collect();
        assert_eq!(parts.len(), ids.len());
        assert!(parts.iter().all(|part| !part.contains(['/', '#'])), "{parts:?}");
    }
}
