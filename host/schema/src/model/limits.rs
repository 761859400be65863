//! How large a surface may be. Every bound stops a way to exhaust the host, a client or a model's context.

/// A title, in bytes.
pub const TITLE: usize = 128;
/// A version, in bytes.
pub const VERSION: usize = 64;
/// A facade's summary, in bytes: it begins the tool's description, of which clients show 1,024 characters.
pub const SUMMARY: usize = 800;
/// An action's summary, in bytes.
pub const ACTION_SUMMARY: usize = 1024;
/// A facade's instructions, in bytes.
pub const INSTRUCTIONS: usize = 4096;
/// Actions of a facade.
pub const ACTIONS: usize = 64;
/// Aliases of an action.
pub const ALIASES: usize = 8;
/// Parameters of an action.
pub const PARAMETERS: usize = 64;
/// Examples of an action.
pub const EXAMPLES: usize = 8;
/// Capabilities a facade may ask for.
pub const WANTS: usize = 32;
/// One schema, in bytes of JSON.
pub const SCHEMA: usize = 32 * 1024;
/// One schema after its `$ref`s were replaced by what they name, in bytes of JSON: stops definitions that double.
pub const RESOLVED: usize = 256 * 1024;
/// Everything a facade publishes, in bytes of JSON.
pub const TOTAL: usize = 256 * 1024;
/// Schemas inside schemas.
pub const DEPTH: usize = 16;
/// Schemas in one schema, counted after `$ref`s were replaced.
pub const SUBSCHEMAS: usize = 1000;
/// Values of one `enum`.
pub const ENUM: usize = 256;
/// A `pattern`, in bytes.
pub const PATTERN: usize = 256;
/// A compiled `pattern`, in bytes.
pub const COMPILED_PATTERN: usize = 1024 * 1024;
/// All compiled patterns of a facade together, in bytes, with the 16 KiB that each may keep between searches: so at most
/// 512 of them.
pub const PATTERNS: usize = 8 * 1024 * 1024;
/// Steps that patterns may take for one call; about a nanosecond each.
pub const WORK: usize = 6_000_000;
/// The same for all examples of a facade, when it is loaded.
pub const WORK_AT_LOAD: usize = 40_000_000;
/// A text that has to be a regular expression (`"format": "regex"`), in bytes.
pub const REGEX: usize = 8 * 1024;
/// How often a schema within a schema is held against a value within the parameters: the product of both.
pub const CHECKS: usize = 10_000_000;
/// Values in one JSON text of a client's or a plugin's: each takes some 70 bytes of memory, and two of text.
pub const NODES: usize = loggia_facade::json::VALUES;
/// Arrays and objects inside each other, in schemas, in examples and in a call's parameters.
pub const NESTING: usize = 64;
/// Characters of a tool's description that every client shows.
pub const DESCRIPTION: usize = 1024;
/// Characters of what one parameter's published description says for one group of actions.
pub const PARAMETER_TEXT: usize = 400;
/// A tool's name, in bytes: what Claude, OpenAI and Gemini take at most.
pub const TOOL_NAME: usize = 64;
/// Faults that one failure reports.
pub const FAULTS: usize = 5;
/// Calls in one batch.
pub const BATCH: usize = 50;
