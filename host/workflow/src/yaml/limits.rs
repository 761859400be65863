//! Limits on YAML input. The file comes from anyone who can write to the plugin folder.

/// Maximum size of a file, in bytes.
pub const BYTES: usize = 1 << 20;
/// Maximum nesting depth of lists and objects.
pub const DEPTH: usize = 64;
/// Maximum number of nodes in a file, after aliases are expanded.
pub const NODES: usize = 100_000;
/// Maximum total length of all texts in a file, in bytes, after aliases are expanded.
pub(super) const TEXTS: usize = 4 * BYTES;
