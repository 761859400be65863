//! The granted directories, and paths inside them.
//!
//! Paths are absolute, by the policy's names for the directories: `/notes/a.txt`. The sandbox itself blocks paths that
//! leave them; the checks here add helpful errors.

use std::{
    fs::{self, Metadata},
    io,
    path::PathBuf,
};

use loggia_sdk::{failure::code, prelude::*};

use crate::platform::{Base, Named};

/// All granted directories by path, with nested ones after their parents.
pub struct Roots(Vec<Root>);

/// One granted directory.
pub struct Root {
    /// Path in the policy: `/notes`; empty for `/`.
    at: String,
    base: Base,
}

/// A path inside a granted directory, whether it exists or not.
pub struct Place<'a> {
    root: &'a Root,
    /// Below the root, without slashes at either end; empty for the root itself.
    below: String,
}

/// Target of a path.
pub enum Target<'a> {
    Place(Place<'a>),
    /// No directory itself, but granted ones lie below it; `/` most of all.
    Above(Vec<Place<'a>>),
}

impl Roots {
    /// Directories at these paths.
    pub fn new(granted: impl IntoIterator<Item = (String, Base)>) -> Self {
        let root = |(at, base): (String, Base)| Root { at: at.trim_end_matches('/').to_owned(), base };
        let mut roots: Vec<_> = granted.into_iter().map(root).collect();
        roots.sort_unstable_by(|a, b| a.at.cmp(&b.at));
        Self(roots)
    }

    /// Resolves a path.
    ///
    /// # Errors
    ///
    /// `denied` if it leads outside of every granted directory.
    pub fn target(&self, path: &str) -> Result<Target<'_>> {
        let path = normal(path)?;
        if let Some(place) = self.inside(&path) {
            return Ok(Target::Place(place));
        }
        let roots = self.0.iter().filter(|root| below(&root.at, &path).is_some());
        let below: Vec<_> = roots.map(|root| root.place(String::new())).collect();
        if below.is_empty() && !path.is_empty() { Err(self.outside(&path)) } else { Ok(Target::Above(below)) }
    }

    /// The place at the path.
    ///
    /// # Errors
    ///
    /// `denied` if it is in none of the granted directories.
    pub fn place(&self, path: &str) -> Result<Place<'_>> {
        let path = normal(path)?;
        self.inside(&path).ok_or_else(|| self.outside(&path))
    }

    fn inside(&self, path: &str) -> Option<Place<'_>> {
        // The innermost, if they are nested.
        self.0.iter().rev().find_map(|root| below(path, &root.at).map(|below| root.place(below.to_owned())))
    }

    fn outside(&self, path: &str) -> Failure {
        let path = if path.is_empty() { "/" } else { path };
        let failure = Failure::denied(format!("access denied: {path} is not in a granted directory"));
        let mut paths: Vec<_> = self.0.iter().map(|root| root.place(String::new()).path()).collect();
        paths.sort_unstable();
        failure.hint(match paths.as_slice() {
            [] => NOTHING_GRANTED.to_owned(),
            paths => format!("Granted: {}.", paths.join(", ")),
        })
    }
}

/// Hint for the operator.
pub const NOTHING_GRANTED: &str = "No directory can be used yet. The operator grants one in files.toml: \
    [grants] dirs = [{ path = \"~/notes\", at = \"/notes\", access = \"read-write\" }].";

impl Root {
    fn place(&self, below: String) -> Place<'_> {
        Place { root: self, below }
    }
}

impl<'a> Place<'a> {
    /// The path that callers use.
    pub fn path(&self) -> String {
        let Self { root, below } = self;
        match (root.at.as_str(), below.as_str()) {
            ("", "") => "/".to_owned(),
            (at, "") => at.to_owned(),
            (at, below) => format!("{at}/{below}"),
        }
    }

    /// Tests whether it is a granted directory itself, which must not be changed.
    pub fn is_root(&self) -> bool {
        self.below.is_empty()
    }

    /// The last part of its path; empty for a root.
    pub fn name(&self) -> &str {
        self.below.rsplit('/').next().unwrap_or_default()
    }

    /// Something in this directory.
    pub fn join(&self, name: &str) -> Self {
        let below = if self.below.is_empty() { name.to_owned() } else { format!("{}/{name}", self.below) };
        self.root.place(below)
    }

    /// Parent directory; `None` for a root.
    pub fn parent(&self) -> Option<Self> {
        let parent = self.below.rsplit_once('/').map_or("", |(parent, _)| parent);
        (!self.is_root()).then(|| self.root.place(parent.to_owned()))
    }

    /// Tests whether it is the other place or inside it.
    pub fn is_in(&self, other: &Place) -> bool {
        below(&self.path(), &other.path()).is_some()
    }

