//! Functions of templates: Go's built-ins and ToolHive's `json`, `quote` and `fromJson`.
//!
//! | file | concept |
//! |---|---|
//! | `access.rs` | `len`, `index` and `slice` |
//! | `builtin.rs` | the table of functions, their arity, and the call |

mod access;
mod builtin;

pub(super) use self::builtin::BuiltinFunction;
