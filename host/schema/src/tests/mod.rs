//! Tests of several rooms together, and what the tests of all rooms share.

mod bad_input;
mod documented;
pub(crate) mod fixture;
pub(crate) mod forms;
mod narrow;
mod properties;
pub(crate) mod surfaces;
