//! Record of which plugin owns which facade name, permanently.
//!
//! Callers' scopes, `invoke` grants and stored state all refer to the facade's name, which a plugin chooses itself. So
//! the state folder records the stem of the file that first served a name. No other stem gets the name or its state,
//! unless the operator sets it in that stem's policy (`[expose] name`). Only serving hosts write the record; several
//! may share it.

use std::{
    collections::BTreeMap,
    fs::{self, TryLockError},
    io::{self, ErrorKind, Write},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use loggia_system::{file::private_options, folder};
use serde::{Deserialize, Serialize};

/// File name in the state folder.
const FILE: &str = "names.json";
const LOCK: &str = "names.lock";
const VERSION: u32 = 1;
/// Maximum size of the record: about ten thousand names.
const MAX_BYTES: u64 = 1 << 20;
/// Lock timeout. A host holds the lock while it writes one small file.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);

/// The stem that owns a name, and its plugin's spelling of the name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NameOwner {
    /// Facade name.
    pub name: String,
    /// File name without its suffix.
    pub stem: String,
}

/// Name owners, as last read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NameRecord {
    /// Keyed by [`lookalike_key`], since names that look alike count as one.
    owners: BTreeMap<String, NameOwner>,
    trouble: Option<RecordTrouble>,
}

/// Reasons for which unowned names cannot be assigned.
#[derive(Debug, Clone, PartialEq, Eq)]
enum RecordTrouble {
    /// The initial scan is not complete.
    TooSoon,
    /// The record cannot be written. Its contents apply.
    Unwritten(String),
    /// The record cannot be read, so owners are unknown.
    Unread(String),
}

/// The right by which a file serves a name, strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NameRight {
    /// Owns the name, and its policy sets it.
    Confirmed,
    /// The policy sets the name.
    Given,
    /// Owns the name.
    Owned,
    /// The name is unowned and equals the file's stem.
    Alike,
    /// The name is unowned.
    Free,
}

/// Reason for which a file does not get a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NameRefusal {
    /// Another stem owns it.
    From(NameOwner),
    /// The owner is not decided yet.
    TooSoon,
    /// The owner is unknown, or cannot be recorded.
    Unrecorded(String),
}

/// A claim to record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameClaim {
    /// Facade name.
    pub name: String,
    /// File name without its suffix.
    pub stem: String,
    /// Whether the policy sets the name.
    pub given: bool,
}

impl FromIterator<NameOwner> for NameRecord {
    fn from_iter<T: IntoIterator<Item = NameOwner>>(owners: T) -> Self {
        let owners = owners.into_iter().map(|owner| (lookalike_key(&owner.name), owner)).collect();
        Self { owners, trouble: None }
    }
}

impl NameRecord {
    /// Creates the record of an unusable state folder.
    pub fn without_folder(why: impl ToString) -> Self {
        Self { owners: BTreeMap::new(), trouble: Some(RecordTrouble::Unwritten(why.to_string())) }
    }

    /// Creates a record whose owners are unknown.
    pub(super) fn unread(why: &str) -> Self {
        Self { trouble: Some(RecordTrouble::Unread(why.to_owned())), ..Self::default() }
    }

    /// Withholds unowned names, which cannot be recorded.
    pub(super) fn unwritten(self, why: &str) -> Self {
        Self { trouble: Some(RecordTrouble::Unwritten(why.to_owned())), ..self }
    }

    /// Lists the owners as claims.
    pub(super) fn to_claims(&self) -> Vec<NameClaim> {
        let claim = |owner: &NameOwner| NameClaim {
            name: owner.name.clone(),
            stem: owner.stem.clone(),
            given: false,
        };
        self.owners.values().map(claim).collect()
    }

    /// Withholds unowned names until the initial scan is complete.
    pub fn before_complete(self) -> Self {
        let trouble = self.trouble.or(Some(RecordTrouble::TooSoon));
        Self { trouble, ..self }
    }

    /// Decides by which right a file may serve a name.
    ///
    /// # Errors
    ///
    /// The reason why it may not.
    pub fn right(&self, stem: &str, name: &str, given: bool) -> Result<NameRight, NameRefusal> {
        let owner = self.owners.get(&lookalike_key(name));
        let is_owner = owner.is_some_and(|owner| owner.stem == stem && owner.name == name);
        match (owner, &self.trouble) {
            (_, _) if given && is_owner => Ok(NameRight::Confirmed),
            (_, _) if given => Ok(NameRight::Given),
            (_, Some(RecordTrouble::Unread(why))) => Err(NameRefusal::Unrecorded(why.clone())),
            // An owner may change the spelling of its name.
            (Some(owner), _) if owner.stem == stem => Ok(NameRight::Owned),
            (Some(owner), _) => Err(NameRefusal::From(owner.clone())),
            (None, _) if stem == name => Ok(NameRight::Alike),
            (None, None) => Ok(NameRight::Free),
            (None, Some(RecordTrouble::TooSoon)) => Err(NameRefusal::TooSoon),
            (None, Some(RecordTrouble::Unwritten(why))) => Err(NameRefusal::Unrecorded(why.clone())),
        }
    }