    /// Path for `std::fs` operations that do not follow a final link.
    ///
    /// # Errors
    ///
    /// `denied` if a link on the path leads outside of the granted directory.
    pub fn real(&self) -> Result<PathBuf> {
        self.root.base.real(&self.root.at, &self.below, false).map_err(|error| self.failed(error))
    }

    /// Path for `std::fs` operations that follow a final link.
    ///
    /// # Errors
    ///
    /// `denied` if a link leads outside of the granted directory.
    pub fn followed(&self) -> Result<PathBuf> {
        self.root.base.real(&self.root.at, &self.below, true).map_err(|error| self.failed(error))
    }

    /// Metadata, without following links.
    ///
    /// # Errors
    ///
    /// `not_found` where nothing does.
    pub fn metadata(&self) -> Result<Metadata> {
        fs::symlink_metadata(self.real()?).map_err(|error| self.failed(error))
    }

    /// The names in this directory, unsorted.
    ///
    /// # Errors
    ///
    /// Errors of reading a directory.
    pub fn names(&self) -> Result<Vec<Named>> {
        self.root.base.names(&self.below).map_err(|error| self.failed(error))
    }

    /// Converts an error of this place for the caller.
    pub fn failed(&self, error: io::Error) -> Failure {
        let failure = Failure::from(error).about(self.path());
        if failure.code != code::DENIED {
            return failure;
        }
        failure.hint("A link on the path may lead outside of the granted directory.")
    }

    /// Converts an error of a change at this place for the caller.
    pub fn unchanged(&self, error: io::Error) -> Failure {
        let failure = self.failed(error);
        if failure.code != code::DENIED {
            return failure;
        }
        failure.hint(
            "The operator may have granted the directory for reading only: `access` in the policy file.",
        )
    }
}

/// `/a//b/./c/` → `/a/b/c`; the empty text for `/`. A path without a leading slash is relative to `/`.
fn normal(path: &str) -> Result<String> {
    let mut normal = String::with_capacity(path.len() + 1);
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                return Err(Failure::denied(format!("access denied: `..` is not allowed in a path: {path}"))
                    .hint("Write the whole path, starting with the granted directory."));
            }
            part if part.contains('\0') => {
                return Err(Failure::invalid_params("a path cannot contain NUL"));
            }
            part => {
                normal.push('/');
                normal.push_str(part);
            }
        }
    }
    Ok(normal)
}

/// Rest of `path` below `above`; both normalised.
fn below<'p>(path: &'p str, above: &str) -> Option<&'p str> {
    let rest = path.strip_prefix(above.trim_end_matches('/'))?;
    if rest.is_empty() { Some("") } else { rest.strip_prefix('/') }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roots(at: &[&str]) -> Roots {
        Roots::new(at.iter().map(|at| ((*at).to_owned(), Base::at("/nowhere".into()))))
    }

    fn check(at: &[&str], path: &str, expected: Result<&str, &str>) {
        let roots = roots(at);
        let found = roots.place(path).map(|place| place.path());
        let found = found.as_deref().map_err(|failure| failure.message.as_str());
        assert_eq!(found, expected.as_ref().copied().map_err(|message| *message), "{path} in {at:?}");
    }

    #[test]
    fn a_path_resolves_in_its_innermost_granted_directory() {
        let two = ["/notes", "/notes/work"];
        check(&two, "/notes/a.txt", Ok("/notes/a.txt"));
        check(&two, "notes//./a.txt/", Ok("/notes/a.txt"));
        check(&two, "/notes/work/x", Ok("/notes/work/x"));
        check(&two, "/notes", Ok("/notes"));
        check(&["/"], "/etc", Ok("/etc"));
        check(&["/"], "/", Ok("/"));
        check(&two, "/notesworth/a", Err("access denied: /notesworth/a is not in a granted directory"));
        check(&two, "/etc/passwd", Err("access denied: /etc/passwd is not in a granted directory"));
        check(&two, "/notes/../etc", Err("access denied: `..` is not allowed in a path: /notes/../etc"));
        check(&two, "..", Err("access denied: `..` is not allowed in a path: .."));
        check(&two, "/", Err("access denied: / is not in a granted directory"));
        check(&two, "/notes/a\0b", Err("a path cannot contain NUL"));
    }

    #[test]
    fn a_parent_path_covers_granted_directories() {
        let roots = roots(&["/data/notes", "/data/docs", "/tmp"]);
        let above = |path| match roots.target(path) {
            Ok(Target::Above(places)) => places.iter().map(Place::path).collect::<Vec<_>>(),
            Ok(Target::Place(place)) => vec![format!("place {}", place.path())],
            Err(failure) => vec![failure.code.clone()],
        };
        assert_eq!(above("/"), ["/data/docs", "/data/notes", "/tmp"]);
        assert_eq!(above("/data"), ["/data/docs", "/data/notes"]);
        assert_eq!(above("/tmp"), ["place /tmp"]);
        assert_eq!(above("/da"), ["denied"]);
    }
}
