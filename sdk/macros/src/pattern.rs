//! The dialect of `pattern`: that of the host, which runs it in linear time. A test compares the two.

use regex_automata::nfa::thompson::{self, NFA, pikevm::PikeVM};
use syn::{Error, LitStr, Result};

/// Bytes of a pattern, as in the host.
const MAX_BYTES: usize = 256;
/// Bytes of a compiled pattern, as in the host.
const MAX_COMPILED: usize = 1 << 20;

/// Checks a pattern.
pub fn check(pattern: &LitStr) -> Result<()> {
    compile(&pattern.value()).map(drop).map_err(|why| Error::new(pattern.span(), why))
}

/// Whether a pattern, if it is valid, does not match a text.
pub fn excludes(pattern: &str, text: &str) -> bool {
    let machine = compile(pattern).ok().and_then(|nfa| PikeVM::new_from_nfa(nfa).ok());
    machine.is_some_and(|machine| !machine.is_match(&mut machine.create_cache(), text))
}

fn compile(pattern: &str) -> std::result::Result<NFA, String> {
    if pattern.len() > MAX_BYTES {
        return Err(format!("the pattern has {} bytes; the host takes at most {MAX_BYTES}", pattern.len()));
    }
    let Ok(translated) = jsonschema_regex::to_rust_regex(pattern) else {
        return Err(describe(pattern));
    };
    let config = thompson::Config::new().nfa_size_limit(Some(MAX_COMPILED));
    let built = thompson::Compiler::new().configure(config).build(&translated);
    built.map_err(|error| {
        if error.size_limit().is_some() {
            "the pattern is too large when compiled: make its repetitions shorter".to_owned()
        } else {
            describe(pattern)
        }
    })
}

/// Says what is wrong with a pattern that does not compile.
fn describe(pattern: &str) -> String {
    const FOREIGN: [&str; 4] = ["(?=", "(?!", "(?<=", "(?<!"];
    if FOREIGN.iter().any(|part| pattern.contains(part)) {
        return "a pattern matches in linear time, so it has no look-around: write what the text must match, \
                and check the rest in the action"
            .to_owned();
    }
    let is_reference = |pair: &[u8]| pair[0] == b'\\' && matches!(pair[1], b'1'..=b'9' | b'k');
    if pattern.as_bytes().windows(2).any(is_reference) {
        return "a pattern matches in linear time, so it has no back-references: check repetitions in the action"
            .to_owned();
    }
    let reason = thompson::Compiler::new().build(pattern).err();
    let reason = reason.as_ref().and_then(std::error::Error::source).map(ToString::to_string);
    // The last line of a syntax error says what is wrong; those before it draw the place.
    let reason =
        reason.as_deref().and_then(|reason| reason.lines().last()).map(|line| line.replace("error: ", ""));
    match reason {
        Some(reason) => format!("this is no regular expression: {reason}"),
        None => "this is no regular expression of JSON Schema (ECMA 262)".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use loggia_schema::Contract;
    use serde_json::json;

    use super::*;

    #[test]
    fn patterns_are_judged_as_by_the_host() {
        let long = "a".repeat(MAX_BYTES + 1);
        for (pattern, expected) in [
            ("^[a-z]+$", true),
            (r"^\d{4}-\d{2}$", true),
            (r"\p{Letter}+", true),
            (r"^\w+\s\S$", true),
            ("a{2,}", true),
            (r"\/x\/", true),
            ("[a-", false),
            ("(", false),
            ("a**", true),
            ("(?=a)b", false),
            ("(?<!a)b", false),
            (r"(a)\1", false),
            ("(?<name>a)", true),
            (r"\Z", false),
            ("(a{0,400}){0,400}", false),
            (long.as_str(), false),
        ] {
            let ours = compile(pattern);
            let params =
                json!({"type": "object", "properties": {"p": {"type": "string", "pattern": pattern}}});
            let action = json!({"name": "go", "summary": "Goes.", "effect": "Read", "idempotent": false, "open_world": false,
                "long_running": false, "details": false, "aliases": [], "needs": [], "params": params, "examples": []});
            let surface = json!({"name": "x", "title": "X", "version": "1", "summary": "X.", "actions": [action],
                "views": [], "wants": []});
            let surface = serde_json::from_value(surface).unwrap();
            let hosts = Contract::new(Arc::new(surface)).map(drop).map_err(|error| format!("{error:?}"));
            assert_eq!((ours.is_ok(), hosts.is_ok()), (expected, expected), "{pattern}: {ours:?} {hosts:?}");
        }
    }

    #[test]
    fn a_pattern_excludes_what_it_does_not_match() {
        for (pattern, text, expected) in
            [("^[a-z]+$", "abc", false), ("^[a-z]+$", "Abc", true), ("b", "abc", false), ("[", "a", false)]
        {
            assert_eq!(excludes(pattern, text), expected, "{pattern} {text}");
        }
    }
}
