//! What a run of a template may cost, and what it holds.

use std::cell::Cell;

use serde_json::Value;
use typed_arena::Arena;

use super::{
    EvalError, limits,
    text::{Text, too_much},
    value::Val,
};

/// What is left to a run, and what its functions made: that is held until it ends.
pub(super) struct Budget {
    texts: Arena<String>,
    values: Arena<Value>,
    steps: Cell<usize>,
    bytes: Cell<usize>,
}

impl Budget {
    pub fn new() -> Self {
        Self {
            // Most templates make nothing.
            texts: Arena::with_capacity(0),
            values: Arena::with_capacity(0),
            steps: Cell::new(limits::STEPS),
            bytes: Cell::new(limits::MADE),
        }
    }

    /// Counts steps.
    pub fn spend(&self, steps: usize) -> Result<(), EvalError> {
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

    /// Counts what a comparison of long texts costs.
    pub fn compared(&self, one: Val<'_>, other: Val<'_>) -> Result<(), EvalError> {
        match (one, other) {
            (Val::Text(one), Val::Text(other)) => self.spend(one.len().min(other.len()) / 256),
            _ => Ok(()),
        }
    }

    /// Counts bytes that will be held.
    pub fn hold(&self, bytes: usize) -> Result<(), EvalError> {
        let left = self.bytes.get().checked_sub(bytes).ok_or_else(too_much)?;
        self.bytes.set(left);
        Ok(())
    }

    /// Makes a text.
    pub fn make(
        &self,
        write: impl FnOnce(&mut Text<'_>) -> Result<(), EvalError>,
    ) -> Result<Val<'_>, EvalError> {
        let mut out = Text::made(self, self.bytes.get());
        write(&mut out)?;
        // An empty one takes memory as well.
        self.hold(out.written.len() + size_of::<String>())?;
        Ok(Val::Text(self.texts.alloc(out.written)))
    }

    /// Keeps data, whose size is counted already.
    pub fn keep(&self, value: Value) -> Val<'_> {
        Val::from(&*self.values.alloc(value))
    }
}
