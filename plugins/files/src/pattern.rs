//! A regular expression, for one line at a time.

use std::error::Error;

use loggia_sdk::prelude::*;
use regex_automata::{
    Input,
    hybrid::{
        BuildError,
        dfa::{Cache, DFA},
    },
    nfa::thompson,
    util::syntax,
};

/// Matches a pattern against lines, in linear time.
///
/// A lazy DFA and nothing else: the smaller crates are twenty times slower, and 32 MiB must do in a call; the larger
/// engines and Unicode's tables would double the guest. So `\w`, `\d`, `\s`, `\b` and cases are ASCII's.
pub struct Pattern {
    dfa: DFA,
    cache: Cache,
}

impl Pattern {
    /// Reads the pattern.
    ///
    /// # Errors
    ///
    /// `invalid_params`, with the reason.
    pub fn new(pattern: &str, ignore_case: bool) -> Result<Self> {
        let build = |unicode| {
            let syntax = syntax::Config::new().unicode(unicode).utf8(false).case_insensitive(ignore_case);
            let nfa = thompson::Config::new().utf8(false).nfa_size_limit(Some(1 << 20));
            DFA::builder().syntax(syntax).thompson(nfa).build(pattern)
        };
        // Letters beyond ASCII in `[…]` need Unicode mode, ASCII classes the other.
        let dfa = build(false).or_else(|_| build(true)).map_err(|error| no_pattern(&error))?;
        Ok(Self { cache: dfa.create_cache(), dfa })
    }

    /// Offset of the end of the first match in the line.
    pub fn find(&mut self, line: &str) -> Option<usize> {
        let input = Input::new(line).earliest(true);
        // It cannot fail on any line: it neither quits at a byte nor runs out of cache.
        let found = self.dfa.try_search_fwd(&mut self.cache, &input).ok().flatten();
        found.map(|found| found.offset())
    }
}

fn no_pattern(error: &BuildError) -> Failure {
    // The reason is in the innermost error, at the end of the parser's diagram.
    let mut innermost: &dyn Error = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    let reason = innermost.to_string();
    let reason = reason.lines().last().unwrap_or_default().trim_start_matches("error: ");
    if reason.contains("exceeded") {
        return Failure::invalid_params("`pattern` is too large").hint("Shorten repetitions such as {1000}.");
    }
    Failure::invalid_params(format!("`pattern` is not a regular expression: {reason}")).hint(
        "Write a backslash before . * + ? ( ) [ ] { } ^ $ | to mean the character itself. Look-around, \
         back-references and \\p{…} are not supported.",
    )
}
