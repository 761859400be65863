//! Step and memory budget of an evaluation.

use std::cell::Cell;

use serde_json::Value;
use typed_arena::Arena;

use crate::template::{error::EvalError, limits, value::TemplateValue};

/// Remaining budget, and an arena for values produced by functions, which live until the evaluation ends.
pub(crate) struct RunBudget {
    texts: Arena<String>,
    values: Arena<Value>,
    steps: Cell<usize>,
    bytes: Cell<usize>,
}

impl RunBudget {
    pub(crate) fn new() -> Self {
        Self {
            // Most templates produce no values.
            texts: Arena::with_capacity(0),
            values: Arena::with_capacity(0),
            steps: Cell::new(limits::STEPS),
            bytes: Cell::new(limits::MADE),
        }
    }

    /// Charges steps.
    pub(crate) fn spend(&self, steps: usize) -> Result<(), EvalError> {
        match self.steps.get().checked_sub(steps) {
            Some(left) => {
                self.steps.set(left);
                Ok(())
            }
            None => {
                Err(EvalError::new(format!("the template takes too long: more than {} steps", limits::STEPS)))
            }
        }
    }

    /// Charges the comparison of long texts.
    pub(crate) fn spend_comparison(
        &self,
        one: TemplateValue<'_>,
        other: TemplateValue<'_>,
    ) -> Result<(), EvalError> {
        match (one, other) {
            (TemplateValue::Text(one), TemplateValue::Text(other)) => {
                self.spend(one.len().min(other.len()) / 256)
            }
            _ => Ok(()),
        }
    }

    /// Charges bytes that will be held.
    pub(crate) fn hold(&self, bytes: usize) -> Result<(), EvalError> {
        let left = self.bytes.get().checked_sub(bytes).ok_or_else(over_budget)?;
        self.bytes.set(left);
        Ok(())
    }

    /// Keeps a text until the run ends; counts its bytes and its header.
    pub(crate) fn keep_text(&self, text: String) -> Result<TemplateValue<'_>, EvalError> {
        self.hold(text.len() + size_of::<String>())?;
        Ok(TemplateValue::Text(self.texts.alloc(text)))
    }

    /// Bytes that functions may still produce.
    pub(crate) fn bytes_left(&self) -> usize {
        self.bytes.get()
    }

    /// Keeps a value whose size has been charged.
    pub(crate) fn keep_value(&self, value: Value) -> TemplateValue<'_> {
        TemplateValue::from(&*self.values.alloc(value))
    }
}

/// Creates the error for an exceeded memory budget.
pub(crate) fn over_budget() -> EvalError {
    EvalError::new(format!(
        "the functions of the template produce too much data: more than {} bytes",
        limits::MADE
    ))
}
