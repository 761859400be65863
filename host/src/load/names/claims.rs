//! Pure: which file owns which name.

use std::collections::BTreeMap;

use super::record::{NameClaim, NameOwner, NameRecord, NameRefusal, lookalike_key};
use crate::load::plugin_files::file_stem;

/// A file that claims a name.
#[derive(Debug, Clone, Copy)]
pub struct FileClaim<'a> {
    /// Its name.
    pub file: &'a str,
    /// The facade's.
    pub name: &'a str,
    /// Whether its policy gives it the name, rather than the plugin itself.
    pub given: bool,
    /// Whether it loads. One that does not keeps its file's name from others.
    pub loads: bool,
}

/// Who owns which name. Names that look alike are one name.
#[derive(Default)]
pub struct NameOwners {
    names: BTreeMap<String, NameHolder>,
    /// The files that may not have their names, whoever else claims them.
    withheld: BTreeMap<String, NameRefusal>,
}

/// The file that owns a name, and the name as it writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameHolder {
    /// Its name.
    pub file: String,
    /// The facade's.
    pub name: String,
    given: bool,
    loads: bool,
}

/// Who keeps a file from serving its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameConflict<'a> {
    /// Another file.
    File(&'a NameHolder),
    /// The record of who owns which name.
    Record(&'a NameRefusal),
}

impl NameOwners {
    /// Gives each name to one of those that claim it, whatever their order: by the right that the record gives them; or
    /// else to who has it already, or else to the plainest name, or else to the first by file name.
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
            // At a start nobody has it: a word then stands before what imitates it with digits.
            let rank = (right, !has_it, look != name, file);
            if owners.get(&look).is_none_or(|(best, _)| rank < *best) {
                let owner = NameHolder { file: file.to_owned(), name: name.to_owned(), given, loads };
                owners.insert(look, (rank, owner));
            }
        }
        let names = owners.into_iter().map(|(look, (_, owner))| (look, owner)).collect();
        Self { names, withheld }
    }

    /// What is to be recorded: who serves a name and is not known as its owner yet.
    pub fn unrecorded(&self, record: &NameRecord) -> Vec<NameClaim> {
        let claims = self.names.values().filter(|owner| owner.loads).map(|owner| NameClaim {
            name: owner.name.clone(),
            stem: file_stem(&owner.file).to_owned(),
            given: owner.given,
        });
        claims.filter(|claim| !record.contains(claim)).collect()
    }

    /// Who keeps a file from serving a name; none if the name is the file's own.
    pub fn conflict(&self, file: &str, name: &str) -> Option<NameConflict<'_>> {
        match self.names.get(&lookalike_key(name)) {
            Some(owner) if owner.file == file => None,
            Some(owner) => Some(NameConflict::File(owner)),
            None => self.withheld.get(file).map(NameConflict::Record),
        }
    }

    /// The same, as a sentence for the operator, with what to do.
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
            file_stem(file)
        ))
    }
}
