//! The record in a database, which servers share. The state folder of each has a copy, for commands.

use std::sync::{Mutex, PoisonError};

use loggia_state::{
    ChangeCondition, ChangeOperation, HostRecords, StateChange, StateError, StateFolder, StateSpace,
};

use super::record::{NameClaim, NameFile, NameRecord};

/// Key of the record.
const KEY: &str = "names";
/// Attempts to write, each after another server was quicker.
const ATTEMPTS: usize = 100;

/// The record that servers with a database share.
#[derive(Default)]
pub struct SharedNames {
    /// The record as it was read last: it applies while the database cannot be reached. Locked to read or replace it.
    known: Mutex<Option<NameRecord>>,
}

impl SharedNames {
    /// Reads the record. The first time, it gets what the state folder has recorded before, unless others came first.
    pub fn read(&self, folder: &StateFolder) -> NameRecord {
        let known = self.known();
        match known {
            None => self.record(folder, &NameFile::in_folder(folder.path()).read().to_claims()),
            Some(known) => match load(folder) {
                Ok((record, _)) => self.keep(folder, record),
                Err(_) => known,
            },
        }
    }

    /// Records claims unless other servers came first; returns the resulting record.
    pub fn record(&self, folder: &StateFolder, claims: &[NameClaim]) -> NameRecord {
        match add(folder, claims) {
            Ok(record) => self.keep(folder, record),
            Err(error) => match self.known() {
                Some(known) => known.unwritten(&format!("the name record cannot be written: {error}")),
                None => NameRecord::unread(&format!("the name record cannot be read: {error}")),
            },
        }
    }

    fn known(&self) -> Option<NameRecord> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Remembers a record, also in the state folder if it is new.
    fn keep(&self, folder: &StateFolder, record: NameRecord) -> NameRecord {
        let before = self.known.lock().unwrap_or_else(PoisonError::into_inner).replace(record.clone());
        if before.as_ref() != Some(&record)
            && let Err(error) = NameFile::in_folder(folder.path()).replace(&record)
        {
            tracing::debug!("failed to copy the name record to {}: {error}", folder.path().display());
        }
        record
    }
}

/// Loads the record, with its version.
fn load(folder: &StateFolder) -> Result<(NameRecord, ChangeCondition), StateError> {
    let store = folder.records(HostRecords::Names);
    match store.get(StateSpace::Shared, &[KEY.to_owned()])?.pop().flatten() {
        None => Ok((NameRecord::default(), ChangeCondition::Absent)),
        Some(entry) => {
            let record = NameRecord::parse(&entry.value).map_err(StateError::Storage)?;
            Ok((record, ChangeCondition::Version(entry.version)))
        }
    }
}

fn add(folder: &StateFolder, claims: &[NameClaim]) -> Result<NameRecord, StateError> {
    let store = folder.records(HostRecords::Names);
    for _ in 0..ATTEMPTS {
        let (before, expect) = load(folder)?;
        let mut record = before.clone();
        record.apply(claims);
        if record == before {
            return Ok(record);
        }
        let text = record.to_text().map_err(|error| StateError::Invalid(error.to_string()))?;
        let change = StateChange { key: KEY.to_owned(), expect, operation: ChangeOperation::Put(text) };
        match store.commit(StateSpace::Shared, vec![change]) {
            Ok(_) => return Ok(record),
            Err(StateError::Conflict(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Err(StateError::Busy)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(stem: &str, name: &str, given: bool) -> NameClaim {
        NameClaim { name: name.into(), stem: stem.into(), given }
    }

    /// Two servers with one store of records: here, that of a folder.
    #[test]
    fn the_first_server_to_record_a_name_owns_it() {
        let place = tempfile::tempdir().unwrap();
        let folder = StateFolder::open(place.path()).unwrap();
        // Recorded before there was a database.
        NameFile::in_folder(folder.path()).record(&[claim("memo", "notes", false)]);
        let (one, other) = (SharedNames::default(), SharedNames::default());
        assert!(one.read(&folder).contains(&claim("memo", "notes", false)));
        let told = other.record(&folder, &[claim("notes", "notes", false), claim("b", "search", false)]);
        assert!(told.contains(&claim("memo", "notes", false)) && told.contains(&claim("b", "search", false)));
        assert!(!one.record(&folder, &[claim("a", "search", false)]).contains(&claim("a", "search", false)));
        let told = one.record(&folder, &[claim("a", "search", true)]);
        assert!(told.contains(&claim("a", "search", false)), "a policy decides");
        assert_eq!(other.read(&folder), told);
        assert_eq!(NameFile::in_folder(folder.path()).read(), told, "commands see it, too");
    }

    #[test]
    fn what_is_known_applies_while_the_record_cannot_be_read() {
        let place = tempfile::tempdir().unwrap();
        let folder = StateFolder::open(place.path()).unwrap();
        let names = SharedNames::default();
        let known = names.record(&folder, &[claim("memo", "notes", false)]);
        for file in std::fs::read_dir(place.path().join("stores")).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_some_and(|ending| ending == "db") {
                std::fs::write(path, "damaged").unwrap();
            }
        }
        let fresh = StateFolder::open(place.path()).unwrap();
        assert_eq!(names.read(&fresh), known);
        let told = names.record(&fresh, &[claim("b", "search", false)]);
        assert!(told.right("memo", "notes", false).is_ok() && told.right("b", "search", false).is_err());
        // A server that begins knows no owner, so it assigns nothing.
        assert!(SharedNames::default().read(&fresh).right("notes", "notes", false).is_err());
    }
}
