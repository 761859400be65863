//! The stores of plugins by tables that many hosts share.
//!
//! A commit locks the row of its store, so that commits of one store run one after another; a read is one statement, and so sees
//! one state. Entries expire by the clock of the server.
//!
//! | file | concept |
//! |---|---|
//! | `stores.rs` | all stores |
//! | `thread.rs` | the thread of the connections |
//! | `store.rs` | one store: the adapter of the port |
//! | `pool.rs` | connections, and attempts after one was lost |
//! | `statements.rs` | SQL |
//! | `read.rs` | gets, pages and lists |
//! | `write.rs` | commits |
//! | `transfer.rs` | exports, imports and removals |

mod pool;
mod read;
mod statements;
mod store;
mod stores;
mod thread;
mod transfer;
mod write;

pub use stores::PostgresStores;
