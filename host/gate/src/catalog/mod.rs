//! The facades now served, and the tools that they are published as.
//!
//! | file | concept |
//! |---|---|
//! | `entry.rs` | one facade being served |
//! | `exposure.rs` | tools, and how a policy publishes a facade |
//! | `snapshot.rs` | an immutable set of facades and tools |
//! | `publish.rs` | from a snapshot to the tool list |
//! | `lint.rs` | client compatibility warnings in the log |
//! | `live.rs` | the current snapshot and its change notifications |

mod entry;
mod exposure;
mod lint;
mod live;
mod publish;
mod snapshot;

pub use entry::{CatalogEntry, CatalogSlot};
pub use exposure::{FacadeExposure, PublishedFacade};
pub use live::Catalog;
pub use publish::{HIDDEN_REASON, ToolPublisher, UNSERVED_REASON, index_tools, list_tools};
pub use snapshot::CatalogSnapshot;
