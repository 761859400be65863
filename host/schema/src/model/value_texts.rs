//! What the values of an `enum` mean, by their author: `low: Can wait; high: Now`.

use serde_json::Value;

use crate::{
    model::{
        brief::{clauses, repeats},
        sanitise::sanitise_line,
        simplify::VALUE_TEXTS,
    },
    text::show::cut,
};

/// Characters of a text.
const LONG: usize = 100;

/// A value, and the first clause of what its author says of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ValueText {
    pub(crate) value: String,
    pub(crate) text: String,
}

impl ValueText {
    /// Reads the texts of a schema, or of the items of its list. Those that only repeat their value are left out.
    pub(crate) fn of_schema(schema: &Value) -> Vec<Self> {
        let schemas = [Some(schema), schema.get("items")].into_iter().flatten();
        let texts = schemas.filter_map(|schema| schema.get(VALUE_TEXTS)?.as_object()).flatten();
        texts
            .filter_map(|(value, text)| {
                let text = sanitise_line(text.as_str()?, usize::MAX);
                let clause = clauses(&text, &[]).next().filter(|clause| !repeats(value, clause))?;
                Some(Self { value: value.clone(), text: cut(clause, LONG) })
            })
            .collect()
    }

    /// Adds texts of values that have none yet.
    pub(crate) fn merge(into: &mut Vec<Self>, more: Vec<Self>) {
        for other in more {
            if !into.iter().any(|known| known.value == other.value) {
                into.push(other);
            }
        }
    }

    /// Appends texts to a description, but not those of values that it names.
    pub(crate) fn append(description: String, texts: &[Self]) -> String {
        let is_new = |known: &&Self| !description.contains(&format!("`{}`", known.value));
        let lines = texts.iter().filter(is_new).map(|known| format!("{}: {}", known.value, known.text));
        let lines: Vec<String> = lines.collect();
        match (description.is_empty(), lines.is_empty()) {
            (_, true) => description,
            (true, false) => lines.join("; "),
            (false, false) => format!("{}; {}", description.trim_end_matches(['.', ';']), lines.join("; ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_of_values_follow_the_description() {
        let schema = json!({"enum": ["low", "mid", "high"],
            "x-values": {"low": "Can wait. More.", "mid": "Mid.", "high": "Now, or else."}});
        let texts = ValueText::of_schema(&schema);
        for (description, expected) in [
            ("", "low: Can wait; high: Now, or else"),
            ("How urgent.", "How urgent; low: Can wait; high: Now, or else"),
            ("`low` is the usual one", "`low` is the usual one; high: Now, or else"),
            ("`low` before `high`", "`low` before `high`"),
        ] {
            assert_eq!(ValueText::append(description.to_owned(), &texts), expected);
        }
        let items = json!({"items": {"enum": ["a"], "x-values": {"a": "The first."}}});
        let mut merged = ValueText::of_schema(&items);
        let others = [("a", "Another."), ("b", "The second.")];
        let others = others.map(|(value, text)| ValueText { value: value.to_owned(), text: text.to_owned() });
        ValueText::merge(&mut merged, others.to_vec());
        assert_eq!(ValueText::append(String::new(), &merged), "a: The first; b: The second.");
    }
}
