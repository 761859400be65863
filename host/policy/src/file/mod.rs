//! `<name>.toml` beside `<name>.wasm`: grants, limits and rules of a plugin.
//!
//! | file | concept |
//! |---|---|
//! | `parse.rs` | from the text of a file to a policy, or all its mistakes |
//! | `actions.rs`, `expose.rs` | two of the sections; `../grants/` and `../limits/` are the others |
//! | `reference.rs` | the reference page |

mod actions;
mod expose;
mod parse;
mod reference;
#[cfg(test)]
pub(crate) mod tests;

pub use self::{parse::PolicyError, reference::reference};
