//! The mark of a credential that was taken out.

/// Replaces a credential.
pub const REDACTED: &str = "[redacted]";
