//! Go's `text/template`, as composite tools use it.
//!
//! The evaluator is our own. Two crates were examined by running them. `gtmpl-ng` 1.0.0 aborts the process or fills its
//! memory:
//!
//! - `{{$a := printf "%999999d" 1}}{{len (print $a $a …)}}`, with five thousand `$a` in 16 KiB, takes 5 GB: arguments
//!   are copied before its limits apply.
//! - `{{define "r"}}{{template "r" .}}{{end}}{{template "r" .}}` overflows a stack of 512 KiB, as do 32 parentheses, 40
//!   nested `if` and 60 `else if` in an unoptimised build.
//! - It copies all data for each expansion, and each argument of `index` again: 0.3 ms and 0.1 ms with a hundred steps of
//!   2 KB, unoptimised.
//! - Its errors print data that may be secret: `unable to get hunter2 in map[…]`.
//! - It lacks `else with`, and does not distinguish a missing value from `null`.
//!
//! `gotmpl` 0.6.1 (2026-11) is closer to Go, but not bounded. With the cases and attacks of `tests/`:
//!
//! - It matches Go in 116 of 120 expansions and in 12 of 17 decisions about syntax: it accepts an unclosed `{{if}}`, a
//!   stray `{{end}}` or `{{else}}`, and unknown functions. Ours matches in all but three, which are deliberate.
//! - 24 of 68 attacks abort the process. 21 overflow a stack of 512 KiB in an unoptimised build, such as 40 nested `if`,
//!   90 parentheses, and data nested a thousand deep; 3 fill the memory. With 2 MiB, or optimised, only 1000 `else if` (14 KB)
//!   overflow.
//! - It limits `range` to a number of iterations, and recursion to a depth, but neither output, memory nor steps: 14 KB
//!   of `print` build 2 GB, and comparing long texts in a loop takes seconds.
//! - It converts all data to values of its own: 0.55 ms for a hundred steps of 2 KB, optimised, and 2 µs to expand them.
//! - Its errors hold no data, but its strict mode rejects questions such as `{{if .missing}}` too.
//! - It has no static references and no values of lone actions, though its syntax tree is public.
//!
//! | module | concept |
//! |---|---|
//! | `error.rs`, `scope.rs`, `expanded.rs` | errors; the data that a template reads; the result |
//! | `limits.rs`, `excerpt.rs` | limits; excerpts of a source for messages |
//! | `value` | values, borrowed; exact numbers |
//! | `output` | the budget of an evaluation, and texts within it |
//! | `format` | printing, escaping, `printf` |
//! | `function` | the functions |
//! | `syntax` | lexer, parser and syntax tree |
//! | `references.rs` | data that a template refers to, found without evaluation |
//! | `eval` | evaluation |
//! | `compiled.rs` | the parsed template |
//!
//! # Deliberate differences from Go
//!
//! - Numbers keep their JSON representation, where ToolHive converts them to floats: `1234567` prints in full, works
//!   with `%d` and as an index, and integers compare with floats.
//! - A field of an explicit `null` is missing, where Go reports an error.
//! - `range` accepts integers from data, and `slice` never splits a character.

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
    compiled::TextTemplate,
    error::{EvalError, ParseError},
    expanded::ExpandedText,
    references::DataReference,
    scope::TemplateScope,
};
