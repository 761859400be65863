//! What a run of a template may cost, and what it holds.

use std::cell::Cell;

use serde_json::Value;
use typed_arena::Arena;

use super::{
    EvalError, limits,
    text::{Text, too_much},
    value::Val,
};

/// What functions made in a run, until it ends.
pub(super) struct Held {
    texts: Arena<String>,
    values: Arena<Value>,
}

impl Held {
    pub fn new() -> Self {
        // Most templates make nothing.
        Self { texts: Arena::with_capacity(0), values: Arena::with_capacity(0) }
    }
}

/// What is left to a run.
pub(super) struct Budget<'a> {
    held: &'a Held,
    steps: Cell<usize>,
    bytes: Cell<usize>,
}

impl<'a> Budget<'a> {
    pub fn new(held: &'a Held) -> Self {
        Self { held, steps: Cell::new(limits::STEPS), bytes: Cell::new(limits::MADE) }
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
    pub fn make(&self, write: impl FnOnce(&mut Text) -> Result<(), EvalError>) -> Result<Val<'a>, EvalError> {
        let mut out = Text::made(self.bytes.get());
        write(&mut out)?;
        // An empty one takes memory as well.
        self.hold(out.written.len() + size_of::<String>())
            .and_then(|()| self.spend(out.written.len() / 1024))?;
        Ok(Val::Text(self.held.texts.alloc(out.written)))
    }

    /// Keeps data, whose size is counted already.
    pub fn keep(&self, value: Value) -> Val<'a> {
        Val::from(&*self.held.values.alloc(value))
    }
}
