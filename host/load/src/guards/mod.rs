//! Guards: loads the components of `[guards]`, and follows their files.
//!
//! A plugin whose new version fails keeps its old one; a guard does not: whoever replaced its file wants the old one gone, and
//! nothing passes until there is one that works. While a new version waits for approval, the approved one goes on.
//!
//! | file | concept |
//! |---|---|
//! | `look.rs` | pure: whether a file is to be loaded |
//! | `followed.rs` | one guard: admits what is in its file, and follows it |
//! | `loader.rs` | loads guards, now or whenever their files change |

mod followed;
mod loader;
mod look;

pub use loader::GuardLoader;
