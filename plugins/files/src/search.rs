//! `search`: lines that match, in text files.

use std::{fs::File, io::Read, ops::ControlFlow, time::Duration};

use loggia_sdk::prelude::*;

use crate::{
    entry::Kind,
    list::in_order,
    pattern::Pattern,
    roots::{Place, Roots, Target},
    walk::{End, Filter, Found, walk},
};

/// Larger files are passed over.
const FILE: u64 = 4 * 1024 * 1024;
/// Maximum bytes read in one call: a tenth of the host's 2 s of CPU time in our measurements.
const READ: u64 = 32 * 1024 * 1024;
/// Maximum size of a page's lines, regardless of the limit: the host accepts 1 MiB.
const BYTES: usize = 384 * 1024;
/// A longer line is cut.
const LINE: usize = 400;
/// Remaining time at which the call stops by itself.
const SPARE: Duration = Duration::from_secs(2);

/// A line that matches.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub struct Match {
    pub path: String,
    /// From 1.
    pub line: u64,
    pub text: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
}

/// Parameters of a search.
pub struct Query {
    pub pattern: String,
    pub ignore_case: bool,
    pub filter: Filter,
    pub context: usize,
    pub limit: usize,
    pub cursor: Option<String>,
}

/// Searches a page of matches.
pub fn search(roots: &Roots, path: &str, query: &Query, call: &Call) -> Result<Reply<Vec<Match>>> {
    let mut search = Search {
        query,
        pattern: Pattern::new(&query.pattern, query.ignore_case)?,
        call,
        start: query.cursor.as_deref().map(parse).transpose()?,
        matches: Vec::new(),
        bytes: 0,
        read: 0,
        passed: Passed::default(),
        cursor: None,
        spent: false,
    };
    let target = roots.target(path)?;
    let end = match &target {
        Target::Place(place) if place.followed()?.is_file() => {
            let _ = search.file(place);
            End::Complete
        }
        target => walk(target, None, &query.filter, &mut |found| search.visit(&found))?,
    };
    Ok(search.reply(end))
}

struct Search<'q> {
    query: &'q Query,
    pattern: Pattern,
    call: &'q Call,
    /// After which line of which file.
    start: Option<(usize, String)>,
    matches: Vec<Match>,
    bytes: usize,
    read: u64,
    passed: Passed,
    cursor: Option<String>,
    /// The limit of bytes read is reached.
    spent: bool,
}

/// Files that were not searched.
#[derive(Default)]
struct Passed {
    large: usize,
    binary: usize,
    unread: usize,
}

