//! Pure: assigns each name to one file.

use std::collections::BTreeMap;

use super::record::{NameClaim, NameOwner, NameRecord, NameRefusal, lookalike_key};
use crate::facade_kind::{file_stem, policy_stem};

/// A file's claim to a name.
#[derive(Debug, Clone, Copy)]
pub struct FileClaim<'a> {
    /// File name.
    pub file: &'a str,
    /// Facade name.
    pub name: &'a str,
    /// Whether the policy sets the name, not the plugin.
    pub given: bool,
    /// Whether the file loads. One that does not reserves the name of its file.
    pub loads: bool,
}

/// Owners of all names. Names that look alike count as one.
#[derive(Default)]
pub struct NameOwners {
    names: BTreeMap<String, NameHolder>,
    /// Files whose names are refused, even without a competing claim.
    withheld: BTreeMap<String, NameRefusal>,
}

/// The file that holds a name, and its spelling of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameHolder {
    /// File name.
    pub file: String,
    /// Facade name.
    pub name: String,
    given: bool,
    loads: bool,
}

/// Reason for which a file cannot serve its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameConflict<'a> {
    /// Another file holds it.
    File(&'a NameHolder),
    /// The name record refuses it.
    Record(&'a NameRefusal),
}

impl NameOwners {
    /// Assigns each name to one claim, independent of their order: by the right in the record, then to the current
    /// holder, then to the spelling without digits, then by file name.
    pub fn assign<'a>(
        claims: impl IntoIterator<Item = FileClaim<'a>>,
        before: &Self,
        record: &NameRecord,
    ) -> Self {
        let (mut owners, mut withheld) = (BTreeMap::<String, (_, NameHolder)>::new(), BTreeMap::new());
        for FileClaim { file, name, given, loads } in claims {
            let right = match record.right(file_stem(file), name, given) {
                Ok(right) => right,
                Err(why) => {
                    if loads {
                        withheld.insert(file.to_owned(), why);
                    }
                    continue;
                }
            };
            let look = lookalike_key(name);
            let has_it = before.names.get(&look).is_some_and(|owner| owner.file == file);
            // At a start there is no holder: a plain word then precedes its imitation with digits.
            let rank = (right, !has_it, look != name, file);
            if owners.get(&look).is_none_or(|(best, _)| rank < *best) {
                let owner = NameHolder { file: file.to_owned(), name: name.to_owned(), given, loads };
                owners.insert(look, (rank, owner));
            }
        }
        let names = owners.into_iter().map(|(look, (_, owner))| (look, owner)).collect();
        Self { names, withheld }
    }

    /// Lists the claims to record: holders that serve and are not recorded yet.
    pub fn unrecorded(&self, record: &NameRecord) -> Vec<NameClaim> {
        let claims = self.names.values().filter(|owner| owner.loads).map(|owner| NameClaim {
            name: owner.name.clone(),
            stem: file_stem(&owner.file).to_owned(),
            given: owner.given,
        });
        claims.filter(|claim| !record.contains(claim)).collect()
    }

    /// Returns what keeps a file from serving a name; `None` if it holds the name.
    pub fn conflict(&self, file: &str, name: &str) -> Option<NameConflict<'_>> {
        match self.names.get(&lookalike_key(name)) {
            Some(owner) if owner.file == file => None,
            Some(owner) => Some(NameConflict::File(owner)),
            None => self.withheld.get(file).map(NameConflict::Record),
        }
    }

    /// Explains the conflict to the operator, with a fix.
    pub fn refusal(&self, file: &str, name: &str) -> Option<String> {
        let alike = |owned: &str| match owned == name {
            true => String::new(),
            false => format!(", which looks like `{name}`"),
        };
        let why = match self.conflict(file, name)? {
            NameConflict::File(NameHolder { file, name: owned, .. }) => {
                format!("`{file}` owns the name `{owned}`{}", alike(owned))
            }
            NameConflict::Record(NameRefusal::From(NameOwner { stem, name: owned })) => format!(
                "the name `{owned}`{} and its state belong to the plugin `{stem}`, which does not serve now",
                alike(owned)
            ),
            NameConflict::Record(NameRefusal::Unrecorded(why)) => why.clone(),
            NameConflict::Record(NameRefusal::TooSoon) => "the other plugins are not loaded yet".to_owned(),
        };
        Some(format!(
            "not served: {why}; to give this file the name and its state, write `name = \"{name}\"` in the section \
             [expose] of {}.toml",
            policy_stem(file)
        ))
    }
}
