//! The part of an operator's policy that is about actions.

/// The part of an operator's policy that is about a facade's actions. The default changes nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ActionPolicy {
    /// Actions that are neither published nor run.
    pub deny: Vec<String>,
    /// Actions that need a person's confirmation.
    pub confirm: Vec<String>,
    /// Whether `batch` is available.
    pub batch: bool,
}
