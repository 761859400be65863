//! JSON cut to a budget: lists lose items from their end, long texts their end, and the reader learns what is missing.

use loggia_facade::Object;
use serde_json::Value;

/// A value within its budget.
#[derive(Debug, PartialEq)]
pub(super) struct CutValue {
    pub(super) value: Value,
    /// What is missing, one phrase each: "`items`: 20 of 100".
    pub(super) notes: Vec<String>,
}

/// Notes that are kept.
const NOTES: usize = 8;
/// Bytes of the shortest text that is cut.
const TEXT: usize = 64;
/// Bytes that a value keeps even where there is no room: an identifier, a link.
const LEAST: usize = 96;

/// Cuts a value to about `budget` bytes as JSON.
pub(super) fn cut(value: Value, budget: usize) -> CutValue {
    let mut cutter = Cutter { notes: Vec::new(), more: 0 };
    let mut value = value;
    // What is kept of each member adds up to a little more than the share of all, so a second look may be needed.
    let mut share = budget;
    for _ in 0..6 {
        let bytes = size(&value);
        if bytes <= budget {
            break;
        }
        cutter.shrink(&mut value, share, &mut Vec::new());
        share = share * 7 / 10;
    }
    if size(&value) > budget {
        value = Value::Null;
        cutter.notes.push("everything: its structure alone is too large".into());
    }
    let mut notes = cutter.notes;
    if cutter.more > 0 {
        notes.push(format!("and {} more places", cutter.more));
    }
    CutValue { value, notes }
}

struct Cutter {
    notes: Vec<String>,
    more: usize,
}

impl Cutter {
    fn note(&mut self, path: &[String], what: &str) {
        let place = if path.is_empty() { "the response".to_owned() } else { format!("`{}`", path.join(".")) };
        let beginning = format!("{place}: ");
        if let Some(known) = self.notes.iter_mut().find(|note| note.starts_with(&beginning)) {
            *known = format!("{beginning}{what}");
        } else if self.notes.len() < NOTES {
            self.notes.push(format!("{beginning}{what}"));
        } else {
            self.more += 1;
        }
    }

    fn shrink(&mut self, value: &mut Value, budget: usize, path: &mut Vec<String>) {
        if size(value) <= budget {
            return;
        }
        match value {
            Value::String(text) => {
                let most = budget.saturating_sub(2).max(TEXT);
                let all = text.len();
                if all > most {
                    loggia_text::shorten_bytes(text, most);
                    self.note(path, &format!("{} of {all} bytes", text.len()));
                }
            }
            Value::Array(items) => self.shrink_list(items, budget, path),
            Value::Object(members) => self.shrink_members(members, budget, path),
            _ => {}
        }
    }

    /// Keeps whole items from the beginning, at least one.
    fn shrink_list(&mut self, items: &mut Vec<Value>, budget: usize, path: &mut Vec<String>) {
        let all = items.len();
        let mut left = budget.saturating_sub(2);
        let fitting = items
            .iter()
            .take_while(|item| {
                let bytes = size(item) + 1;
                let fits = bytes <= left;
                left = left.saturating_sub(bytes);
                fits
            })
            .count();
        if fitting == 0
            && let Some(first) = items.first_mut()
        {
            path.push("0".into());
            self.shrink(first, budget.saturating_sub(3), path);
            path.pop();
        }
        if fitting.max(1) < all {
            items.truncate(fitting.max(1));
            self.note(path, &format!("{} of {all} items", fitting.max(1)));
        }
    }

    /// Shares the budget among members: small ones stay whole, large ones get equal parts of the rest.
    fn shrink_members(&mut self, members: &mut Object, budget: usize, path: &mut Vec<String>) {
        let names: usize = members.keys().map(|name| name.len() + 4).sum();
        let mut sizes: Vec<usize> = members.values().map(size).collect();
        sizes.sort_unstable();
        let mut left = budget.saturating_sub(names + 2);
        let mut share = 0;
        for (index, bytes) in sizes.iter().enumerate() {
            share = left / (sizes.len() - index);
            if *bytes > share {
                break;
            }
            left -= bytes;
        }
        let share = share.max(LEAST);
        for (name, value) in members.iter_mut() {
            path.push(loggia_text::mention(name, 64));
            self.shrink(value, share, path);
            path.pop();
        }
    }
}

/// Bytes of a value as JSON.
pub(super) fn size(value: &Value) -> usize {
    match value {
        Value::Null => 4,
        Value::Bool(flag) => 5 - usize::from(*flag),
        Value::Number(number) => number.to_string().len(),
        Value::String(text) => text_size(text),
        Value::Array(items) => 2 + items.len().saturating_sub(1) + items.iter().map(size).sum::<usize>(),
        Value::Object(members) => {
            let inner = members.iter().map(|(name, value)| text_size(name) + 1 + size(value)).sum::<usize>();
            2 + members.len().saturating_sub(1) + inner
        }
    }
}

fn text_size(text: &str) -> usize {
    let escapes = text.bytes().map(|byte| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 8 | 12 => 1,
        0..=0x1f => 5,
        _ => 0,
    });
    2 + text.len() + escapes.sum::<usize>()
}
