//! Loads offers of sources into the catalog while the host runs.
//!
//! ```text
//! source ─▶ offers ─▶ fence, names ─▶ assemble (pure) ─▶ catalog.swap
//! ```
//!
//! | module | concept | may import |
//! |---|---|---|
//! | `places.rs` | default folders, and the environment of the operator's files | |
//! | `file_stamp.rs` | metadata of a file, as its version | |
//! | `skill.rs` | the skill beside a plugin | `file_stamp` |
//! | `facade_kind.rs` | kinds of facades, and how each differs from the others | |
//! | `plugin_files.rs` | the files of one plugin, by their metadata | `facade_kind`, `file_stamp`, `skill` |
//! | `load_status.rs` | status of every offer, for `/readyz`, `/metrics` and the log | |
//! | `fence/` | directories that no plugin may be granted | `facade_kind`, `file_stamp` |
//! | `names/` | assigns facade names to file stems, permanently | `facade_kind` |
//! | `workflow_bundle.rs` | a workflow file, and the facades that its steps call | |
//! | `guard_spec.rs` | a guard as the settings describe it | |
//! | `compiler.rs` | the host's binary as a compiler | |
//! | `admit/` | checks one version: a component, a workflow file, an API, an upstream or a guard | `fence`, `guard_spec`, `names`, `workflow_bundle` |
//! | `guards/` | loads guards, and follows their files | `admit`, `guard_spec` |
//! | `pins/` | versions that wait for an operator, and the lock of approved ones | `admit` |
//! | `notices.rs` | pure: notices for callers of `dev` about versions that do not load | `load_status` |
//! | `offer.rs` | offers of sources | `admit`, `notices`, `pins` |
//! | `generation.rs` | what a host serves, as one value | `offer` |
//! | `agreement.rs` | agreement with other hosts on when it is served | |
//! | `assemble.rs` | pure: decides what is served | `offer` |
//! | `explain/` | pure: what a plugin may do, and drafts of policies | `facade_kind` |
//! | `source/` | sources of offers | `admit`, `offer` |
//! | `loader.rs` | keeps the catalog up to date | all |

pub mod admit;
mod agreement;
pub mod assemble;
pub mod compiler;
pub mod explain;
mod facade_kind;
mod fence;
mod file_stamp;
mod generation;
mod guard_spec;
mod guards;
mod load_status;
mod loader;
pub mod names;
mod notices;
mod offer;
pub mod pins;
pub mod places;
mod plugin_files;
mod skill;
pub mod source;
mod workflow_bundle;

pub use admit::{
    AdmissionFacts, AdmitError, AdmittedPlugin, FacadeStates, LoadMethod, PluginAdmitter, admit_workflows,
    open_folder,
};
pub use agreement::{HostGenerations, REPORT_PERIOD, SwapAgreement};
pub use facade_kind::{FacadeKind, FileKind, KindRight, file_stem, policy_stem};
pub use fence::TrustPlaces;
pub use guard_spec::{GuardSpec, to_guard_specs, to_roster};
pub use guards::GuardLoader;
pub use load_status::{LoadState, LoadStatus, LoadStatusReport, OfferStatus};
pub use loader::CatalogLoader;
pub use offer::{FacadeOffer, OfferMap};
pub use plugin_files::{PluginFiles, StoredFiles, StoredPolicy};
pub use source::{
    ConfiguredSources, SourceSettings,
    folder::{find_plugin, scan_folder},
    upstream::to_specs,
};
pub use workflow_bundle::{BlockedWorkflow, WorkflowBundle};
