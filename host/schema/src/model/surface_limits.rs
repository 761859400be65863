//! Limits of a surface, by its origin.

use crate::model::limits;

/// Limits of what one facade publishes. They stop a surface from exhausting the host, a client, or a model's context.
///
/// All other numbers of [`limits`] apply to every surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SurfaceLimits {
    /// Actions.
    pub actions: usize,
    /// Bytes of everything that it publishes, as JSON.
    pub total: usize,
    /// Bytes of one schema, as JSON.
    pub schema: usize,
    /// Parameters of one action.
    pub parameters: usize,
    /// Bytes of all compiled patterns together, each with the 16 KiB that it may keep between searches.
    pub patterns: usize,
    /// Steps of pattern matching for all examples together, at load; one takes about a nanosecond.
    pub work_at_load: usize,
}

impl SurfaceLimits {
    /// Surfaces of plugins and workflows. At most 512 patterns.
    pub const PLUGIN: Self = Self {
        actions: 64,
        total: 256 << 10,
        schema: 32 << 10,
        parameters: 64,
        patterns: 8 << 20,
        work_at_load: 40_000_000,
    };

    /// Surfaces that the host makes itself, of an MCP server or of the description of an API. At most 4,096 patterns;
    /// their memory is taken only by actions that are called.
    pub const HOSTED: Self = Self {
        actions: 2_048,
        total: 8 << 20,
        schema: 128 << 10,
        parameters: 128,
        patterns: 64 << 20,
        work_at_load: 160_000_000,
    };
}

// A resolved schema may be as large as its author's.
const _: () = assert!(SurfaceLimits::HOSTED.schema <= limits::RESOLVED);
