//! `list` in the form of a tree: names indented below their directory, with sizes and counts.

use std::{fmt::Write, ops::ControlFlow};

use loggia_sdk::prelude::*;

use crate::{
    entry::Kind,
    roots::{NOTHING_GRANTED, Roots, Target},
    walk::{End, Filter, Found, UNNAMED, walk},
};

/// Maximum number of entries that are counted: their metadata takes half of a call's 2 s of CPU time in our measurements.
pub const ENTRIES: usize = 20_000;

/// Maximum bytes of a tree, whatever its `limit`.
const BYTES: usize = 256 * 1024;

/// A directory as text, one entry a line.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub struct Tree {
    pub path: String,
    /// Files below, at any depth.
    pub files: usize,
    /// Directories below, at any depth.
    pub directories: usize,
    /// Bytes of all files below.
    pub size: u64,
    /// Directories end with a slash, links with `@`.
    pub tree: String,
}

/// Sums over a directory.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    files: usize,
    directories: usize,
    size: u64,
}

/// A line of the tree.
struct Line {
    name: String,
    /// From 1.
    level: usize,
    kind: Kind,
    sums: Sums,
    /// Why it could not be read.
    unread: bool,
}

/// Renders `depth` levels, or as many whole ones as fit into `limit` lines, and counts everything below. Returns also
/// a message if something is left out.
pub fn tree(
    roots: &Roots,
    path: &str,
    filter: &Filter,
    depth: u32,
    limit: usize,
) -> Result<(Tree, Option<String>)> {
    let target = roots.target(path)?;
    let (path, nothing) = match &target {
        Target::Place(place) => (place.path(), false),
        Target::Above(roots) => (format!("/{}", path.trim_matches('/')), roots.is_empty()),
    };
    let mut plan = Plan {
        base: path.trim_end_matches('/').len(),
        depth: depth as usize,
        lines: Vec::new(),
        open: Vec::new(),
        sums: Sums::default(),
    };
    let end = walk(&target, None, filter, &mut |found| {
        if plan.sums.files + plan.sums.directories >= ENTRIES {
            return ControlFlow::Break(());
        }
        plan.add(&found);
        ControlFlow::Continue(())
    })?;
    let (tree, cut) = plan.render(limit);
    let Sums { files, directories, size } = plan.sums;
    let mut messages = Vec::new();
    if nothing {
        messages.push(NOTHING_GRANTED.to_owned());
    }
    messages.extend(cut);
    if end != End::Complete {
        messages.push(
            "There is more below than one call looks at, so the counts are too low: narrow `path`."
                .to_owned(),
        );
    }
    let message = (!messages.is_empty()).then(|| messages.join(" "));
    Ok((Tree { path, files, directories, size, tree }, message))
}

/// The lines of the first levels, and the sums of all.
struct Plan {
    /// Length of the path of the tree's root.
    base: usize,
    depth: usize,
    lines: Vec<Line>,
    /// Names of the directories above the current entry, with the lines of those that have one.
    open: Vec<(String, Option<usize>)>,
    sums: Sums,
}

impl Plan {
    fn add(&mut self, found: &Found) {
        match found {
            Found::Entry(place, kind) => {
                let size =
                    if *kind == Kind::File { place.metadata().map_or(0, |data| data.len()) } else { 0 };
                self.entry(&place.path(), *kind, size);
            }
            Found::Unnamed(place) => self.entry(&place.join(UNNAMED).path(), Kind::Other, 0),
            Found::Unread(place, _) => {
                self.enter(&place.path());
                if let Some((_, Some(line))) = self.open.last() {
                    self.lines[*line].unread = true;
                }
            }
        }
    }

    fn entry(&mut self, path: &str, kind: Kind, size: u64) {
        if kind == Kind::Directory {
            return self.enter(path);
        }
        let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
        self.enter(above);
        if kind == Kind::File {
            self.count(|sums| {
                sums.files += 1;
                sums.size += size;
            });
        }
        self.line(name, kind, Sums { size, ..Sums::default() });
    }

