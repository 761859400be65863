//! The latest progress and log lines of a run, with times.

use std::{collections::VecDeque, mem::size_of};

use loggia_facade::{LogLevel, Progress};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::weight;

/// Maximum number of entries.
const MAX_ENTRIES: usize = 200;
/// Maximum size of all texts, in bytes.
const MAX_BYTES: usize = 64 << 10;
/// Maximum length of one text, in characters.
const MAX_CHARS: usize = 1000;

/// Bounded log of a run; the oldest entries are dropped first.
pub(super) struct RunTrace {
    started: Instant,
    entries: VecDeque<TraceEntry>,
    bytes: usize,
    /// Number of entries dropped so far.
    dropped: u64,
}

struct TraceEntry {
    at: Instant,
    kind: TraceKind,
    text: Option<String>,
}

enum TraceKind {
    Progress { done: f64, total: Option<f64> },
    Log(LogLevel),
}

impl TraceEntry {
    fn bytes(&self) -> usize {
        self.text.as_ref().map_or(0, String::len)
    }
}

impl RunTrace {
    pub(super) fn start() -> Self {
        Self { started: Instant::now(), entries: VecDeque::new(), bytes: 0, dropped: 0 }
    }

    pub(super) fn progress(&mut self, progress: &Progress) {
        let kind = TraceKind::Progress { done: progress.done, total: progress.total };
        self.push(kind, progress.message.as_deref());
    }

    pub(super) fn log(&mut self, level: LogLevel, text: &str) {
        self.push(TraceKind::Log(level), Some(text));
    }

    fn push(&mut self, kind: TraceKind, text: Option<&str>) {
        let text =
            text.map(|text| text.chars().take(MAX_CHARS).collect::<String>().into_boxed_str().into_string());
        let entry = TraceEntry { at: Instant::now(), kind, text };
        self.bytes += entry.bytes();
        self.entries.push_back(entry);
        while self.entries.len() > MAX_ENTRIES || self.bytes > MAX_BYTES {
            let Some(first) = self.entries.pop_front() else { return };
            self.bytes -= first.bytes();
            self.dropped += 1;
        }
    }

    /// Estimates the memory it takes, in bytes.
    pub(super) fn weight(&self) -> usize {
        self.entries.capacity() * size_of::<TraceEntry>()
            + self.entries.iter().map(|entry| weight::optional(&entry.text)).sum::<usize>()
    }

    /// Renders `[{at_ms, progress | log, …}]`, with times since the start of the run.
    pub(super) fn to_json(&self) -> Value {
        let mut out = Vec::with_capacity(self.entries.len() + 1);
        if self.dropped > 0 {
            out.push(json!({ "dropped": self.dropped }));
        }
        out.extend(self.entries.iter().map(|entry| self.render(entry)));
        out.into()
    }

    /// Renders the latest entry.
    pub(super) fn last_line(&self) -> Value {
        self.entries.back().map(|entry| self.render(entry)).unwrap_or_default()
    }

    fn render(&self, entry: &TraceEntry) -> Value {
        let at = entry.at.saturating_duration_since(self.started).as_millis();
        let mut line = json!({ "at_ms": u64::try_from(at).unwrap_or(u64::MAX) });
        match &entry.kind {
            TraceKind::Progress { done, total } => {
                line["progress"] = super::status::render_progress(*done, *total);
                if let Some(text) = &entry.text {
                    line["message"] = text.as_str().into();
                }
            }
            TraceKind::Log(level) => {
                line["level"] = level.as_str().into();
                line["log"] = entry.text.as_deref().unwrap_or_default().into();
            }
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_entries_are_kept() {
        let mut trace = RunTrace::start();
        trace.progress(&Progress { done: 1.0, total: Some(4.0), message: Some("reading".into()) });
        trace.log(LogLevel::Warn, "odd");
        let reply = trace.to_json();
        assert_eq!(reply[0]["progress"], json!({"done": 1, "total": 4}));
        assert_eq!((&reply[1]["level"], &reply[1]["log"]), (&json!("warn"), &json!("odd")));
        for _ in 0..1000 {
            trace.log(LogLevel::Info, &"x".repeat(2000));
        }
        let reply = trace.to_json();
        let reply = reply.as_array().unwrap();
        assert!(reply.len() <= MAX_ENTRIES + 1);
        assert_eq!(reply[0]["dropped"].as_u64().unwrap() + reply.len() as u64 - 1, 1002);
        assert!(reply[1]["log"].as_str().unwrap().len() == MAX_CHARS);
    }
}
