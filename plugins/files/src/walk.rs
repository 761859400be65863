//! Walks directories in path order: a directory, then its contents.

use std::{fs, ops::ControlFlow};

use loggia_sdk::prelude::*;

use crate::{
    entry::Kind,
    platform::Named,
    roots::{Place, Target},
};

/// Maximum number of names per call; a larger tree is walked in parts.
const VISITS: usize = 50_000;
/// Deeper than any tree that a person made; the stack is small.
const DEPTH: u32 = 64;

/// Placeholder for a name that is not UTF-8.
pub const UNNAMED: &str = "\u{fffd}";

/// Separates patterns of excluded entries from each other, and from the pattern of accepted ones.
const BUT: &str = " !";

/// Filter for entries.
pub struct Filter {
    glob: Option<String>,
    /// Excluded, with everything below.
    but: Vec<String>,
    hidden: bool,
}

/// Something that the walk encountered.
pub enum Found<'a> {
    /// An entry; a link is not followed.
    Entry(&'a Place<'a>, Kind),
    /// An entry of this directory whose name is not UTF-8.
    Unnamed(&'a Place<'a>),
    /// A directory that cannot be read.
    Unread(&'a Place<'a>, Failure),
}

/// End of a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Everything was seen.
    Complete,
    /// The visitor stopped.
    Stopped,
    /// There are more entries than one call may visit.
    TooLarge,
}

impl Filter {
    /// Accepts entries that the glob matches: their names, or, if it contains a slash, their paths below the walk's
    /// start. `*.rs !target !*.tmp` excludes what matches one of the patterns after an exclamation mark. Names that begin
    /// with a dot only on request.
    pub fn new(glob: Option<String>, hidden: bool) -> Self {
        let glob = glob.unwrap_or_default();
        let all = format!(" {}", glob.trim());
        let mut parts = all.split(BUT).map(|part| part.trim().to_owned());
        let glob = parts.next().filter(|glob| !glob.is_empty());
        Self { glob, but: parts.filter(|part| !part.is_empty()).collect(), hidden }
    }

    fn takes(&self, name: &str, below: &str) -> bool {
        self.glob.as_ref().is_none_or(|glob| matches(glob, name, below))
    }

    /// Hidden and excluded directories are not walked into either.
    fn hides(&self, name: &str, below: &str) -> bool {
        (!self.hidden && name.starts_with('.')) || self.but.iter().any(|glob| matches(glob, name, below))
    }
}

/// Matches a name, or with a slash in the pattern the path below the walk's start.
fn matches(glob: &str, name: &str, below: &str) -> bool {
    if glob.contains('/') {
        fast_glob::glob_match(glob.trim_start_matches('/'), below)
    } else {
        fast_glob::glob_match(glob, name)
    }
}

/// Walks `depth` levels below the target, or to the bottom. The target itself is not part of it, but granted
/// directories below it are.
///
/// # Errors
///
/// Errors of reading the target; deeper ones go to the visitor.
pub fn walk<'r>(
    target: &Target<'r>,
    depth: Option<u32>,
    filter: &Filter,
    visit: &mut dyn FnMut(Found) -> ControlFlow<()>,
) -> Result<End> {
    let mut walk = Walk { filter, visit, visits: 0 };
    let depth = depth.unwrap_or(DEPTH).min(DEPTH);
    let flow = match target {
        Target::Place(place) => {
            let real = place.followed()?;
            let metadata = fs::metadata(real).map_err(|error| place.failed(error))?;
            if !metadata.is_dir() {
                let failure = Failure::invalid_params(format!("not a directory: {}", place.path()));
                return Err(failure.next(Next::action("stat").param("path", place.path())));
            }
            let names = place.names()?;
            walk.directory(place, names, "", depth)
        }
        Target::Above(roots) => roots.iter().try_for_each(|root| walk.root(root, depth)),
    };
    Ok(match flow {
        ControlFlow::Continue(()) => End::Complete,
        ControlFlow::Break(end) => end,
    })
}

struct Walk<'w> {
    filter: &'w Filter,
    visit: &'w mut dyn FnMut(Found) -> ControlFlow<()>,
    visits: usize,
}

impl Walk<'_> {
    fn tell(&mut self, found: Found) -> ControlFlow<End> {
        match (self.visit)(found) {
            ControlFlow::Continue(()) => ControlFlow::Continue(()),
            ControlFlow::Break(()) => ControlFlow::Break(End::Stopped),
        }
    }

    /// Visits a granted directory as an entry of its parent.
    fn root(&mut self, root: &Place, depth: u32) -> ControlFlow<End> {
        let path = root.path();
        let name = path.rsplit('/').next().unwrap_or_default();
        if self.filter.takes(name, path.trim_start_matches('/')) {
            self.tell(Found::Entry(root, Kind::Directory))?;
        }
        if depth > 1 {
            self.below(root, path.trim_start_matches('/'), depth - 1)
        } else {
            ControlFlow::Continue(())
        }
    }

    fn below(&mut self, place: &Place, prefix: &str, depth: u32) -> ControlFlow<End> {
        match place.names() {
            Ok(names) => self.directory(place, names, prefix, depth),
            Err(failure) => self.tell(Found::Unread(place, failure)),
        }
    }

    /// Walks a directory; `prefix` is its path below the start of the walk.
    fn directory(
        &mut self,
        place: &Place,
        mut names: Vec<Named>,
        prefix: &str,
        depth: u32,
    ) -> ControlFlow<End> {
        names.sort_unstable_by(|a, b| shown(a).cmp(shown(b)));
        for Named { name, kind } in names {
            self.visits += 1;
            if self.visits > VISITS {
                return ControlFlow::Break(End::TooLarge);
            }
            let Some(name) = name else {
                self.tell(Found::Unnamed(place))?;
                continue;
            };
            let below = if prefix.is_empty() { name.clone() } else { format!("{prefix}/{name}") };
            if self.filter.hides(&name, &below) {
                continue;
            }
            let child = place.join(&name);
            if self.filter.takes(&name, &below) {
                self.tell(Found::Entry(&child, kind))?;
            }
            // Links are not followed: they may lead up or outside.
            if depth > 1 && kind == Kind::Directory {
                self.below(&child, &below, depth - 1)?;
            }
        }
        ControlFlow::Continue(())
    }
}

/// Displayed and sorted name; [`UNNAMED`] for one that is not UTF-8.
fn shown(named: &Named) -> &str {
    named.name.as_deref().unwrap_or(UNNAMED)
}
