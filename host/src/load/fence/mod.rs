//! Directories that no plugin may be granted: those by which it could change, or read, what the host trusts.
//!
//! | file | concept |
//! |---|---|
//! | `rules.rs` | pure: which directories are refused |
//! | `survey.rs` | where what the host trusts is now: the one step that resolves paths |
//! | `granted.rs` | what a version was granted of what the fence is about |

mod granted;
mod rules;
mod survey;

pub use granted::{OpenedDir, VersionGrants};
pub use rules::{FENCED, FenceBreach, TrustFence};
pub use survey::{PolicyFiles, TrustPlaces, survey};
