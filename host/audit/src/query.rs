//! Reads lines by filters.

use std::{
    collections::VecDeque,
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::Path,
};

use serde_json::Value;

use crate::files::list_files;

/// Longest line that is read, in bytes.
const LINE: u64 = 64 << 10;

/// What lines must have. An absent filter matches all.
#[derive(Debug, Clone, Default)]
pub struct AuditFilter {
    /// `event`.
    pub event: Option<String>,
    /// `caller`.
    pub caller: Option<String>,
    /// `facade` or `tool`.
    pub facade: Option<String>,
    /// `action`.
    pub action: Option<String>,
    /// `outcome`.
    pub outcome: Option<String>,
    /// The earliest `timestamp`, in RFC 3339 and UTC, or its beginning.
    pub since: Option<String>,
    /// The first `timestamp` that is too late.
    pub until: Option<String>,
}

impl AuditFilter {
    /// Returns true if a line matches.
    pub fn matches(&self, line: &Value) -> bool {
        let is = |name: &str, wanted: &Option<String>| {
            wanted.as_deref().is_none_or(|wanted| line[name].as_str() == Some(wanted))
        };
        let time = line["timestamp"].as_str().unwrap_or_default();
        is("event", &self.event)
            && is("caller", &self.caller)
            && (is("facade", &self.facade) || is("tool", &self.facade))
            && is("action", &self.action)
            && is("outcome", &self.outcome)
            && self.since.as_deref().is_none_or(|since| time >= since)
            && self.until.as_deref().is_none_or(|until| time < until)
    }
}

/// Reads the last matching lines of a trail, at most so many, the oldest first. Lines that are not JSON are left out.
///
/// # Errors
///
/// If a file cannot be read.
pub fn last_lines(path: &Path, filter: &AuditFilter, most: usize) -> io::Result<Vec<Value>> {
    let mut found = VecDeque::new();
    for file in list_files(path) {
        let mut reader = BufReader::new(File::open(file)?);
        loop {
            let mut line = Vec::new();
            if reader.by_ref().take(LINE).read_until(b'\n', &mut line)? == 0 {
                break;
            }
            let Ok(line) = serde_json::from_slice::<Value>(&line) else { continue };
            if filter.matches(&line) {
                found.push_back(line);
                if found.len() > most {
                    found.pop_front();
                }
            }
        }
    }
    Ok(found.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_select_lines() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        let line = |number: u32, caller: &str| {
            format!(
                "{{\"n\":{number},\"timestamp\":\"2026-11-24T10:0{number}:00Z\",\"event\":\"call\",\"caller\":\"{caller}\",\"tool\":\"notes\"}}\n"
            )
        };
        std::fs::write(folder.path().join("audit.jsonl.1"), line(1, "ada") + "rubbish\n").unwrap();
        std::fs::write(&path, line(2, "bob") + &line(3, "ada")).unwrap();
        let text = |text: &str| Some(text.to_owned());
        for (filter, most, expected) in [
            (AuditFilter::default(), 9, &[1, 2, 3][..]),
            (AuditFilter::default(), 2, &[2, 3]),
            (AuditFilter { caller: text("ada"), ..AuditFilter::default() }, 9, &[1, 3]),
            (AuditFilter { facade: text("notes"), ..AuditFilter::default() }, 1, &[3]),
            (AuditFilter { since: text("2026-11-24T10:02"), ..AuditFilter::default() }, 9, &[2, 3]),
            (AuditFilter { until: text("2026-11-24T10:02"), ..AuditFilter::default() }, 9, &[1]),
            (AuditFilter { event: text("refused"), ..AuditFilter::default() }, 9, &[]),
        ] {
            let found = last_lines(&path, &filter, most).unwrap();
            let numbers: Vec<u64> = found.iter().filter_map(|line| line["n"].as_u64()).collect();
            assert_eq!(
                numbers,
                expected.iter().map(|n| u64::from(*n as u32)).collect::<Vec<_>>(),
                "{filter:?}"
            );
        }
    }
}
