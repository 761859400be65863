//! What the operator may set: `[grants] config = { … }`.

use loggia_sdk::prelude::*;

/// Limits of one program.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Calls to facades.
    pub calls: usize,
    /// Instructions of the engine. A million take about 40 ms.
    pub steps: usize,
}

/// Bytes of console output that are returned.
pub const CONSOLE: usize = 16 << 10;
/// Calls at once; the host takes no more.
pub const AT_ONCE: usize = 32;
/// Bytes of arguments of calls at once, far below the host's `limits.host-data`.
pub const ARGUMENTS_AT_ONCE: usize = 1 << 20;
/// Nested calls of functions.
pub const RECURSION: usize = 400;

impl Limits {
    /// Reads the configuration.
    pub fn configured() -> Result<Self> {
        Ok(Self { calls: host::config_or("calls", 1000)?, steps: host::config_or("steps", 20_000_000)? })
    }
}
