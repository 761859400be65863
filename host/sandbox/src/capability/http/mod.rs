//! Requests over HTTP: `wasi:http` in front of our own egress.
//!
//! | module | contents |
//! |---|---|
//! | `access` | the capability, and what one call may send |
//! | `hooks` | the hook through which wasmtime-wasi-http sends |
//! | `report` | what the guest, the caller and the operator learn of a failed request |
//! | `link` | *init* |
//! | `names`, `body_error` | functions of ours in the place of wasmtime-wasi-http's |

mod access;
mod body_error;
mod hooks;
mod link;
mod names;
mod report;

pub(super) use access::{HttpAccess, HttpCapability};
pub(super) use link::init;
