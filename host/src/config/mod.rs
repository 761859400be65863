//! The operator's files, as validated and immutable settings.

pub mod policy;
pub mod server;
mod words;

pub mod places;

pub use policy::{Exposed, Policy, PolicyError, PolicyPaths, PolicySetting};
pub use words::{FormWord, SplitWord};
