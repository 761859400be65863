//! Failures of steps.
//!
//! | file | concept |
//! |---|---|
//! | `step_error.rs` | reasons for which a step fails |
//! | `redact.rs` | removal of secrets from texts and values |

mod redact;
mod step_error;

pub(super) use self::{
    redact::SecretRedactor,
    step_error::{INTERRUPTED, STEP_FAILED, StepError, TEMPLATE, is_uncertain, is_undone},
};