    /// Whether the claim is recorded already.
    pub fn contains(&self, claim: &NameClaim) -> bool {
        self.owners
            .get(&lookalike_key(&claim.name))
            .is_some_and(|owner| owner.stem == claim.stem && owner.name == claim.name)
    }

    pub(super) fn apply(&mut self, claims: &[NameClaim]) {
        for claim in claims {
            if self.right(&claim.stem, &claim.name, claim.given).is_ok() {
                let owner = NameOwner { name: claim.name.clone(), stem: claim.stem.clone() };
                self.owners.insert(lookalike_key(&claim.name), owner);
            }
        }
    }

    /// Renders the record as its file has it.
    pub(super) fn to_text(&self) -> io::Result<Vec<u8>> {
        let written = RecordDocument { version: VERSION, names: self.owners.values().cloned().collect() };
        let mut text = serde_json::to_vec_pretty(&written)?;
        text.push(b'\n');
        if text.len() as u64 > MAX_BYTES {
            return Err(io::Error::other(format!("it would be larger than {MAX_BYTES} bytes")));
        }
        Ok(text)
    }

    pub(super) fn parse(text: &[u8]) -> Result<Self, String> {
        let read: RecordDocument = serde_json::from_slice(text).map_err(|error| error.to_string())?;
        if read.version != VERSION {
            return Err(format!("it has version {}, and this host reads version {VERSION}", read.version));
        }
        Ok(read.names.into_iter().collect())
    }
}

/// File format of the record.
#[derive(Serialize, Deserialize)]
struct RecordDocument {
    version: u32,
    names: Vec<NameOwner>,
}

/// The record's file in the state folder.
#[derive(Debug, Clone)]
pub struct NameFile(PathBuf);

impl NameFile {
    /// Locates the record in a state folder.
    pub fn in_folder(state: &Path) -> Self {
        Self(state.to_owned())
    }

    /// Reads the record. A missing file is an empty record.
    pub fn read(&self) -> NameRecord {
        self.load().unwrap_or_else(|why| NameRecord {
            trouble: Some(RecordTrouble::Unread(why)),
            ..NameRecord::default()
        })
    }

    fn load(&self) -> Result<NameRecord, String> {
        let path = self.0.join(FILE);
        let failed = |why: String| {
            format!(
                "the name record, {}, cannot be read: {why}; restore a good copy, or delete it to let each plugin \
                keep the name that it has now",
                path.display()
            )
        };
        let text = match fs::metadata(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(NameRecord::default()),
            Ok(meta) if meta.len() > MAX_BYTES || !meta.is_file() => {
                return Err(failed(format!("it is not a file of at most {MAX_BYTES} bytes")));
            }
            found => found.and_then(|_| fs::read(&path)).map_err(|error| failed(error.to_string()))?,
        };
        NameRecord::parse(&text).map_err(failed)
    }

    /// Records claims unless other hosts came first; returns the resulting record.
    pub fn record(&self, claims: &[NameClaim]) -> NameRecord {
        let taken = self.with_lock(|| {
            let mut record = self.read();
            // An unreadable record is not replaced.
            if record.trouble.is_none() {
                record.apply(claims);
                self.write(&record)?;
            }
            Ok(record)
        });
        taken.unwrap_or_else(|error| {
            let file = self.0.join(FILE);
            let why = format!("the name record, {}, cannot be written: {error}", file.display());
            let record = self.read();
            let trouble = record.trouble.or(Some(RecordTrouble::Unwritten(why)));
            NameRecord { trouble, ..record }
        })
    }

    /// Replaces the record by a copy of another one.
    pub(super) fn replace(&self, record: &NameRecord) -> io::Result<()> {
        self.with_lock(|| self.write(record))
    }

    /// Writes the file atomically.
    fn write(&self, record: &NameRecord) -> io::Result<()> {
        let text = record.to_text()?;
        let mut file = tempfile::Builder::new().prefix(".names-").tempfile_in(&self.0)?;
        file.write_all(&text)?;
        file.as_file().sync_all()?;
        file.persist(self.0.join(FILE)).map_err(|error| error.error)?;
        folder::sync(&self.0)
    }

