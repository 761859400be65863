//! Files in granted directories, as a Loggia plugin. See the README.

mod delete;
mod diff;
mod draft;
mod edit;
mod entry;
mod get;
mod lines;
mod list;
mod mime;
mod mkdir;
mod pattern;
mod platform;
mod put;
mod relocate;
mod roots;
mod roundtrip;
mod search;
mod tree;
mod version;
mod walk;

use std::{fs::File, time::Duration};

use loggia_sdk::prelude::*;

use delete::Deleted;
use edit::{Edit, Edited};
use entry::{Entry, Kind, modified};
use get::Got;
use list::Listing;
use mkdir::Made;
use put::Written;
use relocate::Moved;
use roots::{Roots, Target};
use roundtrip::{Change, Committed, Finished, Mode, Preview, Started};
use search::Match;
use walk::Filter;

/// The facade, over the directories that a policy grants.
pub struct Files {
    roots: Roots,
    /// Time after which an unchanged journal counts as abandoned.
    patience: Duration,
}

impl Files {
    /// Over the directories that the host opened for this call.
    pub fn granted() -> Self {
        Self { roots: Roots::new(platform::granted()), patience: roundtrip::PATIENCE }
    }

    /// Uses native directories, for tests: the path that a policy would set as `at`, and the real one.
    #[cfg(not(target_os = "wasi"))]
    pub fn over<'a>(directories: impl IntoIterator<Item = (&'a str, std::path::PathBuf)>) -> Self {
        let base = |(at, directory): (&str, _)| (at.to_owned(), platform::Base::at(directory));
        Self { roots: Roots::new(directories.into_iter().map(base)), patience: roundtrip::PATIENCE }
    }

    /// Finishes or undoes an interrupted round trip, before any write.
    fn settle(&self) -> Result<()> {
        roundtrip::settle(&self.roots, self.patience).map(drop)
    }
}

/// Local files.
///
/// Paths are absolute; `list` of `/` shows the granted directories. To change parts of a file, `get` it, then `edit`
/// it; to replace it, `put` the whole new content with `expect` set to the `version` from `get`. To change several
/// files atomically, `roundtrip_start`, then `roundtrip_commit` with the whole new contents.
#[facade(
    needs("dirs", "the directories it works in"),
    wants("store", "for round trips: atomic changes of several files")
)]
impl Files {
    /// List a directory by path, by size, or as a tree with counts.
    ///
    /// With detail `minimal` paths only (directories end with a slash), `standard` adds kind and size, `full` the
    /// modification time.
    #[action(read, details, alias = "ls", example = r#"{"path": "/notes", "depth": 3, "glob": "*.md"}"#)]
    #[allow(clippy::too_many_arguments)]
    fn list(
        &self,
        call: &Call,
        /// A directory; `/` shows the granted ones.
        #[param(default = "/", length = 1..=4096)]
        path: String,
        /// Number of levels.
        #[param(default = 1, range = 1..=32)]
        depth: u32,
        /// Only entries whose name matches, or, with a slash, whose path below `path`: `*.md`, `src/**/*.rs !target`.
        #[param(length = 1..=1000)]
        glob: Option<String>,
        /// Also names that begin with a dot.
        #[param(default)]
        hidden: bool,
        #[param(default = 200, range = 1..=1000)] limit: u32,
        /// From the last answer, for the next part.
        cursor: Option<String>,
        /// Largest files first, or an indented text.
        by: Option<list::Form>,
    ) -> Result<Reply<Listing>> {
        let filter = Filter::new(glob, hidden);
        let query = list::Query { filter, depth, limit: limit as usize, cursor, detail: call.detail(), by };
        roundtrip::undisturbed(self.patience, || list::list(&self.roots, &path, &query))
    }

