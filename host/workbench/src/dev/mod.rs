//! Builds on save, and what a call did.
//!
//! | file | concept |
//! |---|---|
//! | `call_lines.rs` | a log line for each call |
//! | `sources.rs` | watches plugin sources |
//! | `out.rs` | builds into the output folder |

mod call_lines;
mod out;
mod sources;

pub use self::{
    call_lines::CallLines,
    out::{BuildEnd, BuildOutput, find_sources},
    sources::SourceWatcher,
};
