//! Opens the lock, and finds versions in it.

use std::{path::Path, process::ExitCode};

use anyhow::{Context, bail};
use loggia_load::{
    open_folder,
    pins::{LockDocument, LockError, OperatorDecision, PendingVersion, VersionLock, format_now},
};
use loggia_postgres::DatabaseOptions;
use loggia_text::printable;

use crate::cli::{
    common::{MissingError, UsageError},
    database::to_database,
    exit,
    records::{RecordPlace, own_name},
    term,
};

/// Opens the lock of a place. `None` if there is no such state folder: it is not created.
pub fn open_lock(place: RecordPlace) -> anyhow::Result<Option<VersionLock>> {
    let settings = place.settings()?;
    let database = to_database(&settings.state);
    let folder = place.folder(&settings)?;
    let is_there = database.is_some() || folder.exists();
    is_there.then(|| open_lock_in(&folder, database.as_ref())).transpose()
}

/// Opens the lock of a state folder, or of its database.
pub fn open_lock_in(folder: &Path, database: Option<&DatabaseOptions>) -> anyhow::Result<VersionLock> {
    let opened = open_folder(folder, database).and_then(|state| VersionLock::open(&state));
    opened.with_context(|| format!("failed to open the state folder {}", folder.display()))
}

/// Reads the lock.
pub fn read_lock(lock: &VersionLock) -> anyhow::Result<LockDocument> {
    let mut document = lock.read().map_err(|error| unusable(lock, &error))?;
    document.expire(&format_now());
    Ok(document)
}

/// The error of a command that cannot use the lock.
pub fn unusable(lock: &VersionLock, error: &LockError) -> anyhow::Error {
    anyhow::anyhow!(lock.explain(error))
}

/// A version as it is named on the command line: `NAME@sha256:DIGEST`, or `NAME` alone.
#[derive(Debug, Clone)]
pub struct VersionReference {
    name: String,
    digest: Option<String>,
}

impl VersionReference {
    /// Parses a reference.
    ///
    /// # Errors
    ///
    /// If the part after `@` is not a digest.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (name, digest) = match text.split_once('@') {
            None => (text, None),
            Some((name, digest)) => (name, Some(digest.to_owned())),
        };
        let is_digest = |digest: &String| {
            digest
                .strip_prefix("sha256:")
                .is_some_and(|hex| loggia_sandbox::ArtifactDigest::parse(hex).is_some())
        };
        if digest.as_ref().is_some_and(|digest| !is_digest(digest)) {
            return Err(
                "expected NAME@sha256: and 64 hexadecimal digits, as `loggia pending` prints them".to_owned()
            );
        }
        Ok(Self { name: name.to_owned(), digest })
    }

    /// Whether it names one version exactly.
    pub fn is_exact(&self) -> bool {
        self.digest.is_some()
    }

    /// Finds the pending version.
    ///
    /// # Errors
    ///
    /// If there is none ([`MissingError`]), or more than one or another one ([`UsageError`]).
    pub fn find<'a>(&self, lock: &'a LockDocument) -> anyhow::Result<&'a PendingVersion> {
        let name = printable(&self.name);
        let mut named = lock.pending().filter(|pending| pending.version.name == self.name).peekable();
        if named.peek().is_none() {
            bail!(MissingError(format!(
                "no version of `{name}` waits for approval; `loggia pending` lists those that do"
            )));
        }
        let mut found = named
            .filter(|pending| self.digest.as_ref().is_none_or(|digest| *digest == pending.version.digest()));
        match (found.next(), found.next()) {
            (Some(found), None) => Ok(found),
            (Some(_), Some(_)) => bail!(UsageError(format!(
                "more than one version of `{name}` waits, from different folders or on different servers: name one as `loggia pending` prints it"
            ))),
            (None, _) => bail!(UsageError(format!(
                "another version of `{name}` waits by now: look at it with `loggia diff {name}`"
            ))),
        }
    }
}

/// The decision of whoever runs the command.
pub fn decide_now() -> OperatorDecision {
    OperatorDecision::now(own_name())
}

/// Reports that nothing waits; returns the exit code.
pub fn report_nothing() -> ExitCode {
    term::note("no version waits for approval");
    ExitCode::from(exit::NOTHING)
}
