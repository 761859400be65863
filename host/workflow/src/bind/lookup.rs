//! Facades that a workflow may call.

use loggia_facade::{Action, Failure};

/// Look-up of the actions that a workflow may call.
pub trait ActionLookup {
    /// Finds an action by name, alias or a different case. An empty name selects the facade's default action.
    ///
    /// # Errors
    ///
    /// The reason for which the action cannot be called.
    fn lookup(&self, facade: &str, action: &str) -> Result<Action, Failure>;
}

impl<F: Fn(&str, &str) -> Result<Action, Failure>> ActionLookup for F {
    fn lookup(&self, facade: &str, action: &str) -> Result<Action, Failure> {
        self(facade, action)
    }
}
