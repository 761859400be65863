//! How much of a result fits.

use serde_json::Value;

use super::long_part::{LongPart, find, size};

/// Bytes of a text by whose tokens those of the whole are estimated: counting all of a long text would take longer than the call.
const SAMPLE: usize = 16 << 10;
/// Share of the budget for the result's own text, in percent: the rest is for what explains the cut, and for the estimate's error.
const OWN: usize = 85;

/// Number of tokens that a result may have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TokenBudget(pub usize);

/// Bytes that an item of a text may have, however little of it fits.
const LEAST_ITEM: usize = 2000;

/// A result that was cut.
#[derive(Debug)]
pub(super) struct CutResult {
    /// The result with as many items as fit.
    pub shown: Value,
    /// Number of these items.
    pub count: usize,
    /// All of them.
    pub part: LongPart,
}

impl TokenBudget {
    /// Returns true if a text of this length fits, whatever it says: a token has at least one byte.
    pub(crate) fn surely_fits(self, bytes: usize) -> bool {
        bytes <= self.0
    }

    /// Returns true if a text fits.
    pub(crate) fn fits(self, text: &str) -> bool {
        self.surely_fits(text.len()) || text.len() <= self.bytes(text)
    }

    /// Number of bytes of a text like this one that fit.
    fn bytes(self, text: &str) -> usize {
        let sample = &text[..text.floor_char_boundary(SAMPLE)];
        // Counted whole where it is short, so that the estimate is exact.
        let tokens = loggia_tokens::count(sample).max(1);
        self.0.saturating_mul(sample.len().max(1)) / tokens
    }

    /// Cuts a value whose JSON text does not fit.
    pub(super) fn cut(self, mut value: Value, text: &str) -> CutResult {
        let most = self.bytes(text) * OWN / 100;
        let whole = size(&value);
        let long = find(&mut value);
        let around = whole - size(long);
        // An item that takes more than half of it would leave no choice of where to cut.
        let part = LongPart::split(long.take(), (most / 2).max(1));
        let count = part.prefix(0, most.saturating_sub(around));
        *long = part.joined(0, count);
        CutResult { shown: value, count, part }
    }

    /// What is left of it beside a text.
    pub(super) fn beside(self, text: &str) -> Self {
        let fitting = self.bytes(text).max(1);
        Self(self.0.saturating_sub(self.0.saturating_mul(text.len()) / fitting))
    }

    /// Splits a text that does not fit; returns the number of items that do, too.
    pub(super) fn cut_text(self, text: &str) -> (LongPart, usize) {
        let most = self.bytes(text) * OWN / 100;
        let part = LongPart::split(Value::from(text), (most / 2).max(LEAST_ITEM));
        let count = part.prefix(0, most);
        (part, count)
    }

    /// Number of items from a place on that fit: at least one, if there is one.
    pub(super) fn items(self, part: &LongPart, from: usize) -> usize {
        let sample = part.joined(from, from.saturating_add(64).min(part.items.len())).to_string();
        part.prefix(from, self.bytes(&sample) * OWN / 100).max(1)
    }
}

impl LongPart {
    /// Number of items from a place on whose JSON has at most `most` bytes.
    fn prefix(&self, from: usize, most: usize) -> usize {
        let mut left = most;
        let items = self.items.get(from..).unwrap_or_default();
        let fitting = items.iter().take_while(|item| match left.checked_sub(size(item) + 1) {
            Some(rest) => {
                left = rest;
                true
            }
            None => false,
        });
        fitting.count()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_cut_result_fits_and_uses_most_of_its_budget() {
        let rows: Vec<Value> =
            (0..5000).map(|n| json!({"id": n, "title": format!("note {n}"), "tags": ["a", "b"]})).collect();
        let prose = "A line of prose with ordinary words, as files have it.\n".repeat(4000);
        for (value, budget) in [
            (json!(rows), 2000),
            (json!({"data": {"rows": rows}, "note": "x"}), 5000),
            (json!(prose), 3000),
            (json!("漢字".repeat(20_000)), 1000),
            (json!([{"body": prose}]), 1000),
        ] {
            let text = value.to_string();
            let budget = TokenBudget(budget);
            assert!(!budget.fits(&text));
            let CutResult { shown, count, part } = budget.cut(value, &text);
            let tokens = loggia_tokens::count(&shown.to_string());
            assert!(tokens <= budget.0, "{tokens} of {}", budget.0);
            assert!(tokens >= budget.0 / 2, "{tokens} of {}", budget.0);
            assert!(count > 0 && count < part.items.len());
        }
    }
}
