//! Results of an upstream's tools, as replies and failures: pure functions.
//!
//! | file | concept |
//! |---|---|
//! | `call_result` | a `CallToolResult`, and the errors in its place |
//! | `content` | content blocks |
//! | `next_call` | the call that a result proposes in `_meta` |

mod call_result;
mod content;
mod next_call;
#[cfg(test)]
mod tests;

#[cfg(test)]
use call_result::UPSTREAM_ERROR;
pub(crate) use call_result::{failure_of_error, read_result};
