//! One space of a plugin's state, as JSON.

use loggia_facade::Object;
use loggia_state::{
    ChangeCondition, ChangeOperation, PAGE_ENTRIES, StateChange, StateError, StateFolder, StateSpace,
    StateStore,
};
use serde_json::Value;

/// Quota for what a file prepares: that of the policy applies to the plugin alone.
const QUOTA: u64 = 1 << 30;

/// One space of the plugin's state.
pub struct CaseStore {
    store: StateStore,
    space: StateSpace,
}

impl CaseStore {
    /// Opens a space of the state of this facade.
    ///
    /// # Errors
    ///
    /// If the store cannot be opened.
    pub fn open(folder: &StateFolder, facade: &str, space: StateSpace) -> Result<Self, StateError> {
        Ok(Self { store: folder.store(facade, QUOTA)?, space })
    }

    /// Reads all entries. A value that is no JSON is read as a text.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    pub fn read(&self) -> Result<Value, StateError> {
        let (mut entries, mut after) = (Object::new(), None::<String>);
        loop {
            let page = self.store.scan(self.space, "", after.as_deref(), PAGE_ENTRIES, None)?;
            after = page.items.last().map(|entry| entry.key.clone());
            for entry in page.items {
                let text = || Value::from(String::from_utf8_lossy(&entry.value).into_owned());
                entries.insert(entry.key, serde_json::from_slice(&entry.value).unwrap_or_else(|_| text()));
            }
            if !page.more {
                return Ok(entries.into());
            }
        }
    }

    /// Replaces all entries, each by the JSON of its value.
    ///
    /// # Errors
    ///
    /// If a key or value is too long, or the store cannot be written.
    pub fn replace(&self, entries: &Object) -> Result<(), StateError> {
        let before = self.read()?;
        let gone =
            before.as_object().into_iter().flat_map(Object::keys).filter(|key| !entries.contains_key(*key));
        let gone = gone.map(|key| (key, ChangeOperation::Delete));
        let put = entries.iter().map(|(key, value)| (key, ChangeOperation::Put(value.to_string().into())));
        let changes: Vec<StateChange> = gone
            .chain(put)
            .map(|(key, operation)| StateChange { key: key.clone(), expect: ChangeCondition::Any, operation })
            .collect();
        for part in changes.chunks(loggia_state::COMMIT_CHANGES) {
            self.store.commit(self.space, part.to_vec())?;
        }
        Ok(())
    }
}
