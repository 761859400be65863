//! Unified diffs, no longer than a reader wants them.

use std::time::{Duration, Instant};

use loggia_sdk::prelude::*;
use similar::TextDiff;

/// All the time that diffs of one call take, after which they are coarser. A call has 2 s.
const TIME: Duration = Duration::from_millis(600);
/// Bytes of one diff and of all, for a reader who does not want all.
const STANDARD: (usize, usize) = (8 << 10, 64 << 10);
/// The same for one who does: the host takes 1 MiB, and a byte may be written as six.
const FULL: (usize, usize) = (128 << 10, 128 << 10);

/// What is left for diffs.
pub struct Budget {
    one: usize,
    all: usize,
    until: Instant,
}

impl Budget {
    /// As much as the caller wants.
    pub fn of(detail: Detail, now: Instant) -> Self {
        let (one, all) = if detail == Detail::Full { FULL } else { STANDARD };
        Self { one, all, until: now + TIME }
    }
}

/// The unified diff from the old content, if there is one, to the new.
pub fn diff(path: &str, old: Option<&[u8]>, new: &[u8], budget: &mut Budget) -> String {
    let (Some(before), Some(after)) = (text(old.unwrap_or_default()), text(new)) else {
        let before = old.map_or("no file".to_owned(), |old| format!("{} bytes", old.len()));
        return format!("(not text: {before} before, {} bytes after)\n", new.len());
    };
    let diff = TextDiff::configure().deadline(budget.until).diff_lines(before, after);
    let from = if old.is_some() { path } else { "/dev/null" };
    let whole = diff.unified_diff().context_radius(3).header(from, path).to_string();
    let cut = cut(whole, budget.one.min(budget.all));
    budget.all = budget.all.saturating_sub(cut.len());
    cut
}

fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

/// Ends with a whole line, and says how many were left out.
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
    fn a_diff_that_is_too_long_is_cut_after_a_line() {
        let check = |text: &str, most, expected: &str| assert_eq!(cut(text.to_owned(), most), expected);
        check("a\nb\n", 4, "a\nb\n");
        check("a\nb\n", 3, "a\n… 1 more lines\n");
        check("é\nb\nc", 4, "é\n… 2 more lines\n");
        check("abc\nd", 2, "… 2 more lines\n");
    }

    #[test]
    fn diffs_share_what_the_reader_takes() {
        let mut budget = Budget { one: 60, all: 70, until: Instant::now() + TIME };
        let new = "line\n".repeat(100);
        let first = diff("/a", None, new.as_bytes(), &mut budget);
        let second = diff("/b", None, new.as_bytes(), &mut budget);
        assert!(first.starts_with("--- /dev/null\n+++ /a\n@@ -0,0 +1,100 @@\n+line\n"), "{first}");
        assert!(second.starts_with("… 10"), "{second}");
    }
}
