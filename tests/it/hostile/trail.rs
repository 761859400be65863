//! The audit trail: what was refused leaves a line too.
