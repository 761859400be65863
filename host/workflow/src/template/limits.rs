//! Limits of templates.
//!
//! Templates come with plugins, and data from anywhere. No template may overflow the host's stack, fill its memory or
//! hang it.

/// Maximum length of a template, in bytes.
pub(super) const SOURCE: usize = 16 * 1024;

/// Maximum nesting depth of parentheses.
pub(super) const PARENTHESES: usize = 32;

/// Maximum number of control actions in a template: `if`, `else if`, `with`, `range`, `define`, `template`, `block`.
pub(super) const CONTROLS: usize = 64;

/// Maximum length of the output, in bytes; ToolHive's limit.
pub(super) const OUTPUT: usize = 10 * 1024 * 1024;

/// Maximum nesting depth of printed data; ToolHive's limit.
pub(super) const DEPTH: usize = 100;

/// Maximum nesting depth of bodies, in the source and during evaluation, where `template` can recurse. At the limits
/// of parentheses and data, this takes 0.4 MB of stack in an unoptimised build.
pub(super) const NESTING: usize = 32;

/// Maximum number of steps of an evaluation, including pieces of text written. One step takes 10 to 100 ns.
pub(super) const STEPS: usize = 1_000_000;

/// Maximum size of text and data that functions produce in one evaluation, in bytes. All of it is held until the end.
pub(super) const MADE: usize = 32 * 1024 * 1024;

/// Maximum width and precision in `printf`.
pub(super) const WIDTH: usize = 1000;

/// Maximum length of a path found without evaluation.
pub(super) const PATH: usize = 32;

/// Maximum number of template calls followed without evaluation.
pub(super) const FOLLOWED: usize = 16;
