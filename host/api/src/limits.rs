//! Bounds of documents and descriptions. They keep an import from exhausting the host, and a facade a model's context.

/// Bytes of an OpenAPI document. GitHub's has 13 MiB.
pub const DOCUMENT: usize = 32 << 20;
/// Values of an OpenAPI document, each some 70 bytes of memory. GitHub's has half a million.
pub const NODES: usize = 2_000_000;
/// Levels of lists and objects of a YAML document. JSON's parser has a limit of its own.
pub const NESTING: usize = 128;
/// References that lead to each other.
pub const REFERENCES: usize = 32;
/// Operations of one API.
pub const OPERATIONS: usize = 2_048;
/// Parameters of an operation beside those of its body.
pub const PARAMETERS: usize = 64;
/// Bytes of a description file.
pub const FILE: usize = 32 << 20;
/// Subschemas of one schema while its references are replaced.
pub const SUBSCHEMAS: usize = 700;
/// Bytes of the schema of a parameter.
pub const PARAMETER_SCHEMA: usize = 4 << 10;
/// Bytes of the schema of a body. Together with those of the parameters it stays below the contract's 32 KiB.
pub const BODY_SCHEMA: usize = 20 << 10;
/// Bytes of the schema of a response; larger ones say little to a model and cost much.
pub const DATA_SCHEMA: usize = 1 << 10;
/// Bytes of the summary of an operation: one line of a list.
pub const SUMMARY: usize = 160;
/// Bytes of the whole description of an operation.
pub const DESCRIPTION: usize = 2 << 10;
/// Bytes of the description of a parameter.
pub const PARAMETER_TEXT: usize = 400;
/// Bytes of what a document says about an error.
pub const ERROR_TEXT: usize = 160;
/// Errors of an operation that are kept.
pub const ERRORS: usize = 12;
/// Bytes of the name of a group.
pub const GROUP: usize = 64;
