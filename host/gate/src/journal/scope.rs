//! Entries of the calls within a run: those of a durable call that another one makes are marked with its key.

use std::collections::BTreeMap;

/// First byte of a marked entry. A facade's entries are JSON, which never begins with it.
const MARK: u8 = 1;

/// A durable call within a run: its idempotency key, and the number of calls that had the same key before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CallScope {
    key: String,
    number: u32,
}

impl CallScope {
    /// Marks an entry of this call.
    pub(crate) fn mark(&self, entry: &[u8]) -> Vec<u8> {
        let mut marked = vec![MARK];
        marked.extend(self.number.to_le_bytes());
        // Keys are far shorter: they are made of a run's id and steps' names.
        marked.extend(u32::try_from(self.key.len()).unwrap_or(u32::MAX).to_le_bytes());
        marked.extend(self.key.as_bytes());
        marked.extend(entry);
        marked
    }

    /// Reads a marked entry. `None` for one of the run itself.
    fn read(entry: &[u8]) -> Option<(Self, &[u8])> {
        let rest = entry.strip_prefix(&[MARK])?;
        let (number, rest) = rest.split_first_chunk()?;
        let (length, rest) = rest.split_first_chunk()?;
        let (key, entry) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        let key = String::from_utf8(key.to_vec()).ok()?;
        Some((Self { key, number: u32::from_le_bytes(*number) }, entry))
    }
}

/// Returns the entries of a run itself, without those of calls within it.
pub fn own_entries(entries: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    entries.into_iter().filter(|entry| CallScope::read(entry).is_none()).collect()
}

/// Entries of earlier processes, by call.
#[derive(Default)]
pub(crate) struct RunHistory {
    /// Those of the run itself, until they are taken.
    pub own: Option<Vec<Vec<u8>>>,
    nested: BTreeMap<String, NestedHistory>,
}

/// Entries of the calls with one key.
#[derive(Default)]
struct NestedHistory {
    /// Number of calls that began.
    begun: u32,
    /// Entries of the last one, until they are taken.
    last: Option<Vec<Vec<u8>>>,
}

impl RunHistory {
    /// Sorts entries by their calls.
    pub(crate) fn from_entries(entries: Vec<Vec<u8>>) -> Self {
        let mut history = Self { own: Some(Vec::new()), nested: BTreeMap::new() };
        for entry in entries {
            match CallScope::read(&entry) {
                None => history.own.get_or_insert_default().push(entry),
                Some((scope, entry)) => {
                    let calls = history.nested.entry(scope.key).or_default();
                    if scope.number >= calls.begun {
                        *calls = NestedHistory { begun: scope.number.saturating_add(1), last: None };
                    }
                    calls.last.get_or_insert_default().push(entry.to_vec());
                }
            }
        }
        history
    }

    /// Returns the scope and the entries of a call: those of the last one with its key, if no call has gone on from them.
    /// Otherwise it is a new call, such as a step that is retried.
    pub(crate) fn take_nested(&mut self, key: &str) -> (CallScope, Vec<Vec<u8>>) {
        let calls = self.nested.entry(key.to_owned()).or_default();
        let key = key.to_owned();
        match calls.last.take() {
            Some(entries) => (CallScope { key, number: calls.begun.saturating_sub(1) }, entries),
            None => {
                let number = calls.begun;
                calls.begun = number.saturating_add(1);
                (CallScope { key, number }, Vec::new())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(texts: &[&str]) -> Vec<Vec<u8>> {
        texts.iter().map(|text| text.as_bytes().to_vec()).collect()
    }

    #[test]
    fn entries_are_sorted_by_the_call_they_are_of() {
        let scope = |key: &str, number| CallScope { key: key.into(), number };
        let mut entries = bytes(&["{1}"]);
        for (key, number, text) in [("a", 0, "x"), ("b", 0, "y"), ("a", 0, "z"), ("a", 1, "w")] {
            entries.push(scope(key, number).mark(text.as_bytes()));
        }
        entries.extend(bytes(&["{2}"]));
        assert_eq!(own_entries(entries.clone()), bytes(&["{1}", "{2}"]));
        let mut history = RunHistory::from_entries(entries);
        assert_eq!(history.own, Some(bytes(&["{1}", "{2}"])));
        assert_eq!(history.take_nested("a"), (scope("a", 1), bytes(&["w"])), "the last of two");
        assert_eq!(history.take_nested("a"), (scope("a", 2), bytes(&[])), "a retry");
        assert_eq!(history.take_nested("b"), (scope("b", 0), bytes(&["y"])));
        assert_eq!(history.take_nested("c"), (scope("c", 0), bytes(&[])));
    }

    #[test]
    fn damaged_marks_are_no_marks() {
        for entry in [&[MARK][..], &[MARK, 0, 0, 0], &[MARK, 0, 0, 0, 0, 9, 0, 0, 0, b'a'], b"{}", b""] {
            assert_eq!(CallScope::read(entry), None, "{entry:?}");
        }
    }
}
