//! `<name>.toml` beside `<name>.wasm`: grants, limits and rules of a plugin.
//!
//! | file | concept |
//! |---|---|
//! | `parse.rs` | parses a file to a policy, or reports all problems |
//! | `actions.rs`, `expose.rs` | two of the sections; `../grants/` and `../limits/` are the others |
//! | `reference.rs` | the reference page |

mod actions;
mod expose;
mod parse;
mod reference;
#[cfg(test)]
pub(crate) mod tests;

pub use self::{parse::PolicyError, reference::reference};
