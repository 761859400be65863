//! The part of a parameter's text that a model needs for a valid first call. `describe` returns the whole text.
//!
//! Kept: the author's first clause, later clauses that state a condition, and constraints that an ordinary value may
//! break. Left out: further explanations, wide bounds and defaults, which the errors of the gate name as well.

use std::collections::HashSet;

use serde_json::Value;

use crate::{
    model::{constraints, formats, keywords, sanitise::sanitise_line},
    text::show::cut,
};

/// Characters of a pattern.
const PATTERN: usize = 60;
/// Numbers from here on are rarely exceeded by an ordinary value.
const WIDE: f64 = 100.0;
/// The same for characters and items.
const LONG: u64 = 10;
/// Words that begin or mark a condition of a valid call.
const CONDITIONS: [&str; 8] =
    ["must", "required", "requires", "need", "needs", "needed", "either", "exactly"];
/// Words that add nothing to a name.
const FILLERS: [&str; 25] = [
    "a", "an", "the", "of", "to", "in", "is", "it", "its", "this", "that", "for", "or", "and", "with", "be",
    "one", "which", "what", "whether", "value", "name", "id", "new", "whole",
];

/// The brief text of a parameter. Empty if its name and values say as much.
pub(crate) fn brief(name: &str, schema: &Value) -> String {
    let text = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    let text = sanitise_line(text, usize::MAX);
    let names = |clause: &str| named_values(schema).any(|value| clause.contains(&format!("`{value}`")));
    let is_plain = |clause: &str| {
        // `cursor` means the same everywhere, and the words of an `enum` are chosen to be understood.
        repeats(name, clause)
            || name == "cursor"
            || clause.to_lowercase().starts_with("default")
            || named_values(schema).next().is_some() && !names(clause)
    };
    let mut parts: Vec<&str> = clauses(&text, &[';'])
        .enumerate()
        .filter(|(index, clause)| *index == 0 && !is_plain(clause) || *index > 0 && is_condition(clause))
        .map(|(_, clause)| clause)
        .collect();
    let needed = needed_constraints(schema).join(", ");
    if !needed.is_empty() {
        parts.push(&needed);
    }
    parts.join("; ")
}

/// The brief summary of an action: its first sentence, and those that state a condition.
pub(crate) fn brief_summary(text: &str) -> String {
    let mut sentences = clauses(text, &[]);
    let first = sentences.next().unwrap_or_default().to_owned();
    sentences
        .filter(|sentence| is_condition(sentence))
        .fold(first, |out, sentence| format!("{out}. {sentence}"))
}

/// The words of an `enum` that clients see, of a schema or of the items of its list.
fn named_values(schema: &Value) -> impl Iterator<Item = &str> {
    let items = [Some(schema), schema.get("items")].into_iter().flatten().filter_map(Value::as_object);
    let values = items.filter_map(keywords::allowed_values).flatten();
    values.filter_map(Value::as_str)
}

/// Splits a text into sentences, and also after these characters. Text between backticks or in brackets is not split.
pub(crate) fn clauses<'a>(text: &'a str, ends: &[char]) -> impl Iterator<Item = &'a str> {
    let (mut start, mut quoted, mut depth, mut out) = (0, false, 0_usize, Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '`' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
        let ends = matches!(c, '.' | '!' | '?') || ends.contains(&c);
        let ends = ends && text[at + 1..].chars().next().is_none_or(|next| next == ' ');
        // `e.g. this` and `i.e. that` are no ends of a sentence.
        if ends && !quoted && depth == 0 && !text[..at].ends_with("e.g") && !text[..at].ends_with("i.e") {
            out.push(text[start..at].trim());
            start = at + 1;
        }
    }
    out.push(text[start..].trim());
    out.into_iter().filter(|clause| !clause.is_empty())
}

/// Whether a clause says what a call must satisfy.
fn is_condition(clause: &str) -> bool {
    words(clause).any(|word| CONDITIONS.contains(&word.as_str()))
}

/// Whether a text says no more than the name: `Name of the author.` of `author_name`. Literals in backticks say more.
pub(crate) fn repeats(name: &str, clause: &str) -> bool {
    let name: Vec<String> = words(name).map(|word| singular(&word)).collect();
    !clause.contains('`')
        && words(clause).all(|word| FILLERS.contains(&&*word) || name.contains(&singular(&word)))
}

