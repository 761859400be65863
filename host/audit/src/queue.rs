//! Lines on their way to the thread that writes them.

use std::{
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// Lines in the queue of the thread, of some 400 bytes each.
pub(crate) const QUEUED: usize = 16_384;
/// Lines that may wait before those of events other than calls are lost, if calls are refused: the rest is for calls that go on.
pub(crate) const QUEUED_EVENTS: usize = QUEUED / 4 * 3;
/// Lines that wait when calls are refused, if no line may be lost, and when they are no longer.
pub(crate) const CROWDED: usize = QUEUED / 2;
pub(crate) const CALM: usize = QUEUED / 8;
/// Memory that is kept for the next lines, in bytes.
const KEPT_BYTES: usize = 1 << 20;

/// What a line is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    /// A call that ran.
    Call,
    /// Anything else.
    Event,
}

/// A part of a line that the thread of the sink makes, since that takes long.
pub struct LinePart {
    /// Where it is in the line, in bytes.
    pub at: usize,
    /// Makes it. As many bytes are there in its place.
    pub make: Box<dyn FnOnce() -> String + Send>,
}

/// Lines on their way to the thread.
#[derive(Default)]
pub(crate) struct LineQueue {
    state: Mutex<QueueState>,
    /// Wakes the thread while it sleeps.
    wake: Condvar,
}

/// Locked for a moment by each line, and by the thread to take all of them.
#[derive(Default)]
struct QueueState {
    lines: QueuedLines,
    /// Set while the thread waits to be woken. While lines come, it looks for them by itself, so that no call wakes it: that would take
    /// longer than all else.
    sleeps: bool,
    closed: bool,
}

/// Lines one after another in one text: memory that one thread allocates and another one frees makes both wait.
#[derive(Default)]
pub(crate) struct QueuedLines {
    text: String,
    /// Where each ends.
    ends: Vec<usize>,
    /// Parts to be made, with the number of their line.
    parts: Vec<(usize, LinePart)>,
}

impl QueuedLines {
    /// Makes the missing parts. Returns how many cannot be made: their lines are written without them.
    pub(crate) fn make_parts(&mut self) -> usize {
        let mut lost = 0;
        for (line, LinePart { at, make }) in self.parts.drain(..) {
            let start = line.checked_sub(1).map_or(0, |before| self.ends[before]);
            // The thread must go on: the panic has been logged, and the value is gone.
            match catch_unwind(AssertUnwindSafe(make)) {
                Ok(part) => self.text.replace_range(start + at..start + at + part.len(), &part),
                Err(_) => lost += 1,
            }
        }
        lost
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    pub(crate) fn lines(&self) -> Vec<&str> {
        let starts = [0].iter().chain(&self.ends);
        starts.zip(&self.ends).map(|(start, end)| &self.text[*start..*end]).collect()
    }

    /// Empties it. Memory of an ordinary amount is kept.
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.text.shrink_to(KEPT_BYTES);
        self.ends.clear();
    }
}

impl LineQueue {
    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a line; returns how many wait. `None` if so many wait already.
    pub(crate) fn push(&self, line: &str, part: Option<LinePart>, most: usize) -> Option<usize> {
        let mut state = self.lock();
        let lines = &mut state.lines;
        if lines.ends.len() >= most {
            return None;
        }
        lines.parts.extend(part.map(|part| (lines.ends.len(), part)));
        lines.text.push_str(line);
        lines.ends.push(lines.text.len());
        let waiting = lines.ends.len();
        if mem::take(&mut state.sleeps) {
            self.wake.notify_one();
        }
        Some(waiting)
    }

    /// Takes all lines, and leaves the memory of others, which are written. Returns true once the queue is closed.
    pub(crate) fn take(&self, lines: &mut QueuedLines) -> bool {
        let mut state = self.lock();
        mem::swap(&mut state.lines, lines);
        state.closed
    }

    /// Number of lines that wait.
    pub(crate) fn len(&self) -> usize {
        self.lock().lines.ends.len()
    }

    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.wake.notify_one();
    }

    /// Sleeps until there is a line, the queue is closed, or this time has passed.
    pub(crate) fn sleep(&self, most: Duration) {
        let mut state = self.lock();
        state.sleeps = state.lines.ends.is_empty() && !state.closed;
        if state.sleeps {
            let waited = self.wake.wait_timeout(state, most);
            waited.unwrap_or_else(PoisonError::into_inner).0.sleeps = false;
        }
    }
}
