//! Evaluation of templates.
//!
//! | file | concept |
//! |---|---|
//! | `missing.rs` | errors for missing fields, with the names that exist |
//! | `evaluator.rs` | control actions and bodies |
//! | `command.rs` | pipelines, commands and operands |

mod command;
mod evaluator;
mod missing;

pub(super) use self::evaluator::expand;
