//! Applies edits to a text in memory.

use std::ops::Range;

use loggia_sdk::prelude::*;

use super::nearest::nearest;
use crate::lines::Lines;

/// Marks UTF-8; not part of the first line.
const BOM: char = '\u{feff}';

/// Line numbers that an error lists.
const LISTED: usize = 10;

/// One change of a file.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// The exact text to replace; it must be there once.
    #[schemars(length(min = 1))]
    old: Option<String>,
    /// The lines to replace (`10-12`; `5-4` inserts before line 5), or to look for `old` in. Numbers are those before
    /// the call.
    #[schemars(length(min = 1, max = 40))]
    lines: Option<String>,
    /// Empty deletes.
    new: String,
    // Not by a default, which the host would fill in, and then give all the edits back as inputs that it resolved.
    /// Replace `old` wherever it is.
    all: Option<bool>,
}

/// Applies the edits in order. Returns the new text and the number of replaced places. Lines that the caller may not
/// have `seen` are not replaced.
///
/// # Errors
///
/// `conflict` if the text is not as an edit expects, with the nearest lines; `invalid_params` if an edit is malformed.
/// With the index of the edit.
pub fn apply(
    text: &str,
    edits: &[Edit],
    seen: bool,
) -> std::result::Result<(String, usize), (usize, Failure)> {
    let mark = if text.starts_with(BOM) { BOM.len_utf8() } else { 0 };
    let mut text = Text::new(&text[mark..], edits)?;
    let unseen = |named: &Option<Named>| named.as_ref().is_some_and(Named::overwrites);
    if let Some(at) = text.named.iter().position(unseen).filter(|_| !seen) {
        let failure = Failure::conflict("it replaces lines, so `expect` is required");
        return Err((at, failure.hint("`get` the lines, and pass the `version` as `expect`.")));
    }
    let mut replaced = 0;
    for (at, edit) in edits.iter().enumerate() {
        replaced += text.edit(at, edit).map_err(|failure| (at, failure))?;
    }
    if text.unterminated && text.text.ends_with('\n') {
        let end = text.text.strip_suffix("\r\n").or(text.text.strip_suffix('\n')).map_or(0, str::len);
        text.text.truncate(end);
    }
    Ok((if mark > 0 { format!("{BOM}{}", text.text) } else { text.text }, replaced))
}

/// Bytes that an edit names by `lines`, in the current text. They move as earlier edits change the length.
struct Named {
    range: Range<usize>,
    /// To look for `old` in; then it may have changed.
    searched: bool,
}

impl Named {
    fn overwrites(&self) -> bool {
        !self.searched && !self.range.is_empty()
    }
}

/// A text that is being edited.
struct Text {
    text: String,
    /// The lines of each edit that is still to be applied.
    named: Vec<Option<Named>>,
    /// What edits put for a line ending; `None` in a text that mixes them or has none, which is taken as it is.
    ending: Option<&'static str>,
    /// The end of a text without final newline was deleted.
    unterminated: bool,
}

impl Text {
    fn new(text: &str, edits: &[Edit]) -> std::result::Result<Self, (usize, Failure)> {
        let (all, windows) = (text.matches('\n').count(), text.matches("\r\n").count());
        let ending = match windows {
            0 if all > 0 => Some("\n"),
            _ if windows == all && all > 0 => Some("\r\n"),
            _ => None,
        };
        let mut starts = vec![0];
        starts.extend(text.match_indices('\n').map(|(at, _)| at + 1).filter(|at| *at < text.len()));
        let total = if text.is_empty() { 0 } else { starts.len() as u64 };
        starts.push(text.len());
        let mut named = Vec::with_capacity(edits.len());
        for (at, edit) in edits.iter().enumerate() {
            let range = edit.lines.as_deref().map(|lines| bytes_of(lines, total, &starts)).transpose();
            let range = range.map_err(|failure| (at, failure))?;
            named.push(range.map(|range| Named { range, searched: edit.old.is_some() }));
        }
        Ok(Self { text: text.to_owned(), named, ending, unterminated: false })
    }

    /// Applies one edit; returns the number of replaced places.
    fn edit(&mut self, at: usize, edit: &Edit) -> Result<usize> {
        let range = self.named[at].take().map(|named| named.range);
        match (&edit.old, range) {
            (Some(old), range) => self.replace_text(edit, &self.convert(old), range),
            (None, Some(_)) if edit.all == Some(true) => Err(Failure::invalid_params("`all` is for `old`")),
            (None, Some(range)) => {
                self.replace_lines(&edit.new, range)?;
                Ok(1)
            }
            (None, None) => Err(Failure::invalid_params("`old` or `lines` is required")
                .hint("`old` is the text to replace, `lines` a range such as 10-12.")),
        }
    }

