//! The operator's files, as validated and immutable settings.

pub mod policy;
pub mod server;
mod words;

pub mod places;

pub use policy::{Exposed, Policy, PolicyError, PolicyPaths, Setting};
pub use words::{FormWord, SplitWord};