/// Whether two brief texts say the same: their first clauses differ in few words, not in numbers, and the rest is equal.
pub(crate) fn are_alike(one: &str, other: &str) -> bool {
    let (one, rest) = one.split_once("; ").unwrap_or((one, ""));
    let (other, same) = other.split_once("; ").unwrap_or((other, ""));
    let (one, other): (HashSet<String>, HashSet<String>) = (words(one).collect(), words(other).collect());
    let shared = one.intersection(&other).count();
    rest == same
        && !one.is_empty()
        && 10 * shared >= 6 * (one.len() + other.len() - shared)
        && !one.symmetric_difference(&other).any(|word| word.contains(|c: char| c.is_ascii_digit()))
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

fn singular(word: &str) -> String {
    word.strip_suffix('s').unwrap_or(word).to_owned()
}

/// The constraints that an ordinary value may break, in words.
fn needed_constraints(schema: &Value) -> Vec<String> {
    let mut out = Vec::new();
    let text = |key: &str| schema.get(key).and_then(Value::as_str);
    let count = |key: &str| schema.get(key).and_then(Value::as_u64);
    let number = |key: &str| schema.get(key).and_then(Value::as_f64);
    out.extend(constraints::values_in_words(schema));
    let is_narrow =
        ["maximum", "exclusiveMaximum"].iter().any(|key| number(key).is_some_and(|most| most < WIDE));
    if is_narrow || schema.get("multipleOf").is_some() {
        constraints::number_range(schema, &mut out);
    }
    for (least, most, unit) in [("minLength", "maxLength", "character"), ("minItems", "maxItems", "item")] {
        let is_short = count(most).is_some_and(|most| most < LONG) && named_values(schema).next().is_none();
        if is_short || count(least).is_some_and(|least| least > 1) {
            out.extend(constraints::span(count(least), count(most), unit));
        }
    }
    if let Some(format) = text("format").filter(|format| formats::find(format).is_some()) {
        out.push(format.to_owned());
    }
    if let Some(pattern) = text("pattern") {
        out.push(format!("matches {}", cut(pattern, PATTERN)));
    }
    if let Some(items) = schema.get("items") {
        let each = needed_constraints(items);
        if !each.is_empty() {
            out.push(format!("each {}", each.join(" and ")));
        }
    }
    if schema.get("deprecated") == Some(&Value::Bool(true)) {
        out.push("deprecated".into());
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_brief_text_has_what_a_first_call_needs() {
        for (name, schema, expected) in [
            ("p", json!({}), ""),
            ("p", json!({"description": "How it goes. More of it."}), "How it goes"),
            ("p", json!({"description": "How it goes; more of it."}), "How it goes"),
            (
                "p",
                json!({"description": "Lines (`1-3`; `5-4` inserts). More."}),
                "Lines (`1-3`; `5-4` inserts)",
            ),
            ("p", json!({"description": "A mark, e.g. `a. b`. More."}), "A mark, e.g. `a. b`"),
            (
                "p",
                json!({"description": "Seen; required to replace `q`; nice."}),
                "Seen; required to replace `q`",
            ),
            // Names, and the words of an `enum`, speak for themselves.
            ("author_name", json!({"description": "Name of the author."}), ""),
            ("cursor", json!({"description": "From the last answer."}), ""),
            ("title", json!({"description": "Default: that of the text."}), ""),
            ("kind", json!({"description": "Which sort.", "enum": ["a", "b"]}), ""),
            ("kind", json!({"description": "`a` is the newest.", "enum": ["a", "b"]}), "`a` is the newest"),
            (
                "kinds",
                json!({"description": "Only these.", "items": {"enum": ["a", "b"]}, "maxItems": 2}),
                "",
            ),
            // Bounds that an ordinary value may break.
            ("p", json!({"minimum": 1, "maximum": 50, "default": 10}), "1-50"),
            ("p", json!({"minimum": 1, "maximum": 1000}), ""),
            ("p", json!({"minLength": 1, "maxLength": 4000}), ""),
            ("p", json!({"maxLength": 2}), "max 2 characters"),
            ("p", json!({"minItems": 2}), "min 2 items"),
            ("p", json!({"enum": [1, 2]}), "one of 1, 2"),
            ("p", json!({"format": "date"}), "date"),
            ("p", json!({"format": "int64"}), ""),
            ("p", json!({"description": "An id.", "pattern": "^n_[0-9]+$"}), "matches ^n_[0-9]+$"),
            ("p", json!({"items": {"format": "date-time"}}), "each date-time"),
        ] {
            assert_eq!(brief(name, &schema), expected, "{name} {schema}");
        }
    }

    #[test]
    fn a_brief_summary_is_the_first_sentence_with_conditions() {
        for (text, expected) in [
            ("Add a note.", "Add a note"),
            ("Transfer money. The person is asked.", "Transfer money"),
            ("Change it; or create it. It must be open. Good.", "Change it; or create it. It must be open"),
            ("", ""),
        ] {
            assert_eq!(brief_summary(text), expected);
        }
    }

    #[test]
    fn alike_texts_differ_in_few_words() {
        assert!(are_alike("Only entries whose name matches", "Only files whose name matches"));
        assert!(!are_alike("A directory", "A directory, searched recursively, or a file"));
        assert!(!are_alike("", ""));
        let bounded = |bounds: &str| format!("How many results to return at most; {bounds}");
        assert!(are_alike(&bounded("1-50"), &bounded("1-50")));
        assert!(!are_alike(&bounded("1-50"), &bounded("1-20")));
        assert!(!are_alike("One of the first 10 names", "One of the first 20 names"));
    }
}
