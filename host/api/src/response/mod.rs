//! From an HTTP response to a reply or a failure: pure functions.
//!
//! | file | concept |
//! |---|---|
//! | `api_response` | a response, and what may be kept of it |
//! | `cut` | JSON cut to a budget |
//! | `page` | where the next page is |
//! | `retry` | when a request may be sent again |
//! | `error` | statuses of 400 or more |
//! | `reply` | the whole response |

mod api_response;
mod cut;
mod error;
mod page;
mod reply;
mod retry;
#[cfg(test)]
mod tests;

pub(crate) use api_response::{ApiResponse, ResponseBudget};
pub(crate) use reply::read_response;
