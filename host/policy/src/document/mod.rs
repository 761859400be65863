//! TOML documents of the operator as values with line numbers, which policies and `loggia.toml` share.
//!
//! ```text
//! text ─tree─▶ values with lines, variables expanded ─field─▶ typed values, or problems
//! ```
//!
//! | file | concept |
//! |---|---|
//! | `setting.rs` | context of a document: folder, home folder, environment |
//! | `tree.rs`, `expand.rs` | TOML as values with lines; `${VAR}` in strings |
//! | `key.rs` | keys and sections as data |
//! | `field.rs`, `unit.rs` | typed access to one value |
//! | `json.rs` | tables as JSON |
//! | `problem.rs` | problems, each with line and key |

mod expand;
pub mod field;
pub mod json;
pub mod key;
pub mod problem;
mod setting;
pub mod tree;
pub mod unit;

pub use setting::PolicySetting;
