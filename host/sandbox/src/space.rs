//! Spaces of a plugin's state.

/// The two spaces of a plugin's state, as a guest names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SpaceChoice {
    /// Shared by all callers.
    Shared,
    /// The caller's own.
    Caller,
}
