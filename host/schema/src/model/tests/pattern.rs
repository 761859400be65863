//! Patterns find what the regex crate finds, and stop in time.

use crate::model::{
    limits,
    pattern::{BoundedPattern, PatternBudget},
    work,
};

fn pattern(text: &str) -> BoundedPattern {
    PatternBudget::default().compile(text, 1).and_then(|nfa| BoundedPattern::new(text, nfa)).unwrap()
}

/// Letters without order, so that a DFA needs a new state for nearly each.
fn scattered(length: usize) -> String {
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        if state >> 31 == 0 { 'a' } else { 'b' }
    };
    (0..length).map(|_| next()).collect()
}

#[test]
fn patterns_find_what_the_regex_crate_finds() {
    let texts = [
        "",
        "a",
        "b",
        "ab",
        "aab",
        "abc",
        "a b",
        "ä",
        "äa",
        "a-b",
        "x_9",
        "2026-01-31",
        "a\nb",
        "naïve word",
        "日本",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaab",
        "A",
        "ſ",
        " a ",
        "\u{2028}",
    ];
    for text in [
        "",
        "a",
        "^a",
        "b$",
        "^a$",
        "^(a|b)*$",
        "^[^/]+$",
        r"^\d{4}-\d\d-\d\d$",
        r"\bword\b",
        r"\ba",
        r"\Bb",
        "^.{1,3}$",
        r"^\S+$",
        r"^\w+$",
        "a{2,}b",
        "^(a+)+$",
        "(?i)a",
        "^$",
        r"[^\s\S]",
        "a|^b|c$",
        r"\p{L}{2}",
        "日",
    ] {
        let (ours, validator) = (pattern(text), {
            let options = jsonschema::options().with_pattern_options(jsonschema::PatternOptions::regex());
            options.build(&serde_json::json!({ "pattern": text })).unwrap()
        });
        for sent in texts {
            // Twice: the second search reuses the states of the first.
            for _ in 0..2 {
                assert_eq!(ours.is_match(sent), validator.is_valid(&sent.into()), "{text:?} in {sent:?}");
            }
        }
    }
}

#[test]
fn a_search_stops_when_the_budget_is_spent() {
    for (text, sent) in [
        ("a[ab]{0,5000}c|d$", "ab".repeat(75_000)),
        ("a[ab]{12000}c", "a".repeat(20_000)),
        ("a[ab]{1000}c", scattered(50_000)),
        (r"\b\w{500}ä\b", "ä".repeat(100_000)),
    ] {
        let pattern = pattern(text);
        let _bound = work::limit(limits::WORK);
        assert!(!pattern.is_match(&sent), "{text}");
        let exhausted = work::overrun().unwrap_or_else(|| panic!("{text} ended"));
        assert_eq!((exhausted.pattern.as_str(), exhausted.text), (text, sent.as_ptr()));
        // The budget stays spent.
        assert!(!pattern.is_match("d"), "{text}");
    }
}

#[test]
fn ordinary_patterns_are_matched_against_long_texts() {
    let long = format!("{}.", "lorem ipsum ".repeat(80_000));
    for (text, expected) in
        [("^[a-z .]+$", true), ("^\\S", true), ("[.]$", true), ("^.{1,2000}$", false), ("\\d{4}", false)]
    {
        let pattern = pattern(text);
        let _bound = work::limit(limits::WORK);
        assert_eq!((pattern.is_match(&long), work::overrun()), (expected, None), "{text}");
    }
}

#[test]
fn many_short_texts_are_matched_against_ordinary_patterns() {
    for text in ["^[A-Za-z0-9_-]{1,128}$", "^[0-9a-f]{8}-[0-9a-f]{4}$", r"^\d{4}-\d\d$", "^n_"] {
        let pattern = pattern(text);
        let _bound = work::limit(limits::WORK);
        for n in 0..20_000 {
            pattern.is_match(&format!("n_{n:08x}-{:04x}", n % 97));
        }
        assert_eq!(work::overrun(), None, "{text}");
    }
}

#[test]
fn nested_work_budgets_are_independent() {
    let outer = work::limit(10);
    {
        let _inner = work::limit(5);
        assert!(work::spend(5) && !work::spend(1));
    }
    assert!(work::spend(10) && !work::spend(1));
    drop(outer);
    assert!(work::spend(usize::MAX));
}
