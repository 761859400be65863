//! The gate's port for messages between hosts, by a table. `NOTIFY` is a hint; the table is the truth.
//!
//! | file | concept |
//! |---|---|
//! | `mailbox.rs` | the adapter of the gate's port, and its thread |
//! | `sending.rs` | the connection that sends |
//! | `receiving.rs` | the connection that takes what others have sent |

mod mailbox;
mod receiving;
mod sending;

pub use mailbox::PostgresMail;