    /// Line endings of a parameter as in the file.
    fn convert(&self, text: &str) -> String {
        match self.ending {
            Some(ending) => text.replace("\r\n", "\n").replace('\n', ending),
            None => text.to_owned(),
        }
    }

    fn replace_text(&mut self, edit: &Edit, old: &str, range: Option<Range<usize>>) -> Result<usize> {
        if old.is_empty() {
            return Err(Failure::invalid_params("`old` must not be empty"));
        }
        let range = range.unwrap_or(0..self.text.len());
        let found: Vec<usize> =
            self.text[range.clone()].match_indices(old).map(|(at, _)| range.start + at).collect();
        if found.is_empty() {
            return Err(nearest(&self.text, range, old));
        }
        if found.len() > 1 && edit.all != Some(true) {
            return Err(self.ambiguous(&found));
        }
        let new = self.convert(&edit.new);
        // From the back, so that the places before keep their positions.
        for at in found.iter().rev() {
            self.shift(*at..at + old.len(), new.len())?;
        }
        let mut text = String::with_capacity(self.text.len());
        let mut end = 0;
        for at in &found {
            text.push_str(&self.text[end..*at]);
            text.push_str(&new);
            end = at + old.len();
        }
        text.push_str(&self.text[end..]);
        self.text = text;
        Ok(found.len())
    }

    fn ambiguous(&self, found: &[usize]) -> Failure {
        let mut lines: Vec<_> =
            found.iter().take(LISTED).map(|at| self.text[..*at].matches('\n').count() + 1).collect();
        lines.dedup();
        let lines: Vec<_> = lines.iter().map(usize::to_string).collect();
        let more = if found.len() > LISTED { ", …" } else { "" };
        let message = format!("`old` matches {} times, in lines {}{more}", found.len(), lines.join(", "));
        Failure::conflict(message)
            .hint("Add text around it, restrict it by `lines`, or replace every match with `all: true`.")
    }

    /// Replaces whole lines, or inserts some at an empty range.
    fn replace_lines(&mut self, new: &str, range: Range<usize>) -> Result<()> {
        let old = &self.text[range.clone()];
        let at_end = range.end == self.text.len();
        let terminated = self.text.ends_with('\n');
        let mut new = self.convert(new);
        if new.is_empty() {
            self.unterminated |= at_end && !terminated && !old.is_empty();
        } else if self.text.is_empty() {
            // There are no line endings to keep.
        } else {
            let ending = self.ending.unwrap_or_else(|| self.ending_at(range.start));
            let length = new.strip_suffix("\r\n").or(new.strip_suffix('\n')).map_or(new.len(), str::len);
            new.truncate(length);
            if !at_end || terminated {
                new.push_str(ending);
            } else if old.is_empty() {
                new.insert_str(0, ending);
            }
        }
        self.shift(range.clone(), new.len())?;
        self.text.replace_range(range, &new);
        Ok(())
    }

    /// Ending of the line there, or of the one before.
    fn ending_at(&self, at: usize) -> &'static str {
        let (before, after) = self.text.split_at(at);
        let line = after.split_inclusive('\n').next().or(before.split_inclusive('\n').next_back());
        if line.is_some_and(|line| line.ends_with("\r\n")) { "\r\n" } else { "\n" }
    }

    /// Moves the ranges of later edits, as `changed` gets this many bytes.
    fn shift(&mut self, changed: Range<usize>, length: usize) -> Result<()> {
        let moved = |position: usize| position - changed.len() + length;
        for (at, named) in self.named.iter_mut().enumerate() {
            let Some(Named { range, searched }) = named else { continue };
            if range.start >= changed.end {
                *range = moved(range.start)..moved(range.end);
            } else if *searched && range.start <= changed.start && changed.end <= range.end {
                range.end = moved(range.end);
            } else if range.end > changed.start {
                let message = format!("it overlaps edit {}", at + 1);
                return Err(Failure::invalid_params(message).hint("Combine the two."));
            }
        }
        Ok(())
    }
}

/// Bytes of these lines; `starts` has the start of each line, and the end of the text.
fn bytes_of(lines: &str, total: u64, starts: &[usize]) -> Result<Range<usize>> {
    let parsed = Lines::parse(lines)?;
    let (first, last) = parsed.within(total);
    let wanted = if let Lines::Range(_, Some(last)) = parsed { last } else { last };
    if first > total + 1 || wanted > total {
        let message = format!("`lines` {lines} goes past the end: the file has {total} lines");
        return Err(Failure::conflict(message).hint(format!("`{}-` appends.", total + 1)));
    }
    let start = |line: u64| starts[usize::try_from(line - 1).unwrap_or(usize::MAX).min(starts.len() - 1)];
    Ok(start(first)..start(last + 1).max(start(first)))
}
