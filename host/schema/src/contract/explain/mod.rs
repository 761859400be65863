//! Explains why a call was refused: from errors of the validator to one `Failure`.
//!
//! | file | concept |
//! |---|---|
//! | `alternatives` | selects the alternative of `anyOf` or `oneOf` that the caller meant |
//! | `condition` | the condition of a conditional rule: ` where `kind` is circle` |
//! | `context` | the call that is explained |
//! | `failure` | orders, filters and joins violations |
//! | `phrase` | a schema, or a value, in a few words |
//! | `predicate` | what a value must be, and what was sent |
//! | `translate` | one validation error as violations |
//! | `violation` | one violation of the schema |

pub(crate) mod alternatives;
pub(crate) mod condition;
pub(crate) mod context;
pub(crate) mod failure;
pub(crate) mod phrase;
pub(crate) mod predicate;
pub(crate) mod translate;
pub(crate) mod violation;
