//! Ceilings of limits: the engine reserves address space for them, so no policy may exceed them.

/// Maximum memory that a policy may allow a call, in bytes.
pub const MEMORY_CEILING: usize = 1 << 30;
/// Maximum number of table elements that a policy may allow a call.
pub const TABLES_CEILING: usize = 1_000_000;
/// Maximum number of handles that a policy may allow a call.
pub const HANDLES_CEILING: usize = 4096;
/// Maximum stack size of guest code that the operator may set, in bytes.
pub const STACK_CEILING: usize = 8 << 20;
/// Core instances of a call. A Rust guest has 3, a Python guest about twenty.
pub const CORE_INSTANCES: u32 = 48;
/// Memories of a call. A JavaScript guest has 3.
pub const MEMORIES: u32 = 4;
/// Tables of a call.
pub const TABLES: u32 = 16;
/// Minimum stack size of guest code, in bytes.
pub const STACK_FLOOR: usize = 64 << 10;
