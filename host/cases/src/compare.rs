//! Compares a value with what a file expects of it.

use loggia_text::mention;
use loggia_workflow::yaml::{YamlNode, YamlValue};
use regex_automata::meta::Regex;
use serde_json::{Number, Value};

use super::problem::CaseProblem;

/// Longest value in a message, in characters.
const SHOWN: usize = 120;
/// Differences that are reported of one value, at most.
const MAX_REPORTED: usize = 10;
/// Bytes of a compiled pattern, at most.
const PATTERN_BYTES: usize = 1 << 20;

/// Parses a text of the form `/…/` as a pattern; `None` for other texts.
pub(super) fn pattern(text: &str) -> Option<Result<Regex, &'static str>> {
    let inner = text.strip_prefix('/')?.strip_suffix('/').filter(|inner| !inner.is_empty())?;
    let config = Regex::config().nfa_size_limit(Some(PATTERN_BYTES));
    Some(Regex::builder().configure(config).build(inner).map_err(|_| "it is no regular expression"))
}

/// Compares a value with the expected one. Objects may have further members, unless `exactly`; lists may not. A text of the
/// form `/…/` matches texts.
pub fn compare(expected: &YamlNode, actual: Option<&Value>, path: &str, exactly: bool) -> Vec<CaseProblem> {
    let mut found = Vec::new();
    compare_into(expected, actual, path, exactly, &mut found);
    let more = found.len().saturating_sub(MAX_REPORTED);
    if more > 0 {
        found.truncate(MAX_REPORTED);
        found.push(CaseProblem::nowhere(format!("and {more} more differences")));
    }
    found
}

fn compare_into(
    expected: &YamlNode,
    actual: Option<&Value>,
    path: &str,
    exactly: bool,
    found: &mut Vec<CaseProblem>,
) {
    let Some(actual) = actual else {
        if !expected.is_null() || exactly {
            found
                .push(CaseProblem::of(expected, format!("`{path}` is missing, expected {}", show(expected))));
        }
        return;
    };
    let differs = || {
        let message = format!("`{path}` is {}, expected {}", show_json(actual), show(expected));
        CaseProblem::of(expected, message)
    };
    match (&expected.value, actual) {
        (YamlValue::Map(entries), Value::Object(members)) => {
            for entry in entries {
                let path = format!("{path}.{}", mention(&entry.key, SHOWN));
                compare_into(&entry.node, members.get(&entry.key), &path, exactly, found);
            }
            let is_known = |key: &str| entries.iter().any(|entry| entry.key == key);
            for key in members.keys().filter(|key| exactly && !is_known(key)) {
                let message = format!("`{path}.{}` is not expected", mention(key, SHOWN));
                found.push(CaseProblem::of(expected, message));
            }
        }
        (YamlValue::List(items), Value::Array(values)) => {
            if items.len() != values.len() {
                let (has, wanted) = (values.len(), items.len());
                let message = format!("`{path}` has {has} items, expected {wanted}: {}", show_json(actual));
                return found.push(CaseProblem::of(expected, message));
            }
            for (at, (item, value)) in items.iter().zip(values).enumerate() {
                compare_into(item, Some(value), &format!("{path}[{at}]"), exactly, found);
            }
        }
        (YamlValue::Text(text), Value::String(value)) => match pattern(text) {
            Some(Ok(pattern)) if pattern.is_match(value.as_str()) => {}
            Some(_) => {
                let message = format!("`{path}` is {}, which does not match {text}", show_json(actual));
                found.push(CaseProblem::of(expected, message));
            }
            None if text == value => {}
            None => found.push(differs()),
        },
        (YamlValue::Plain(plain, _), _) if is_equal(plain, actual) => {}
        _ => found.push(differs()),
    }
}

/// Whether two plain values are equal; 1 and 1.0 are.
fn is_equal(expected: &Value, actual: &Value) -> bool {
    match (expected, actual) {
        (Value::Number(a), Value::Number(b)) => is_same_number(a, b),
        _ => expected == actual,
    }
}