    /// Read a file, a part of it, or several files.
    ///
    /// Pictures and sounds are shown; other binary files are only described, unless `encoding` is `base64`.
    #[action(
        read,
        alias = "read",
        alias = "cat",
        example = r#"{"path": "/notes/todo.md"}"#,
        example = r#"{"paths": ["/src/a.rs", "/src/b.rs"], "lines": "1-40", "numbered": true}"#
    )]
    #[allow(clippy::too_many_arguments)]
    fn get(
        &self,
        #[param(length = 1..=4096)] path: Option<String>,
        /// Several files instead; 112 KiB together.
        #[param(length = 1..=50)]
        paths: Option<Vec<String>>,
        /// `10-40`, `40-` to the end, `-20` for the last 20, or `7`.
        #[param(length = 1..=40)]
        lines: Option<String>,
        /// First byte.
        #[param(default)]
        offset: u64,
        /// Maximum bytes.
        #[param(default = 32_768, range = 16..=131_072)]
        limit: u64,
        /// Encoding of the content.
        encoding: Option<put::Encoding>,
        /// With line numbers.
        #[param(default)]
        numbered: bool,
    ) -> Result<Reply<Got>> {
        let query = get::Query { lines, offset, limit, encoding, numbered };
        match (path, paths) {
            (Some(path), None) => {
                roundtrip::calm(self.patience)?;
                get::one(&self.roots.place(&path)?, &query)
            }
            (None, Some(paths)) => {
                roundtrip::undisturbed(self.patience, || get::many(&self.roots, &paths, &query))
            }
            (None, None) => Err(Failure::invalid_params("`path` is required, or `paths`")),
            (Some(_), Some(_)) => Err(Failure::invalid_params("`path` and `paths` exclude each other")),
        }
    }

    /// Write a whole file: a new one, or replace a known version.
    #[action(write, alias = "write", example = r#"{"path": "/notes/todo.md", "content": "- milk\n"}"#)]
    fn put(
        &self,
        #[param(length = 1..=4096)] path: String,
        /// The whole new content.
        content: String,
        /// Encoding of `content`.
        #[param(default)]
        encoding: put::Encoding,
        /// Create missing directories.
        #[param(default)]
        parents: bool,
        /// `version` of the file to replace; without it none is.
        #[param(length = 1..=64, hint = "`get` gives it")]
        expect: Option<String>,
    ) -> Result<Reply<Written>> {
        self.settle()?;
        put::put(&self.roots.place(&path)?, content, encoding, parents, expect.as_deref())
    }

    /// Change parts of a text file: all edits or none, in order.
    #[action(
        write,
        example = r#"{"path": "/notes/todo.md", "edits": [{"old": "- milk", "new": "- oat milk"}]}"#,
        example = r#"{"path": "/notes/todo.md", "edits": [{"lines": "3-2", "new": "- bread"}], "dry_run": true}"#
    )]
    fn edit(
        &self,
        #[param(length = 1..=4096)] path: String,
        #[param(length = 1..=100)] edits: Vec<Edit>,
        /// `version` of the file that was seen; required to replace `lines`.
        #[param(length = 1..=64, hint = "`get` gives it")]
        expect: Option<String>,
        /// Show the diff, write nothing.
        dry_run: Option<bool>,
    ) -> Result<Reply<Edited>> {
        self.settle()?;
        edit::edit(&self.roots.place(&path)?, &edits, expect.as_deref(), dry_run == Some(true))
    }

    /// Make a directory, and those above it.
    #[action(write, idempotent, example = r#"{"path": "/notes/2026/may"}"#)]
    fn mkdir(&self, #[param(length = 1..=4096)] path: String) -> Result<Made> {
        self.settle()?;
        mkdir::mkdir(&self.roots.place(&path)?)
    }

    /// Find lines that match a regular expression, in text files.
    #[action(
        read,
        alias = "grep",
        example = r#"{"pattern": "TODO|FIXME", "path": "/notes", "glob": "*.md"}"#
    )]
    #[allow(clippy::too_many_arguments)]
    fn search(
        &self,
        call: &Call,
        /// A regular expression, matched line by line; `\w`, `\d`, `\s` and `\b` are ASCII.
        #[param(length = 1..=1000)]
        pattern: String,
        /// A directory, searched recursively, or a file.
        #[param(default = "/", length = 1..=4096)]
        path: String,
        /// Only files whose name matches, or, with a slash, whose path below `path`: `*.md`, `src/**/*.rs !target`.
        #[param(length = 1..=1000)]
        glob: Option<String>,
        /// ASCII letters only.
        #[param(default)]
        ignore_case: bool,
        /// Lines around each match.
        #[param(default, range = 0..=5)]
        context: u32,
        /// Also names that begin with a dot.
        #[param(default)]
        hidden: bool,
        #[param(default = 50, range = 1..=500)] limit: u32,
        /// From the last answer, for the next part.
        cursor: Option<String>,
    ) -> Result<Reply<Vec<Match>>> {
        let filter = Filter::new(glob, hidden);
        let (context, limit) = (context as usize, limit as usize);
        let query = search::Query { pattern, ignore_case, filter, context, limit, cursor };
        roundtrip::undisturbed(self.patience, || search::search(&self.roots, &path, &query, call))
    }

    /// Describe a path: kind, size, modification time, type.
    ///
    /// With detail `full` also the version, which reads the whole file.
    #[action(read, details, alias = "info", example = r#"{"path": "/notes/todo.md"}"#)]
    fn stat(&self, call: &Call, #[param(length = 1..=4096)] path: String) -> Result<Entry> {
        roundtrip::calm(self.patience)?;
        let place = match self.roots.target(&path)? {
            Target::Place(place) => place,
            Target::Above(_) => return Ok(Entry { kind: Some(Kind::Directory), ..Entry::new(path) }),
        };
        let metadata = place.metadata()?;
        let mut entry = Entry::new(place.path()).with(&metadata, call.detail());
        if call.detail() > Detail::Minimal {
            entry.modified = modified(&metadata);
            entry.mime = (entry.kind == Some(Kind::File)).then(|| mime::guess(&path, &[]));
        }
        if call.detail() == Detail::Full && entry.kind == Some(Kind::File) {
            let file = File::open(place.followed()?).map_err(|error| place.failed(error))?;
            entry.version = Some(version::read(file).map_err(|error| place.failed(error))?);
        }
        Ok(entry)
    }

    /// Move or rename a file or a directory; replaces only a known version of a file.
    #[action(
        write,
        alias = "mv",
        alias = "rename",
        example = r#"{"from": "/notes/a.md", "to": "/notes/old/a.md", "parents": true}"#
    )]
    fn r#move(
        &self,
        #[param(length = 1..=4096)] from: String,
        /// The new path, with the name.
        #[param(length = 1..=4096)]
        to: String,
        /// Create missing directories.
        #[param(default)]
        parents: bool,
        /// `version` of the file at `to` to replace; without it none is.
        #[param(length = 1..=64, hint = "`get` gives it")]
        expect: Option<String>,
    ) -> Result<Moved> {
        self.settle()?;
        relocate::relocate(&self.roots.place(&from)?, &self.roots.place(&to)?, parents, expect.as_deref())
    }

    /// Delete a file, a link or a directory permanently.
    #[action(destructive, alias = "rm", example = r#"{"path": "/notes/old", "recursive": true}"#)]
    fn delete(
        &self,
        #[param(length = 1..=4096)] path: String,
        /// A directory with its contents.
        #[param(default)]
        recursive: bool,
    ) -> Result<Deleted> {
        self.settle()?;
        delete::delete(&self.roots.place(&path)?, recursive)
    }

    /// Read and record files, existing or new, to change them atomically.
    #[action(write, example = r#"{"paths": ["/notes/a.md", "/notes/new.md"]}"#)]
    fn roundtrip_start(
        &self,
        /// Files; 900 KiB together.
        #[param(length = 1..=200)]
        paths: Vec<String>,
    ) -> Result<Reply<Started>> {
        roundtrip::start(&self.roots, &paths, self.patience)
    }

    /// Show the effect of a commit: diffs, and conflicts with other writes.
    #[action(read, details)]
    fn roundtrip_preview(
        &self,
        call: &Call,
        #[param(length = 1..=64)] manifest_id: String,
        #[param(length = 1..=200)] changes: Vec<Change>,
        #[param(default)] mode: Mode,
    ) -> Result<Reply<Preview>> {
        roundtrip::preview(&self.roots, &manifest_id, changes, mode, self.patience, call.detail())
    }

    /// Write all changes or none; refused if a file of the manifest has changed.
    ///
    /// Other files can be created, but not overwritten.
    #[action(
        write,
        example = r##"{"manifest_id": "rt_0001", "changes": [{"path": "/notes/a.md", "content": "# A\n"}]}"##
    )]
    fn roundtrip_commit(
        &self,
        #[param(length = 1..=64)] manifest_id: String,
        #[param(length = 1..=200)] changes: Vec<Change>,
        /// `add_only` skips existing files, `update_only` missing ones.
        #[param(default)]
        mode: Mode,
    ) -> Result<Reply<Committed>> {
        roundtrip::commit(&self.roots, &manifest_id, changes, mode, self.patience)
    }

    /// Finish or undo an interrupted round trip.
    #[action(write, idempotent)]
    fn roundtrip_finish(&self) -> Result<Reply<Finished>> {
        roundtrip::finish(&self.roots, self.patience)
    }
}

loggia_sdk::export!(Files::granted());

#[cfg(test)]
mod tests;
