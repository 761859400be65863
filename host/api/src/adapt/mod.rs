//! From operations to the surface of a facade: pure functions.
//!
//! | file | concept |
//! |---|---|
//! | `reserved` | names that parameters and actions cannot have |
//! | `route` | from a call of an action to the parts of its request |
//! | `parameters` | parameters of path, query, headers and body in one object |
//! | `operation` | one operation as an action |
//! | `surface` | a whole API |

mod operation;
mod parameters;
mod reserved;
mod route;
mod surface;
#[cfg(test)]
mod tests;

pub(crate) use operation::{AdaptedOperation, adapt_operation};
pub use route::OperationRoute;
pub(crate) use route::{CURSOR, RequestParts};
pub use surface::{AdaptedApi, adapt_api};
