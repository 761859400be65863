//! The audit trail: JSON lines in a file of its own. Each line has the hash of the one before, and a signed checkpoint follows at
//! least each minute, so that a changed, removed or cut line is found.
//!
//! ```text
//! lines ─▶ queue ─▶ one thread: chain, file, rotation, checkpoints ─▶ audit.jsonl, audit.jsonl.1, …
//!                                                 └─▶ state folder: the head of the chain, signed
//! ```
//!
//! | file | concept |
//! |---|---|
//! | `chain.rs` | pure: the chain of hashes |
//! | `key.rs` | the key that signs, in the state folder |
//! | `checkpoint.rs` | pure: signed lines |
//! | `head.rs` | the last checkpoint, kept apart from the file |
//! | `files.rs` | the files of a trail, and opening them |
//! | `writer.rs` | writes lines, rotates, signs |
//! | `queue.rs` | lines on their way to the thread |
//! | `sink.rs` | the thread, and what happens on a full disk |
//! | `verify.rs` | finds what was changed |
//! | `query.rs` | reads lines by filters |

#![warn(unreachable_pub)]

mod chain;
mod checkpoint;
mod files;
mod head;
mod key;
mod query;
mod queue;
mod sink;
mod verify;
mod writer;

pub use checkpoint::CHECKPOINT;
pub use files::{TrailError, list_files, resolve_path};
pub use key::{AuditKey, KeyError, PublicKey};
pub use query::{AuditFilter, last_lines};
pub use queue::{LineKind, LinePart};
pub use sink::{AuditSink, FullDisk, SinkHealth};
pub use verify::{TrailProblem, VerifiedTrail, verify};
pub use writer::TrailOptions;
