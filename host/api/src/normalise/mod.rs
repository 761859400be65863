//! From an OpenAPI document to the description of an API: pure functions.
//!
//! | file | concept |
//! |---|---|
//! | `texts` | texts without markup, shortened |
//! | `constraints` | keywords that constrain one value |
//! | `merge` | the parts of an `allOf` as one object |
//! | `schema` | schemas without references, cut to a size |
//! | `parameters`, `body`, `responses` | the parts of an operation |
//! | `names` | names of actions |
//! | `servers`, `security` | where requests go, and what authenticates them |
//! | `operation` | one operation |
//! | `fit` | the strictest form of an operation that the contract accepts |
//! | `import` | a whole document |

mod body;
mod constraints;
mod fit;
mod import;
mod merge;
mod names;
mod operation;
mod parameters;
mod responses;
mod schema;
mod security;
mod servers;
#[cfg(test)]
mod tests;
mod texts;

pub use import::{ImportError, ImportOptions, ImportedApi, import_openapi};