    fn with_lock<T>(&self, work: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        let lock = private_options().create(true).truncate(false).write(true).open(self.0.join(LOCK))?;
        let begun = Instant::now();
        loop {
            match lock.try_lock() {
                Ok(()) => return work(),
                Err(TryLockError::WouldBlock) if begun.elapsed() < LOCK_TIMEOUT => {
                    std::thread::sleep(Duration::from_millis(10));
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Normalises a name, so that names that people or models could confuse are equal.
pub fn lookalike_key(name: &str) -> String {
    name.chars()
        .map(|c| match c {
            '-' => '_',
            '0' => 'o',
            '1' => 'l',
            c => c,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(stem: &str, name: &str, given: bool) -> NameClaim {
        NameClaim { name: name.into(), stem: stem.into(), given }
    }

    fn record(owners: &[(&str, &str)], trouble: Option<RecordTrouble>) -> NameRecord {
        let owner = |&(stem, name): &(&str, &str)| NameOwner { name: name.into(), stem: stem.into() };
        NameRecord { trouble, ..owners.iter().map(owner).collect() }
    }

    #[test]
    fn names_belong_to_owners_unless_policies_say_otherwise() {
        let why = || "why".to_owned();
        let from = |stem: &str| Err(NameRefusal::From(NameOwner { name: "notes".into(), stem: stem.into() }));
        let unrecorded = || Err(NameRefusal::Unrecorded(why()));
        let (known, empty) = (record(&[("notes", "notes")], None), record(&[], None));
        let other = record(&[("memo", "notes")], None);
        let soon = empty.clone().before_complete();
        let unwritten = |owners: &[(&str, &str)]| record(owners, Some(RecordTrouble::Unwritten(why())));
        let unread = record(&[], Some(RecordTrouble::Unread(why())));
        for (record, stem, name, given, expected) in [
            (&known, "notes", "notes", false, Ok(NameRight::Owned)),
            (&known, "notes", "notes", true, Ok(NameRight::Confirmed)),
            (&known, "notes", "n0tes", false, Ok(NameRight::Owned)),
            (&known, "evil", "notes", false, from("notes")),
            (&known, "evil", "n0tes", false, from("notes")),
            (&known, "evil", "notes", true, Ok(NameRight::Given)),
            // A file name does not override the record.
            (&other, "notes", "notes", false, from("memo")),
            (&other, "notes", "notes", true, Ok(NameRight::Given)),
            (&empty, "notes", "notes", false, Ok(NameRight::Alike)),
            (&empty, "memo", "notes", false, Ok(NameRight::Free)),
            (&soon, "notes", "notes", false, Ok(NameRight::Alike)),
            (&soon, "memo", "notes", false, Err(NameRefusal::TooSoon)),
            (&soon, "memo", "notes", true, Ok(NameRight::Given)),
            (&unwritten(&[]), "notes", "notes", false, Ok(NameRight::Alike)),
            (&unwritten(&[]), "memo", "notes", false, unrecorded()),
            (&unwritten(&[("memo", "notes")]), "memo", "notes", false, Ok(NameRight::Owned)),
            (&unwritten(&[("memo", "notes")]), "notes", "notes", false, from("memo")),
            (&unread, "notes", "notes", false, unrecorded()),
            (&unread, "notes", "notes", true, Ok(NameRight::Given)),
        ] {
            assert_eq!(record.right(stem, name, given), expected, "{record:?} {stem} {name} {given}");
        }
    }

    #[test]
    fn the_first_host_to_write_wins() {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (NameFile::in_folder(folder.path()), NameFile::in_folder(folder.path()));
        assert_eq!(one.read(), NameRecord::default());
        let first = one.record(&[claim("a", "notes", false), claim("files", "files", false)]);
        let second = other.record(&[claim("b", "notes", false), claim("c", "search", false)]);
        assert!(first.contains(&claim("a", "notes", false)));
        assert!(
            second.contains(&claim("a", "notes", false)) && second.contains(&claim("c", "search", false))
        );
        assert_eq!(one.read(), second);
        let third = other.record(&[claim("b", "notes", true)]);
        assert!(third.contains(&claim("b", "notes", false)));
        let names: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names.len(), 2, "the record and its lock: {names:?}");
    }

    #[test]
    fn a_damaged_record_assigns_nothing_and_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let file = NameFile::in_folder(folder.path());
        for text in ["", "{", r#"{"version": 2, "names": []}"#, r#"{"version": 1}"#] {
            fs::write(folder.path().join(FILE), text).unwrap();
            let record = file.record(&[claim("notes", "notes", false)]);
            let refusal = record.right("notes", "notes", false).unwrap_err();
            assert!(
                matches!(refusal, NameRefusal::Unrecorded(why) if why.contains("cannot be read")),
                "{text}"
            );
            assert_eq!(fs::read_to_string(folder.path().join(FILE)).unwrap(), text);
        }
    }

    #[test]
    fn an_unwritable_record_keeps_its_contents() {
        let folder = tempfile::tempdir().unwrap();
        let file = NameFile::in_folder(&folder.path().join("gone"));
        let record = file.record(&[claim("memo", "notes", false)]);
        let refusal = record.right("memo", "notes", false).unwrap_err();
        assert!(matches!(refusal, NameRefusal::Unrecorded(why) if why.contains("cannot be written")));
        assert_eq!(record.right("notes", "notes", false), Ok(NameRight::Alike));
    }
}
