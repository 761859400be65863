//! Which facades are served, and as which tools.
//!
//! | file | concept |
//! |---|---|
//! | `entry.rs` | one facade being served |
//! | `exposure.rs` | tools, and how a policy wants a facade published |
//! | `snapshot.rs` | the facades at one moment |
//! | `publish.rs` | from a snapshot to the tool list |
//! | `lint.rs` | what clients reject, for the log |
//! | `live.rs` | the snapshot now served, and its change notifications |

mod entry;
mod exposure;
mod lint;
mod live;
mod publish;
mod snapshot;

pub use entry::{Entry, Slot};
pub use exposure::{Exposure, Shown};
pub use live::Catalog;
pub use publish::{HIDDEN, Publisher, tools, tools_for};
pub use snapshot::Snapshot;
