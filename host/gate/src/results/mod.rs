//! Results that are longer than a client's model should read: cut at a whole row or line, and kept for a while, so that the rest
//! can be read by parts.
//!
//! | file | concept |
//! |---|---|
//! | `long_part.rs` | pure: the part of a result that makes it long, as rows, members, lines or pieces |
//! | `token_budget.rs` | pure: how much of it fits |
//! | `kept.rs` | the parts that were cut, by their handles: of the data, and of texts beside them |
//! | `query.rs` | pure: a handle with what is asked of it |

mod kept;
mod long_part;
mod query;
mod token_budget;

pub(crate) use kept::{KeptResults, ResultOwner};
pub(crate) use query::{ResultQuery, SCHEME};
pub(crate) use token_budget::TokenBudget;