/// Whether two numbers are equal. Integers are not compared as floats, which would take neighbours above 2^53 for equal.
fn is_same_number(a: &Number, b: &Number) -> bool {
    let float = |number: &Number| number.as_f64().unwrap_or(f64::NAN);
    match (a.as_i128(), b.as_i128()) {
        (Some(a), Some(b)) => a == b,
        (None, None) => float(a) == float(b),
        (Some(integer), None) => is_integer(float(b), integer),
        (None, Some(integer)) => is_integer(float(a), integer),
    }
}

fn is_integer(float: f64, integer: i128) -> bool {
    // A cast truncates, and saturates at bounds that no integer of JSON reaches.
    #[allow(clippy::cast_possible_truncation)]
    let whole = float as i128;
    float.fract() == 0.0 && whole == integer
}

fn show(node: &YamlNode) -> String {
    node.to_json().map_or_else(|(_, written)| written, |json| show_json(&json))
}

fn show_json(value: &Value) -> String {
    mention(&value.to_string(), SHOWN)
}

#[cfg(test)]
mod tests {
    use loggia_workflow::yaml;
    use serde_json::json;

    use super::*;

    fn differences(expected: &str, actual: Value, exactly: bool) -> String {
        let tree = yaml::parse(expected).unwrap();
        let found = compare(&tree.root, Some(&actual), "data", exactly);
        found.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn expected_parts_are_found() {
        for (expected, actual) in [
            ("{a: 1}", json!({"a": 1, "b": 2})),
            ("{a: 1}", json!({"a": 1.0})),
            ("{a: {b: [1, {c: x}]}}", json!({"a": {"b": [1, {"c": "x", "d": 1}]}})),
            ("{a: null}", json!({"b": 1})),
            ("{a: null}", json!({"a": null})),
            ("{a: '/^n_[0-9]+$/'}", json!({"a": "n_12"})),
            ("a/b/", json!("a/b/")),
            ("[]", json!([])),
            ("true", json!(true)),
            ("9007199254740993", json!(9_007_199_254_740_993_u64)),
            ("9007199254740992", json!(9_007_199_254_740_992.0)),
            ("0.5", json!(0.5)),
        ] {
            assert_eq!(differences(expected, actual, false), "", "{expected}");
        }
        assert_eq!(differences("{a: /1/, b: [2]}", json!({"a": "010", "b": [2]}), true), "");
    }

    #[test]
    fn differences_are_reported_at_their_places() {
        let check = |expected: &str, actual: Value, exactly: bool, reported: &str| {
            assert_eq!(differences(expected, actual, exactly), reported, "{expected}");
        };
        check("{a: 1}", json!({"a": 2}), false, "line 1, column 5: `data.a` is 2, expected 1");
        check("{a: 1}", json!({}), false, "line 1, column 5: `data.a` is missing, expected 1");
        check("{a: 1}", json!({"a": 1, "b": 2}), true, "line 1, column 1: `data.b` is not expected");
        check(
            "a:\n  - x\n  - /y+/\n",
            json!({"a": ["z", "n"]}),
            false,
            "line 2, column 5: `data.a[0]` is \"z\", expected \"x\"\n\
             line 3, column 5: `data.a[1]` is \"n\", which does not match /y+/",
        );
        check("[1]", json!([1, 2]), false, "line 1, column 1: `data` has 2 items, expected 1: [1,2]");
        let (one, other) = ("9007199254740992", 9_007_199_254_740_993_u64);
        check(
            one,
            json!(other),
            false,
            "line 1, column 1: `data` is 9007199254740993, expected 9007199254740992",
        );
        check("1", json!(1.5), false, "line 1, column 1: `data` is 1.5, expected 1");
        check("'1'", json!(1), false, "line 1, column 1: `data` is 1, expected \"1\"");
        check("{a: /x/}", json!({"a": 5}), false, "line 1, column 5: `data.a` is 5, expected \"/x/\"");
    }
}
