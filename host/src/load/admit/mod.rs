//! One plugin on its way into the catalog.
//!
//! | file | concept |
//! |---|---|
//! | `files.rs` | its files, read whole and only if nobody changes them meanwhile |
//! | `error.rs` | why it does not serve: for callers, and for the operator |
//! | `admitted.rs` | what passed every check |
//! | `workflow.rs` | a file of workflows: read, link, check |
//! | `component.rs` | a component: read, compile, check, describe, sanitise |

mod admitted;
mod component;
mod error;
mod files;
mod workflow;

pub use admitted::{AdmissionFacts, AdmittedPlugin};
pub use component::Loader;
pub use error::AdmitError;
pub(super) use files::policy_digest;
pub use workflow::admit_workflows;
