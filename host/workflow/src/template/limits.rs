//! How much a template may hold, and may cost.
//!
//! Templates come with plugins and data from anywhere: no text makes the host overflow its stack, fill its memory or
//! hang.

/// Bytes of a template.
pub(super) const SOURCE: usize = 16 * 1024;

/// Parentheses within parentheses.
pub(super) const PARENTHESES: usize = 32;

/// Control actions in one template: `if`, `else if`, `with`, `range`, `define`, `template`, `block`.
pub(super) const CONTROLS: usize = 64;

/// Bytes that a template may give; ToolHive's figure.
pub(super) const OUTPUT: usize = 10 * 1024 * 1024;

/// Data within data, as far as it is written; ToolHive's figure.
pub(super) const DEPTH: usize = 100;

/// Bodies within bodies, in the source and while a template runs: `template` can call itself. With the parentheses and
/// the data at their deepest it takes 0.4 MB of stack in an unoptimised build.
pub(super) const NESTING: usize = 32;

/// Steps of a run, and pieces of text that it writes: one takes between ten and a hundred nanoseconds.
pub(super) const STEPS: usize = 1_000_000;

/// Bytes of text and data that functions may make in one run: all of it is held until the run ends.
pub(super) const MADE: usize = 32 * 1024 * 1024;

/// Width and precision in `printf`.
pub(super) const WIDTH: usize = 1000;

/// Names in a path that is followed without running the template.
pub(super) const PATH: usize = 32;

/// Calls of templates that are followed without running them.
pub(super) const FOLLOWED: usize = 16;
