//! Values: their sizes, and conversion from text.
//!
//! | file | concept |
//! |---|---|
//! | `size_budget.rs` | memory limits of a run |
//! | `coerce.rs` | text to values, by Go's rules |
//! | `schema_kind.rs` | the kind of value that a schema accepts |

pub(super) mod coerce;
mod schema_kind;
pub(super) mod size_budget;

pub(super) use self::{
    schema_kind::{SchemaCursor, SchemaKind},
    size_budget::SizeBudget,
};
