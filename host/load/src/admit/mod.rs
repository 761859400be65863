//! Admits one plugin to the catalog.
//!
//! | file | concept |
//! |---|---|
//! | `files.rs` | reads files; fails if they change meanwhile |
//! | `error.rs` | admission errors, for callers and for the operator |
//! | `naming.rs`, `redaction.rs` | the name of a facade; secrets that logs must not contain |
//! | `admitted.rs` | a plugin that passed all checks |
//! | `facade_state.rs` | what the state folder holds for a facade |
//! | `workflow.rs` | a workflow file: read, link, check |
//! | `api.rs` | the description of an API: read, check, grant its servers |
//! | `upstream.rs` | an upstream's tools, under its policy |
//! | `component.rs` | a component: read, compile, check, describe, sanitise |
//! | `guard.rs` | a guard: read, compile, check |
//! | `surface_index.rs` | surfaces of unchanged files, kept over restarts |
//! | `indexed.rs` | a component whose surface came from there: loaded at its first call |

mod admitted;
mod api;
mod component;
mod error;
mod facade_state;
mod files;
mod guard;
mod indexed;
mod naming;
mod redaction;
mod surface_index;
mod upstream;
mod workflow;

pub use admitted::{AdmissionFacts, AdmittedPlugin, LoadMethod};
pub use component::PluginAdmitter;
pub use error::AdmitError;
pub use facade_state::{FacadeStates, open_folder};
pub(super) use files::{PolicyFile, read_file, read_policy};
pub use guard::AdmittedGuard;
pub(super) use upstream::admit_upstream;
pub use workflow::admit_workflows;
