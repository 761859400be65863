//! Calls a facade natively.
pub(crate) mod port;
