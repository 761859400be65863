//! TOML documents of the operator, as values that know their lines. Policies and `loggia.toml` share them.
//!
//! ```text
//! text ─tree─▶ values with their lines, variables expanded ─field─▶ values of the right type, or problems
//! ```
//!
//! | file | concept |
//! |---|---|
//! | `setting.rs` | context of a document: folder, home folder, environment |
//! | `tree.rs`, `substitute.rs` | TOML as values that know their lines; `${VAR}` in strings |
//! | `key.rs` | keys and sections as data |
//! | `field.rs`, `unit.rs` | one value of the right type |
//! | `problem.rs` | problems, each with its line and key |

pub mod field;
pub mod key;
pub mod problem;
mod setting;
mod substitute;
pub mod tree;
pub mod unit;

pub use setting::PolicySetting;
