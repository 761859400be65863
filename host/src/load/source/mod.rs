//! Sources of offers. A source keeps its offers and reports changes; it does not know the catalog.
//!
//! | module | concept |
//! |---|---|
//! | `event.rs` | changes that a source reports |
//! | `set.rs` | all sources as one |
//! | `versions.rs` | logs loaded versions to the audit trail |
//! | `folder/` | the plugin folder: components, workflows and their policies |
//! | `upstream/` | other MCP servers, from the settings file |

mod event;
pub mod folder;
mod set;
pub mod upstream;
mod versions;

pub use event::SourceEvent;
pub use set::SourceSet;
