//! Data in and out of steps.
//!
//! | file | concept |
//! |---|---|
//! | `condition.rs` | conditions of steps |
//! | `arguments.rs` | arguments of calls |
//! | `reply.rs` | replies as entries of the context |
//! | `event.rs` | replies, failures and answers as events |
//! | `output.rs` | the result of a run |

pub(super) mod arguments;
pub(super) mod condition;
mod event;
pub(super) mod output;
pub(super) mod reply;
