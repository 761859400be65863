//! Runs of cases: what they depend on, and how they are reported.
//!
//! | file | concept |
//! |---|---|
//! | `inputs.rs` | what a run depends on |
//! | `locate.rs` | finds cases files, and the plugins that they call |
//! | `snapshots.rs` | snapshots beside the cases |
//! | `store.rs` | the state of the plugin, as JSON |
//! | `runner.rs` | runs the cases of a file |
//! | `render.rs` | renders reports |
//! | `watch.rs` | waits for a change |

mod inputs;
mod locate;
mod render;
mod runner;
mod snapshots;
mod store;
mod watch;

pub use self::{
    inputs::RunInputs,
    locate::{LocatedCases, LocatedFile, locate_cases},
    render::{render_junit, render_tap, render_text},
    runner::CaseRunner,
    watch::CaseWatcher,
};
