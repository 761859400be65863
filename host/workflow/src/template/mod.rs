//! Go's `text/template`, as composite tools use it.
//!
//! The evaluator is our own. The crate `gtmpl-ng` 1.0.0, the best of the others, has defects that nobody can guard from
//! outside, found by running it:
//!
//! - `{{$a := printf "%999999d" 1}}{{len (print $a $a …)}}`, with five thousand `$a` in 16 KiB, takes 5 GB: arguments
//!   are copied before its limits are asked. The process aborts.
//! - `{{define "r"}}{{template "r" .}}{{end}}{{template "r" .}}` overflows a stack of 512 KiB, as do 32 parentheses, 40
//!   nested `if` and 60 `else if` in an unoptimised build; the process aborts.
//! - All data is copied for each expansion, and each argument of `index` again: 0.3 ms and 0.1 ms with a hundred steps of
//!   2 KB, unoptimised. Ours borrows it.
//! - Its errors print the data, which may be secret: `unable to get hunter2 in map[…]`.
//! - It has no `else with`, and a value that is missing looks like `null` from outside.
//!
//! | module | concept |
//! |---|---|
//! | `error.rs`, `scope.rs`, `expanded.rs` | errors; the data that a template reads; the result |
//! | `limits.rs`, `excerpt.rs` | limits; excerpts of a source for messages |
//! | `value` | values, borrowed; exact numbers |
//! | `output` | the budget of a run, and texts within it |
//! | `format` | printing, escaping, `printf` |
//! | `function` | the functions |
//! | `syntax` | lexer, parser and syntax tree |
//! | `references.rs` | data that a template refers to, found without running it |
//! | `eval` | evaluation |
//! | `compiled.rs` | the parsed template |
//!
//! # Deliberate differences from Go
//!
//! - Numbers stay what they are in JSON, where ToolHive makes floats of them: `1234567` prints whole, `%d` prints it, it
//!   is an index, and whole numbers compare with floats.
//! - A field of an explicit `null` is missing, where Go gives an error.
//! - `range` goes over whole numbers from data, and a string is not cut within a character.

mod compiled;
mod error;
mod eval;
mod excerpt;
mod expanded;
mod format;
mod function;
mod limits;
mod output;
mod references;
mod scope;
mod syntax;
#[cfg(test)]
mod tests;
mod value;

pub use self::{
    compiled::Template,
    error::{EvalError, ParseError},
    expanded::Expanded,
    references::DataReference,
    scope::Scope,
};
