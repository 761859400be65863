//! Facades that a workflow may call.

use loggia_facade::{Action, Failure};

/// The facades that a workflow may call.
pub trait ActionLookup {
    /// An action by its name, an alias, or another case; by an empty name the facade's default.
    ///
    /// # Errors
    ///
    /// Why it cannot be called.
    fn lookup(&self, facade: &str, action: &str) -> Result<Action, Failure>;
}

impl<F: Fn(&str, &str) -> Result<Action, Failure>> ActionLookup for F {
    fn lookup(&self, facade: &str, action: &str) -> Result<Action, Failure> {
        self(facade, action)
    }
}
