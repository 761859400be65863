//! One violation of an action's schema.

/// One violation of an action's schema by the parameters of a call.
pub(crate) struct SchemaViolation {
    /// JSON pointer to the invalid value; for a missing value, the pointer it would have.
    pub(crate) place: String,
    /// Of several violations at one place, only those of the lowest rank are reported.
    pub(crate) rank: u8,
    pub(crate) order: ViolationOrder,
    /// Begins with the parameter: `` `limit` must be at most 50 (got 99) ``.
    pub(crate) message: String,
    /// The author's advice, or a near miss.
    pub(crate) hint: Option<String>,
}

/// The order in which violations are reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ViolationOrder {
    Missing,
    Wrong,
    Unknown,
    /// Reported only if there is no other violation.
    Fallback,
}
