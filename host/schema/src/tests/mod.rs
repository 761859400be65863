//! Tests across rooms, and fixtures that all tests share.

mod bad_input;
mod documented;
pub(crate) mod fixture;
pub(crate) mod forms;
mod large;
mod narrow;
mod properties;
pub(crate) mod published;
pub(crate) mod published_reader;
pub(crate) mod surfaces;
