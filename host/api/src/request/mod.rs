//! From a call to an HTTP request: pure functions.
//!
//! | file | concept |
//! |---|---|
//! | `percent` | percent-encoding |
//! | `text` | values as text |
//! | `pairs` | names and values of a query or a form |
//! | `path` | a path with its values |
//! | `body` | a body as bytes |
//! | `build` | the whole request |

mod body;
mod build;
mod pairs;
mod path;
mod percent;
#[cfg(test)]
mod tests;
mod text;

pub(crate) use build::build_request;
