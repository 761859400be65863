//! What hosts record beside the stores of plugins. It is kept where the stores are: with a database, by all hosts together.

/// A store of the host itself. No plugin can have its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostRecords {
    /// Revoked tokens.
    Revocations,
    /// Changes of state that have started workflows.
    Starts,
    /// Owners of names.
    Names,
    /// Credentials of callers, encrypted.
    Credentials,
    /// Versions of plugins that were approved, or wait.
    Versions,
}

impl HostRecords {
    /// Name of the store: not one of a plugin's.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Revocations => ".revocations",
            Self::Starts => ".starts",
            Self::Names => ".names",
            Self::Credentials => ".credentials",
            Self::Versions => ".versions",
        }
    }

    /// Bytes that it may take.
    pub(crate) fn quota(self) -> u64 {
        match self {
            Self::Revocations => 16 << 20,
            Self::Starts => 64 << 20,
            Self::Names => 2 << 20,
            Self::Credentials => 1 << 30,
            Self::Versions => 256 << 20,
        }
    }
}
