//! The part of a result that makes it long.

use loggia_facade::Object;
use serde_json::Value;

/// Share of a value's size that one of its members must have to be searched alone, in percent.
const DOMINANT: usize = 80;
/// Most characters of a piece of a text that has no lines.
const PIECE: usize = 1000;
/// Pieces that fit into the room of an item, of characters of any length.
const PIECES: usize = 16;

/// What the part consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ItemKind {
    /// Values of an array.
    Rows,
    /// Members of an object, each as an object of its own.
    Members,
    /// Lines of a text.
    Lines,
    /// Pieces of a text whose lines are too long.
    Pieces,
}

impl ItemKind {
    /// The word for callers.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Rows => "rows",
            Self::Members => "members",
            Self::Lines => "lines",
            Self::Pieces => "pieces",
        }
    }
}

/// The part of a result that makes it long, as items that can be shown separately.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LongPart {
    /// What it consists of.
    pub kind: ItemKind,
    /// Values of rows, single-member objects, or texts.
    pub items: Vec<Value>,
}

/// Size of a value's JSON in bytes, roughly.
pub(super) fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() + 2,
        Value::Array(items) => 2 + items.iter().map(|item| size(item) + 1).sum::<usize>(),
        Value::Object(members) => {
            2 + members.iter().map(|(name, value)| name.len() + 4 + size(value)).sum::<usize>()
        }
        Value::Null => 4,
        Value::Bool(_) => 5,
        Value::Number(_) => 8,
    }
}

/// Finds the long part of a value: the value itself, or what is in the one member that has nearly all of its size.
pub(super) fn find(value: &mut Value) -> &mut Value {
    let whole = size(value);
    let dominates = |inner: &Value| {
        let is_long = matches!(inner, Value::Array(_) | Value::Object(_) | Value::String(_));
        is_long && size(inner) * 100 >= whole * DOMINANT
    };
    let key = match &*value {
        Value::Object(members) => {
            members.iter().find(|(_, inner)| dominates(inner)).map(|(key, _)| key.clone())
        }
        _ => None,
    };
    match key {
        // The key was found in it.
        Some(key) => find(&mut value[key.as_str()]),
        None => value,
    }
}

impl LongPart {
    /// Splits a value into items of at most `most` bytes. Rows that are longer become lines of formatted JSON, and lines that are
    /// longer become pieces.
    pub(super) fn split(value: Value, most: usize) -> Self {
        let fits = |items: &[Value]| items.iter().all(|item| size(item) <= most);
        let part = match value {
            Value::Array(items) => Self { kind: ItemKind::Rows, items },
            Value::Object(members) => {
                let single = |(name, value)| Value::Object(Object::from_iter([(name, value)]));
                Self { kind: ItemKind::Members, items: members.into_iter().map(single).collect() }
            }
            Value::String(text) => return Self::of_text(&text, most),
            other => Self { kind: ItemKind::Rows, items: vec![other] },
        };
        if fits(&part.items) {
            return part;
        }
        Self::of_text(
            &serde_json::to_string_pretty(&part.joined(0, part.items.len())).unwrap_or_default(),
            most,
        )
    }

    fn of_text(text: &str, most: usize) -> Self {
        let lines: Vec<Value> = text.split('\n').map(Value::from).collect();
        if lines.len() > 1 && lines.iter().all(|line| size(line) <= most) {
            return Self { kind: ItemKind::Lines, items: lines };
        }
        let chars: Vec<char> = text.chars().collect();
        let pieces = chars
            .chunks((most / PIECES).clamp(1, PIECE))
            .map(|piece| piece.iter().collect::<String>().into());
        Self { kind: ItemKind::Pieces, items: pieces.collect() }
    }

    /// Joins the items from one place up to another to a value of the kind that they were split from.
    pub(super) fn joined(&self, from: usize, to: usize) -> Value {
        let items = self.items.get(from..to).unwrap_or_default();
        let texts = || items.iter().filter_map(Value::as_str).collect::<Vec<_>>();
        match self.kind {
            ItemKind::Rows => items.to_vec().into(),
            ItemKind::Members => {
                let members = items.iter().filter_map(Value::as_object).flatten();
                members.map(|(name, value)| (name.clone(), value.clone())).collect::<Object>().into()
            }
            ItemKind::Lines => texts().join("\n").into(),
            ItemKind::Pieces => texts().concat().into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_long_part_is_where_nearly_all_of_the_size_is() {
        let rows: Vec<Value> = (0..100).map(|n| json!({"n": n, "text": "some words"})).collect();
        for (value, expected) in [
            (json!(rows), json!(rows)),
            (json!({"ok": true, "rows": rows}), json!(rows)),
            (json!({"a": {"b": rows}, "c": 1}), json!(rows)),
            (json!({"a": rows, "b": rows}), json!({"a": rows, "b": rows})),
            (json!({"body": "x".repeat(500), "n": 1}), json!("x".repeat(500))),
        ] {
            assert_eq!(*find(&mut value.clone()), expected);
        }
    }

    #[test]
    fn parts_are_split_at_whole_items_and_joined_again() {
        for (value, most, kind, count) in [
            (json!([1, 2, 3]), 100, ItemKind::Rows, 3),
            (json!({"a": 1, "b": [2]}), 100, ItemKind::Members, 2),
            (json!("one\ntwo\n"), 100, ItemKind::Lines, 3),
            (json!("é".repeat(2500)), 1600, ItemKind::Pieces, 25),
            (json!("\n"), 100, ItemKind::Lines, 2),
        ] {
            let part = LongPart::split(value.clone(), most);
            assert_eq!((part.kind, part.items.len()), (kind, count), "{value}");
            assert_eq!(part.joined(0, part.items.len()), value);
        }
        // A row that is too long is read as text.
        let part = LongPart::split(json!([{"a": "x".repeat(50), "b": 1}]), 70);
        assert_eq!(part.kind, ItemKind::Lines);
        assert_eq!(part.items[2], json!(format!("    \"a\": \"{}\",", "x".repeat(50))));
    }
}