    /// Opens a directory and those above it. A filter may have left these out.
    fn enter(&mut self, path: &str) {
        let below = path.get(self.base..).unwrap_or_default();
        let names: Vec<&str> = below.split('/').filter(|name| !name.is_empty()).collect();
        let same = self.open.iter().zip(&names).take_while(|((open, _), name)| open == *name).count();
        self.open.truncate(same);
        for name in &names[same..] {
            self.count(|sums| sums.directories += 1);
            let line = self.line(name, Kind::Directory, Sums::default());
            self.open.push(((*name).to_owned(), line));
        }
    }

    fn count(&mut self, add: impl Fn(&mut Sums)) {
        add(&mut self.sums);
        for line in self.open.iter().filter_map(|(_, line)| *line) {
            add(&mut self.lines[line].sums);
        }
    }

    /// Adds a line in the open directory, unless it is too deep.
    fn line(&mut self, name: &str, kind: Kind, sums: Sums) -> Option<usize> {
        let level = self.open.len() + 1;
        if level > self.depth {
            return None;
        }
        // A name with a line break would look like two.
        let name = name.chars().flat_map(|char| {
            let escaped = char.is_control().then(|| char.escape_default());
            escaped.into_iter().flatten().chain((!char.is_control()).then_some(char))
        });
        self.lines.push(Line { name: name.collect(), level, kind, sums, unread: false });
        Some(self.lines.len() - 1)
    }

    /// Renders the levels that fit, and explains what was left out.
    fn render(&self, limit: usize) -> (String, Option<String>) {
        let up_to = |level: usize| self.lines.iter().filter(|line| line.level <= level).count();
        let deepest = self.lines.iter().map(|line| line.level).max().unwrap_or(0);
        let level = (1..=deepest).take_while(|level| up_to(*level) <= limit).last().unwrap_or(1);
        let mut text = String::new();
        let mut shown = 0;
        for line in self.lines.iter().filter(|line| line.level <= level).take(limit) {
            let before = text.len();
            // Writing to a `String` cannot fail.
            let _ = line.write(&mut text);
            if text.len() > BYTES {
                text.truncate(before);
                break;
            }
            shown += 1;
        }
        let left = up_to(level) - shown;
        let cut = if left > 0 {
            Some(format!("{left} more: raise `limit`, or narrow `path` or `glob`."))
        } else {
            (level < deepest).then(|| {
                format!(
                    "Only {level} of {deepest} levels fit into `limit`: raise it, or narrow `path` or `glob`."
                )
            })
        };
        (text, cut)
    }
}

impl Line {
    fn write(&self, to: &mut String) -> std::fmt::Result {
        let Sums { files, directories, size } = self.sums;
        write!(to, "{:indent$}{}", "", self.name, indent = 2 * (self.level - 1))?;
        match self.kind {
            Kind::File => writeln!(to, " {}", bytes(size)),
            Kind::Link => writeln!(to, "@"),
            Kind::Other => writeln!(to),
            Kind::Directory if self.unread => writeln!(to, "/ (not readable)"),
            Kind::Directory => {
                let files = format!("{files} {}", if files == 1 { "file" } else { "files" });
                let directories = match directories {
                    0 => String::new(),
                    1 => "1 directory, ".to_owned(),
                    count => format!("{count} directories, "),
                };
                writeln!(to, "/ ({directories}{files}, {})", bytes(size))
            }
        }
    }
}

/// `999 B`, `1.2 KB`, `34 MB`.
fn bytes(size: u64) -> String {
    // In tenths, by integers: formatting of floating-point numbers would be a tenth of what the tree adds to the guest.
    let (mut tenths, mut unit) = (u128::from(size) * 10, 0);
    let units = ["B", "KB", "MB", "GB", "TB"];
    while tenths >= 9_995 && unit + 1 < units.len() {
        tenths = (tenths + 500) / 1000;
        unit += 1;
    }
    let unit_name = units[unit];
    if unit > 0 && tenths < 100 {
        format!("{}.{} {unit_name}", tenths / 10, tenths % 10)
    } else {
        format!("{} {unit_name}", (tenths + 5) / 10)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_two_or_three_digits() {
        let check = |size, expected: &str| assert_eq!(bytes(size), expected);
        check(0, "0 B");
        check(999, "999 B");
        check(1000, "1.0 KB");
        check(1249, "1.2 KB");
        check(9_940, "9.9 KB");
        check(9_960, "10 KB");
        check(999_600, "1.0 MB");
        check(34_000_000, "34 MB");
        check(u64::MAX, "18446744 TB");
    }
}