impl Search<'_> {
    fn visit(&mut self, found: &Found) -> ControlFlow<()> {
        match found {
            Found::Entry(place, Kind::File) => self.file(place),
            Found::Entry(..) => ControlFlow::Continue(()),
            Found::Unnamed(_) | Found::Unread(..) => {
                self.passed.unread += 1;
                ControlFlow::Continue(())
            }
        }
    }

    fn file(&mut self, place: &Place) -> ControlFlow<()> {
        let path = place.path();
        let done = match &self.start {
            Some((_, start)) if in_order(&path, start).is_lt() => return ControlFlow::Continue(()),
            Some((line, start)) if path == *start => *line,
            _ => 0,
        };
        if self.read >= READ || self.call.time_left() < SPARE || self.call.is_cancelled() {
            self.spent = true;
            self.cursor = Some(format!("{done}:{path}"));
            return ControlFlow::Break(());
        }
        let Some(text) = self.text(place) else { return ControlFlow::Continue(()) };
        let lines: Vec<_> = text.lines().collect();
        for (number, line) in lines.iter().enumerate().skip(done) {
            let Some(at) = self.pattern.find(line) else { continue };
            if self.matches.len() == self.query.limit || self.bytes > BYTES {
                self.cursor = Some(format!("{number}:{path}"));
                return ControlFlow::Break(());
            }
            let context = |lines: &[&str]| lines.iter().map(|line| window(line, 0)).collect();
            let found = Match {
                path: path.clone(),
                line: number as u64 + 1,
                text: window(line, at),
                before: context(&lines[number.saturating_sub(self.query.context)..number]),
                after: context(&lines[number + 1..lines.len().min(number + 1 + self.query.context)]),
            };
            self.bytes += found.path.len()
                + [&found.before, &found.after].into_iter().flatten().map(String::len).sum::<usize>();
            self.bytes += found.text.len();
            self.matches.push(found);
        }
        ControlFlow::Continue(())
    }

    /// Text of a file; counts files without searchable text.
    fn text(&mut self, place: &Place) -> Option<String> {
        let bytes = match read(place) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => {
                self.passed.large += 1;
                return None;
            }
            Err(_) => {
                self.passed.unread += 1;
                return None;
            }
        };
        self.read += bytes.len() as u64;
        let text = String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
        self.passed.binary += usize::from(text.is_none());
        text
    }

    fn reply(self, end: End) -> Reply<Vec<Match>> {
        let mut page = Page::of(self.matches.len());
        let mut said = Vec::new();
        if self.spent {
            said.push("There was more to read than one call may: call again with `cursor`.".to_owned());
        } else if end == End::TooLarge {
            said.push("There is more below than one call looks at: narrow `path` or `glob`.".to_owned());
        }
        let Passed { large, binary, unread } = self.passed;
        let reasons = [(large, "larger than 4 MiB"), (binary, "not text"), (unread, "not readable")];
        let passed: Vec<_> =
            reasons.iter().filter(|(n, _)| *n > 0).map(|(n, why)| format!("{n} {why}")).collect();
        if !passed.is_empty() {
            said.push(format!("Files skipped: {}.", passed.join(", ")));
        }
        if let Some(cursor) = self.cursor {
            page = page.cursor(cursor);
        }
        let reply = Reply::new(self.matches).page(page);
        if said.is_empty() { reply } else { reply.message(said.join(" ")) }
    }
}

/// A file's bytes; `None` if it is too large.
fn read(place: &Place) -> Result<Option<Vec<u8>>> {
    let file = File::open(place.followed()?)?;
    let size = file.metadata()?.len();
    if size > FILE {
        return Ok(None);
    }
    let mut bytes = Vec::with_capacity(size as usize + 1);
    // The file may grow while it is read.
    file.take(FILE).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// `12:/notes/a.txt` → after line 12 of that file.
fn parse(cursor: &str) -> Result<(usize, String)> {
    let parts = cursor.split_once(':').and_then(|(line, path)| Some((line.parse().ok()?, path.to_owned())));
    parts.ok_or_else(|| Failure::invalid_params("`cursor` is not from `search`"))
}

/// The part of a line around this place; the whole of most lines.
fn window(line: &str, at: usize) -> String {
    if line.len() <= LINE {
        return line.to_owned();
    }
    let start = line.floor_char_boundary(at.saturating_sub(LINE / 4));
    let end = line.floor_char_boundary(line.len().min(start + LINE));
    let mark = |cut| if cut { "…" } else { "" };
    format!("{}{}{}", mark(start > 0), &line[start..end], mark(end < line.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_cut_around_the_match() {
        assert_eq!(window("short", 2), "short");
        let long = format!("{}needle{}", "é".repeat(500), "x".repeat(500));
        let cut = window(&long, 1000);
        assert!(cut.starts_with("…é") && cut.contains("needle") && cut.ends_with("x…"), "{cut}");
        assert!(cut.len() <= LINE + 2 * "…".len());
    }

    #[test]
    fn a_cursor_names_a_line_and_a_path() {
        assert_eq!(parse("12:/a:b"), Ok((12, "/a:b".to_owned())));
        assert_eq!(parse("x").unwrap_err().code, "invalid_params");
    }
}
