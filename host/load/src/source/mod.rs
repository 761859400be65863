//! Sources of offers. A source keeps its offers and reports changes; it does not know the catalog.
//!
//! | module | concept |
//! |---|---|
//! | `event.rs` | changes that a source reports |
//! | `offer_source.rs` | what the sources of the settings have in common |
//! | `configured.rs` | the sources of the settings, as one |
//! | `set.rs` | folder and settings as one |
//! | `versions.rs` | logs loaded versions to the audit trail |
//! | `folder/` | the plugin folder: components, workflows and their policies |
//! | `upstream/` | other MCP servers, from the settings file |

mod configured;
mod event;
pub mod folder;
mod offer_source;
mod set;
pub mod upstream;
mod versions;

pub use configured::{ConfiguredSources, SourceSettings};
pub use event::SourceEvent;
pub use set::SourceSet;
