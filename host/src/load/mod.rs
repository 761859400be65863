//! From sources to the catalog, for as long as the host runs.
//!
//! ```text
//! source ─▶ offers ─▶ fence, names ─▶ assemble (pure) ─▶ catalog.swap
//! ```
//!
//! | module | concept | may import |
//! |---|---|---|
//! | `found.rs` | the files of one plugin, as their metadata says | |
//! | `standing.rs` | how every offer stands, for `/readyz`, `/metrics` and the log | |
//! | `fence/` | directories that no plugin may be granted | `found` |
//! | `names/` | which file stem owns which name, for good | `found` |
//! | `composed.rs` | a file of workflows beside the facades that its steps call | |
//! | `compiler.rs` | the host's own binary as its compiler | |
//! | `admit/` | one plugin through every check: a component, or a file of workflows | `fence`, `names`, `composed` |
//! | `offer.rs` | what a source offers under one key | `admit` |
//! | `assemble.rs` | pure: from offers to what is served | `offer` |
//! | `source/` | where offers come from | `admit`, `offer` |
//! | `loader.rs` | keeps the catalog true to its sources | all |

pub mod admit;
pub mod assemble;
pub mod compiler;
mod fence;
mod load_status;
mod loader;
pub mod names;
mod offer;
mod plugin_files;
pub mod source;
mod workflow_file;

pub use admit::{AdmissionFacts, AdmitError, AdmittedPlugin, Loader, admit_workflows};
pub use fence::TrustPlaces;
pub use load_status::{Report, Standing, Stands, State};
pub use loader::Reloader;
pub use offer::{FacadeOffer, OfferMap};
pub use plugin_files::{FacadeKind, PluginFiles, file_stem};
pub use source::folder::{find_plugin, scan_folder};
pub use workflow_file::{BlockedWorkflow, WorkflowFile};
