//! `<name>.toml` beside `<name>.wasm`: what the operator grants a plugin, and within which limits.
//!
//! ```text
//! text ─tree─▶ values with their lines, variables filled in ─field─▶ sections ─▶ Policy, or all that is wrong
//! ```
//!
//! | file | concept |
//! |---|---|
//! | `tree.rs`, `substitute.rs` | TOML as values that know their lines; `${VAR}` in strings |
//! | `key.rs`, `limits.rs` | the keys as data, which parsing, messages and the reference page share |
//! | `field.rs`, `unit.rs`, `problem.rs` | one value of the right kind, or a problem that names its key |
//! | `grants/`, `actions.rs`, `expose.rs` | the sections |
//! | `reference.rs` | all of it as a page |
//! | `model.rs`, `parse.rs` | the policy as data; from text to it |

mod actions;
mod expose;
pub(super) mod field;
pub mod grants;
pub(super) mod key;
pub mod limits;
mod model;
mod parse;
pub(super) mod problem;
mod reference;
mod substitute;
#[cfg(test)]
mod tests;
pub(super) mod tree;
pub(super) mod unit;

pub use self::{
    expose::Exposed,
    key::nearest,
    model::{Policy, PolicyPaths, PolicySetting, StatedRules},
    parse::PolicyError,
    reference::reference,
};
