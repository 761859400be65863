//! The operator's files, as validated and immutable settings.

mod policy;
mod units;

pub mod places;

pub use policy::{Exposed, Policy, PolicyError};
