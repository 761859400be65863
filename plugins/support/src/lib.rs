//! An example help desk, as a Loggia plugin: other facades hand a person over to an agent. See the README.

mod desk;
mod ticket;

use loggia_sdk::prelude::*;

use ticket::{Channel, Ticket};

/// The facade.
pub struct Support;

/// Example help desk.
#[facade(default = "list", needs("store", "to store tickets"))]
impl Support {
    /// Ask for a human agent.
    #[action(write, idempotent, example = r#"{"reason": "The account acc_001 is locked."}"#)]
    fn request_handoff(
        &self,
        #[param(length = 1..=500)] reason: String,
        #[param(default)] channel: Channel,
    ) -> Result<Reply<Ticket>> {
        desk::request_handoff(&reason, channel)
    }

    /// List the open tickets in the order of the queue.
    #[action(read)]
    fn list(
        &self,
        /// The closed ones instead, from the newest.
        #[param(default)]
        closed: bool,
        #[param(default = 20, range = 1..=100)] limit: u32,
        #[param(length = 1..=32)] cursor: Option<String>,
    ) -> Result<Reply<Vec<Ticket>>> {
        desk::list(closed, limit, cursor.as_deref())
    }

    /// Read a ticket.
    #[action(read, example = r#"{"id": "s_0001"}"#)]
    fn get(&self, #[param(length = 1..=32)] id: String) -> Result<Ticket> {
        desk::get(&id)
    }

    /// Close a ticket.
    #[action(write, example = r#"{"id": "s_0001", "resolution": "Unlocked after a check of identity."}"#)]
    fn close(
        &self,
        #[param(length = 1..=32)] id: String,
        #[param(length = 1..=500)] resolution: String,
    ) -> Result<Ticket> {
        desk::close(&id, &resolution)
    }
}

loggia_sdk::export!(Support);

#[cfg(test)]
mod tests;
