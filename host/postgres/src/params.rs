//! Parameters of statements.

use tokio_postgres::types::ToSql;

/// Parameters of a statement.
pub(crate) type Params<'a> = &'a [&'a (dyn ToSql + Sync)];
