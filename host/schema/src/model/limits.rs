//! Limits of every surface and of the calls to it. Each one prevents the exhaustion of the host, a client, or a model's
//! context. For limits that depend on the origin of a surface, see [`SurfaceLimits`](crate::SurfaceLimits).

/// Bytes of a title.
pub const TITLE: usize = 128;
/// Bytes of a version.
pub const VERSION: usize = 64;
/// Bytes of a facade's summary. It begins the tool's description, of which clients show 1,024 characters.
pub const SUMMARY: usize = 800;
/// Bytes of an action's summary.
pub const ACTION_SUMMARY: usize = 1024;
/// Bytes of a facade's instructions.
pub const INSTRUCTIONS: usize = 4096;
/// Actions that a tool names and that `describe` lists one by one. Of a facade with more, clients see the groups, and
/// find actions by `describe` with `query`.
pub const LISTED: usize = 60;
/// Actions of a facade whose schemas are read and compiled at load. Of a facade with more, an action's schema is
/// compiled at its first call, because compiled schemas take thirty kilobytes each.
pub const COMPILED: usize = 64;
/// Bytes of the name of a group of actions.
pub const GROUP: usize = 64;
/// Aliases of an action.
pub const ALIASES: usize = 8;
/// Examples of an action.
pub const EXAMPLES: usize = 8;
/// Grants that a facade may ask for.
pub const WANTS: usize = 32;
/// Views of a facade.
pub const VIEWS: usize = 8;
/// Bytes of one view. Clients load it once for each tool.
pub const VIEW: usize = 96 << 10;
/// Bytes of one resolved schema, as JSON: stops definitions that grow exponentially by `$ref`.
pub const RESOLVED: usize = 256 * 1024;
/// Levels of nested schemas.
pub const DEPTH: usize = 16;
/// Subschemas of one resolved schema.
pub const SUBSCHEMAS: usize = 1000;
/// Values of one `enum`.
pub const ENUM: usize = 256;
/// Bytes of a `pattern`.
pub const PATTERN: usize = 256;
/// Bytes of a compiled `pattern`.
pub const COMPILED_PATTERN: usize = 1024 * 1024;
/// Steps of pattern matching per call; one takes about a nanosecond.
pub const WORK: usize = 6_000_000;
/// Bytes of a text with `"format": "regex"`.
pub const REGEX: usize = 8 * 1024;
/// Checks per call: subschemas times values in the parameters.
pub const CHECKS: usize = 10_000_000;
/// Values in one JSON text from a client or a plugin. Each takes about 70 bytes of memory, and at least two bytes of
/// text.
pub const NODES: usize = loggia_facade::json::VALUES;
/// Levels of nested arrays and objects, in schemas, examples and parameters.
pub const NESTING: usize = 64;
/// Characters of a tool's description that every client shows.
pub const DESCRIPTION: usize = 1024;
/// Characters of a parameter's description, per group of actions.
pub const PARAMETER_TEXT: usize = 400;
/// Bytes of a tool's name: the maximum of Claude, OpenAI and Gemini.
pub const TOOL_NAME: usize = 64;
/// Violations that one failure reports.
pub const FAULTS: usize = 5;
/// Calls in a batch.
pub const BATCH: usize = 50;
