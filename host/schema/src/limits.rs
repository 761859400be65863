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
