//! What hosts record beside the stores of plugins. It is kept where the stores are: with a database, by all hosts together.

/// A store of the host itself. No plugin can have its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostRecords {
    /// Revoked tokens.
    Revocations,
}

impl HostRecords {
    /// Name of the store: not one of a plugin's.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Revocations => ".revocations",
        }
    }

    /// Bytes that it may take.
    pub(crate) fn quota(self) -> u64 {
        match self {
            Self::Revocations => 16 << 20,
        }
    }
}
