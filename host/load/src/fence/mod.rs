//! Refuses grants of directories through which a plugin could read or change what the host trusts.
//!
//! | file | concept |
//! |---|---|
//! | `rules.rs` | pure: which directories are refused |
//! | `survey.rs` | locates what the host trusts: the only step that resolves paths |
//! | `surveyor.rs` | surveys of one host, and the fence around the roots of clients |
//! | `system_folders/` | folders of the kernel |
//! | `granted.rs` | the grants of a version that the fence checks |

mod granted;
mod rules;
mod survey;
mod surveyor;
mod system_folders;

pub use granted::{OpenedDir, VersionGrants};
pub use rules::{FENCED, FenceBreach};
pub use survey::TrustPlaces;
pub use surveyor::{ClientRootFence, FenceSurveyor};
