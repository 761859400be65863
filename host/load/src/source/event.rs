//! Events of a source.

/// Events of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceEvent {
    /// A scan ended. Fence or names may have changed even if no offer did.
    Scanned {
        /// Whether offers were withdrawn, or the folder can be read again.
        changed: bool,
    },
    /// The scan failed; offers stay as they are.
    Unreadable,
    /// An admission ended.
    Admitted,
    /// All offers that the source had at the start were admitted, or failed. Occurs once.
    Complete,
}
