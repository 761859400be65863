//! Logins that wait for a person: at most one for each caller of a facade. They are lost when the process ends.
//!
//! | file | concept |
//! |---|---|
//! | `table.rs` | all pending logins |
//! | `ticket.rs` | one pending login, as its caller sees it |

mod table;
#[cfg(test)]
mod tests;
mod ticket;

pub use table::{AnsweredLogin, CodeRefusal, PendingLogins, TooManyLogins};
pub use ticket::{LoginProgress, LoginTicket};
