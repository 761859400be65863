//! Limits of a surface and of the calls to it. Each one prevents the exhaustion of the host, a client, or a model's
//! context.

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
/// Actions of a facade.
pub const ACTIONS: usize = 64;
/// Aliases of an action.
pub const ALIASES: usize = 8;
/// Parameters of an action.
pub const PARAMETERS: usize = 64;
/// Examples of an action.
pub const EXAMPLES: usize = 8;
/// Grants that a facade may ask for.
pub const WANTS: usize = 32;
/// Bytes of one schema, as JSON.
pub const SCHEMA: usize = 32 * 1024;
/// Bytes of one resolved schema, as JSON: stops definitions that grow exponentially by `$ref`.
pub const RESOLVED: usize = 256 * 1024;
/// Bytes of everything that a facade publishes, as JSON.
pub const TOTAL: usize = 256 * 1024;
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
/// Bytes of all compiled patterns of a facade, each with the 16 KiB that it may keep between searches: at most 512
/// patterns.
pub const PATTERNS: usize = 8 * 1024 * 1024;
/// Steps of pattern matching per call; one takes about a nanosecond.
pub const WORK: usize = 6_000_000;
/// Steps of pattern matching for all examples of a facade, at load.
pub const WORK_AT_LOAD: usize = 40_000_000;
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
