//! Unified diffs of limited length.

use std::{
    fmt::Write,
    time::{Duration, Instant},
};

use loggia_sdk::prelude::*;
use similar::{
    DiffOp, DiffTag,
    algorithms::{Capture, Compact, Replace, myers},
    group_diff_ops,
    udiff::UnifiedHunkHeader,
};

/// All the time that diffs of one call take, after which they are coarser. A call has 2 s.
const TIME: Duration = Duration::from_millis(600);
/// Maximum bytes of one diff and of all, by default.
const STANDARD: (usize, usize) = (8 << 10, 64 << 10);
/// Maximum bytes with detail `full`: the host accepts 1 MiB, and a byte may be escaped as six.
const FULL: (usize, usize) = (128 << 10, 128 << 10);

/// Number of context lines around a change.
const CONTEXT: usize = 3;

/// Remaining size and time for diffs.
pub struct Budget {
    one: usize,
    all: usize,
    until: Instant,
}

impl Budget {
    /// Budget for a detail level.
    pub fn of(detail: Detail, now: Instant) -> Self {
        let (one, all) = if detail == Detail::Full { FULL } else { STANDARD };
        Self { one, all, until: now + TIME }
    }
}

/// Unified diff from the old content, if any, to the new.
pub fn diff(path: &str, old: Option<&[u8]>, new: &[u8], budget: &mut Budget) -> String {
    let (Some(before), Some(after)) = (text(old.unwrap_or_default()), text(new)) else {
        let before = old.map_or("no file".to_owned(), |old| format!("{} bytes", old.len()));
        return format!("(not text: {before} before, {} bytes after)\n", new.len());
    };
    let from = if old.is_some() { path } else { "/dev/null" };
    let mut whole = format!("--- {from}\n+++ {path}\n");
    // Writing to a `String` cannot fail.
    let _ = write_hunks(&mut whole, before, after, budget.until);
    let cut = cut(whole, budget.one.min(budget.all));
    budget.all = budget.all.saturating_sub(cut.len());
    cut
}

/// Not by `TextDiff`, which brings every algorithm for every kind of text: half a megabyte of guest.
fn write_hunks(to: &mut String, before: &str, after: &str, until: Instant) -> std::fmt::Result {
    let before: Vec<&str> = before.split_inclusive('\n').collect();
    let after: Vec<&str> = after.split_inclusive('\n').collect();
    for hunk in group_diff_ops(difference(&before, &after, until), CONTEXT) {
        writeln!(to, "{}", UnifiedHunkHeader::new(&hunk))?;
        for (tag, old, new) in hunk.iter().map(DiffOp::as_tag_tuple) {
            if tag == DiffTag::Equal {
                write_lines(to, ' ', &before[old])?;
            } else {
                write_lines(to, '-', &before[old])?;
                write_lines(to, '+', &after[new])?;
            }
        }
    }
    Ok(())
}

fn difference(before: &[&str], after: &[&str], until: Instant) -> Vec<DiffOp> {
    let mut hook = Compact::new(Replace::new(Capture::new()), before, after);
    let (old, new) = (0..before.len(), 0..after.len());
    match myers::diff_deadline(&mut hook, before, old, after, new, Some(until)) {
        Ok(()) => hook.into_inner().into_inner().into_ops(),
    }
}

fn write_lines(to: &mut String, sign: char, lines: &[&str]) -> std::fmt::Result {
    for line in lines {
        write!(to, "{sign}{line}")?;
        if !line.ends_with('\n') {
            writeln!(to, "\n\\ No newline at end of file")?;
        }
    }
    Ok(())
}

fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

/// Truncates after a whole line, and adds the number of omitted lines.
fn cut(text: String, most: usize) -> String {
    if text.len() <= most {
        return text;
    }
    let end = text.floor_char_boundary(most);
    let end = text[..end].rfind('\n').map_or(0, |at| at + 1);
    let left = text[end..].lines().count();
    format!("{}… {left} more lines\n", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_diffs_are_truncated_after_a_line() {
        let check = |text: &str, most, expected: &str| assert_eq!(cut(text.to_owned(), most), expected);
        check("a\nb\n", 4, "a\nb\n");
        check("a\nb\n", 3, "a\n… 1 more lines\n");
        check("é\nb\nc", 4, "é\n… 2 more lines\n");
        check("abc\nd", 2, "… 2 more lines\n");
    }

    #[test]
    fn diffs_share_the_size_limit() {
        let mut budget = Budget { one: 60, all: 70, until: Instant::now() + TIME };
        let new = "line\n".repeat(100);
        let first = diff("/a", None, new.as_bytes(), &mut budget);
        let second = diff("/b", None, new.as_bytes(), &mut budget);
        assert!(first.starts_with("--- /dev/null\n+++ /a\n@@ -0,0 +1,100 @@\n+line\n"), "{first}");
        assert!(second.starts_with("… 10"), "{second}");
    }
}
