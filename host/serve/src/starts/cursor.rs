//! Pure: how far the changes of a state have started a workflow. Servers share the cursor, so that each change counts.
//!
//! A start is recorded in the cursor before it is made, and made by whoever finds it there: its run follows from it, so that it is
//! made once. Only then does the cursor move on.

use loggia_facade::Object;
use loggia_state::{ChangeMark, SpaceChanges};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Pause after a start, at least: changes within it start one run.
const PAUSE_LEAST: u64 = 1000;
/// Pause after the starts of a row, at most: a workflow that changes what it watches starts no more often.
const PAUSE_MOST: u64 = 10_000;
/// Time after a pause within which a change counts as of the same row.
const ROW_GAP: u64 = 2000;
/// Starts of a row after which the operator is warned.
pub(super) const LONG_ROW: u32 = 20;
/// Time by which the clocks of servers may differ.
const SKEW: u64 = 60_000;

/// How far changes have started a workflow. All times are in milliseconds since 1970.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StartCursor {
    /// The changes until here have started their runs, or will by `pending`.
    mark: StoredMark,
    /// A start that is recorded, and perhaps made.
    pending: Option<PendingStart>,
    /// Time of the last start.
    started: u64,
    /// Starts in a row, each soon after the one before.
    row: u32,
}

/// A mark, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct StoredMark {
    version: u64,
    key: Option<String>,
}

/// A start of a workflow for some changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PendingStart {
    /// The keys, the first change first.
    keys: Vec<String>,
    /// Whether there were further ones, which start another run.
    more: bool,
    /// The point after them, which tells one start from another.
    mark: StoredMark,
}

impl StartCursor {
    /// Begins with the changes after a revision.
    pub(super) fn begin(revision: u64) -> Self {
        Self { mark: StoredMark { version: revision, key: None }, pending: None, started: 0, row: 0 }
    }

    /// The start that is to be made now.
    pub(super) fn pending(&self) -> Option<&PendingStart> {
        self.pending.as_ref()
    }

    /// The point after which changes count. A store whose counter is behind it is another one, all of whose keys count.
    pub(super) fn mark(&self, revision: u64) -> ChangeMark {
        let StoredMark { version, key } = self.mark.clone();
        if version > revision { ChangeMark { version: 0, key: None } } else { ChangeMark { version, key } }
    }

    /// Whether the pause after the last start is over.
    pub(super) fn may_start(&self, now: u64) -> bool {
        self.time_since_start(now) >= self.pause()
    }

    /// Adds a start for changes.
    pub(super) fn with_start(&self, changes: SpaceChanges, now: u64) -> Self {
        let is_in_row = self.time_since_start(now) < self.pause() + ROW_GAP;
        let mark = StoredMark { version: changes.mark.version, key: changes.mark.key };
        let keys = changes.keys.into_iter().map(|changed| changed.key).collect();
        Self {
            mark: mark.clone(),
            pending: Some(PendingStart { keys, more: changes.more, mark }),
            started: self.started,
            row: if is_in_row { self.row.saturating_add(1) } else { 0 },
        }
    }

    /// The cursor once the start is made.
    pub(super) fn after_start(&self, now: u64) -> Self {
        Self { pending: None, started: now, ..self.clone() }
    }

    /// Whether so many starts in a row have been made that the workflow probably causes them.
    pub(super) fn is_long_row(&self) -> bool {
        self.row == LONG_ROW
    }

    fn pause(&self) -> u64 {
        (PAUSE_LEAST << self.row.min(8)).min(PAUSE_MOST)
    }

    fn time_since_start(&self, now: u64) -> u64 {
        // A start by another server's clock that is far ahead, or before this one's was set back, would last.
        if self.started > now.saturating_add(SKEW) { u64::MAX } else { now.saturating_sub(self.started) }
    }
}

impl PendingStart {
    /// Text that tells this start from all others of its workflow.
    pub(super) fn cause(&self) -> String {
        format!("{}/{}", self.mark.version, self.mark.key.as_deref().unwrap_or_default())
    }

    /// Parameters of the run.
    pub(super) fn to_params(&self, facade: &str, parameter: &str) -> Object {
        let change =
            json!({"facade": facade, "keys": self.keys, "version": self.mark.version, "more": self.more});
        Object::from_iter([(parameter.to_owned(), change)])
    }
}

#[cfg(test)]
mod tests {
    use loggia_state::ChangedKey;

    use super::*;

    fn changes(version: u64, keys: &[&str]) -> SpaceChanges {
        let keys = keys.iter().map(|key| ChangedKey { key: (*key).to_owned(), version }).collect();
        SpaceChanges { keys, mark: ChangeMark { version, key: None }, more: false, revision: version }
    }

    #[test]
    fn a_start_is_pending_until_it_is_made() {
        let cursor = StartCursor::begin(7);
        assert_eq!(cursor.mark(7), ChangeMark { version: 7, key: None });
        assert_eq!(cursor.mark(6), ChangeMark { version: 0, key: None }, "another store");
        assert!(cursor.may_start(150_000) && cursor.pending().is_none());
        let cursor = cursor.with_start(changes(9, &["b", "a"]), 150_000);
        let pending = cursor.pending().unwrap();
        assert_eq!(pending.cause(), "9/");
        let params = pending.to_params("notes", "change");
        let expected = json!({"facade": "notes", "keys": ["b", "a"], "version": 9, "more": false});
        assert_eq!(params["change"], expected);
        let read: StartCursor = serde_json::from_slice(&serde_json::to_vec(&cursor).unwrap()).unwrap();
        assert_eq!(read, cursor);
        let cursor = cursor.after_start(151_000);
        assert!(cursor.pending().is_none());
        assert_eq!(cursor.mark(9).version, 9);
        assert_eq!([151_999, 152_000].map(|now| cursor.may_start(now)), [false, true]);
        assert!(cursor.may_start(0), "the clock was set back by far");
    }

    /// A workflow that changes what it watches, at each of its runs.
    #[test]
    fn loops_slow_down_and_rare_changes_do_not() {
        let starts_within = |span: u64, gap: u64| {
            let (mut cursor, mut now, mut starts, mut long) = (StartCursor::begin(0), 1_000_000, 0, 0);
            let end = now + span;
            while now < end {
                if cursor.may_start(now) {
                    cursor = cursor.with_start(changes(now, &["a"]), now);
                    long += u32::from(cursor.is_long_row());
                    cursor = cursor.after_start(now);
                    starts += 1;
                    now += gap;
                } else {
                    now += 100;
                }
            }
            (starts, long)
        };
        let hour = 3_600_000;
        let (starts, long) = starts_within(hour, 0);
        assert!((355..=370).contains(&starts) && long == 1, "{starts} {long}");
        assert_eq!(starts_within(hour, 15_000), (240, 0), "each is made at once");
    }
}
