//! Guards: loads the components of `[guards]`, and follows their files.
//!
//! A plugin whose new version fails keeps its old one; a guard does not: whoever replaced its file wants the old one gone, and
//! nothing passes until there is one that works.
//!
//! | file | concept |
//! |---|---|
//! | `look.rs` | pure: whether a file is to be loaded |
//! | `loader.rs` | loads guards, now or whenever their files change |

mod loader;
mod look;

pub use loader::GuardLoader;
