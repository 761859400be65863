//! Pure: which file owns which name, and what stands under each name.

use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

use loggia_gate::catalog::Slot;

use super::{
    admit::FENCED,
    compose,
    held::Held,
    owners::{NameClaim, NameOwner, NameRecord, Withheld, look},
    scan::stem,
};

/// A file that claims a name.
#[derive(Debug, Clone, Copy)]
pub struct Claim<'a> {
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
pub struct Owners {
    names: BTreeMap<String, Owner>,
    /// The files that may not have their names, whoever else claims them.
    withheld: BTreeMap<String, Withheld>,
}

/// The file that owns a name, and the name as it writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// Its name.
    pub file: String,
    /// The facade's.
    pub name: String,
    given: bool,
    loads: bool,
}

/// Who keeps a file from serving its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Against<'a> {
    /// Another file.
    File(&'a Owner),
    /// The record of who owns which name.
    Record(&'a Withheld),
}

impl Owners {
    /// Gives each name to one of those that claim it, whatever their order: by the right that the record gives them; or
    /// else to who has it already, or else to the plainest name, or else to the first by file name.
    pub fn of<'a>(claims: impl IntoIterator<Item = Claim<'a>>, before: &Self, record: &NameRecord) -> Self {
        let (mut owners, mut withheld) = (BTreeMap::<String, (_, Owner)>::new(), BTreeMap::new());
        for Claim { file, name, given, loads } in claims {
            let right = match record.right(stem(file), name, given) {
                Ok(right) => right,
                Err(why) => {
                    if loads {
                        withheld.insert(file.to_owned(), why);
                    }
                    continue;
                }
            };
            let look = look(name);
            let has_it = before.names.get(&look).is_some_and(|owner| owner.file == file);
            // At a start nobody has it: a word then stands before what imitates it with digits.
            let rank = (right, !has_it, look != name, file);
            if owners.get(&look).is_none_or(|(best, _)| rank < *best) {
                let owner = Owner { file: file.to_owned(), name: name.to_owned(), given, loads };
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
            stem: stem(&owner.file).to_owned(),
            given: owner.given,
        });
        claims.filter(|claim| !record.says(claim)).collect()
    }

    /// Who keeps a file from serving a name; none if the name is the file's own.
    pub fn against(&self, file: &str, name: &str) -> Option<Against<'_>> {
        match self.names.get(&look(name)) {
            Some(owner) if owner.file == file => None,
            Some(owner) => Some(Against::File(owner)),
            None => self.withheld.get(file).map(Against::Record),
        }
    }

    /// The same, as a sentence for the operator, with what to do.
    pub fn refusal(&self, file: &str, name: &str) -> Option<String> {
        let alike = |owned: &str| match owned == name {
            true => String::new(),
            false => format!(", which looks like `{name}`"),
        };
        let why = match self.against(file, name)? {
            Against::File(Owner { file, name: owned, .. }) => {
                format!("`{file}` owns the name `{owned}`{}", alike(owned))
            }
            Against::Record(Withheld::From(NameOwner { stem, name: owned })) => format!(
                "the name `{owned}`{} and its state belong to the plugin `{stem}`, which does not serve now",
                alike(owned)
            ),
            Against::Record(Withheld::Unrecorded(why)) => why.clone(),
            Against::Record(Withheld::TooSoon) => "the other plugins are not loaded yet".to_owned(),
        };
        Some(format!(
            "not served: {why}; if this file is to have the name and its state, write `name = \"{name}\"` in the section \
             [expose] of {}.toml",
            stem(file)
        ))
    }
}

/// The names that files claim.
pub fn claims(held: &BTreeMap<String, Held>) -> impl Iterator<Item = Claim<'_>> {
    held.iter().filter_map(|(file, held)| held.claim(file))
}

/// What stands under each name. A name that was ever served, or that a file claims in vain, is never merely unknown:
/// clients keep stale lists.
/// Of the files that the fence refuses, callers are told no path.
pub fn slots(
    held: &BTreeMap<String, Held>,
    owners: &Owners,
    fenced: &BTreeMap<String, String>,
) -> BTreeMap<String, Slot> {
    let mut slots = BTreeMap::new();
    let mut vacant: Vec<(&str, Cow<'static, str>)> = Vec::new();
    for (file, held) in held {
        let serving = held.serving.as_ref().map(|(_, entry)| (&entry.surface().name, entry));
        match (serving, &held.error) {
            (Some((name, entry)), _) => {
                match owners.against(file, name) {
                    None if fenced.contains_key(file) => vacant.push((name.as_str(), FENCED.into())),
                    None => drop(slots.insert(name.clone(), Slot::Serving(Arc::clone(entry)))),
                    Some(against) => vacant.extend(told(against, name).map(|told| (name.as_str(), told))),
                }
                let moved = format!("its plugin is now called `{name}`");
                let before = held.names.iter().filter(|before| *before != name);
                vacant.extend(before.map(|before| (before.as_str(), moved.clone().into())));
            }
            (None, Some((told, _))) => {
                let unnamed = held.names.is_empty().then_some(stem(file));
                let names = held.names.iter().map(String::as_str).chain(unnamed);
                vacant.extend(names.map(|name| (name, told.clone())));
            }
            (None, None) => {}
        }
    }
    for (name, reason) in vacant {
        slots.entry(name.to_owned()).or_insert_with(|| Slot::Unavailable(reason.into_owned()));
    }
    slots
}

/// What callers are told of a name that its file may not serve; nothing while that is not decided.
fn told(against: Against<'_>, name: &str) -> Option<Cow<'static, str>> {
    let owned = match against {
        Against::File(Owner { name: owned, .. })
        | Against::Record(Withheld::From(NameOwner { name: owned, .. })) => owned,
        Against::Record(Withheld::Unrecorded(_)) => return Some("it is not known whose name this is".into()),
        Against::Record(Withheld::TooSoon) => return None,
    };
    Some(match owned == name {
        true => "the plugin that owns its name does not serve".into(),
        false => format!("its name looks like that of `{owned}`").into(),
    })
}

/// Makes the entries of workflows anew whose facades have changed, and says what keeps which workflow from running: by
/// file, in sentences for the operator.
pub fn compose(
    held: &mut BTreeMap<String, Held>,
    slots: BTreeMap<String, Slot>,
) -> (BTreeMap<String, Slot>, BTreeMap<String, Vec<String>>) {
    let of_workflows = held.values_mut().filter_map(|held| {
        let (_, entry) = held.serving.as_mut()?;
        Some((&**held.composed.as_ref()?, entry))
    });
    let beside = compose::settle(of_workflows.collect(), slots);
    let unavailable = held.iter().filter_map(|(file, held)| {
        let said = held.composed.as_ref()?.unavailable(&beside);
        (!said.is_empty()).then(|| (file.clone(), said))
    });
    let unavailable = unavailable.collect();
    (beside.slots, unavailable)
}

#[cfg(test)]
mod tests {
    use std::{fs, time::Duration};

    use loggia_facade::Reply;
    use loggia_gate::{access::Rules, testing};
    use loggia_sandbox::Digest;

    use super::*;
    use crate::reload::{AdmitError, Admitted, Facts, granted::VersionGrants, scan};

    /// What callers are told of a name whose owner does not serve.
    const ABSENT: &str = "the plugin that owns its name does not serve";

    /// A file whose versions had these facades, the last of which serves; none does not load. A name after `=` is given
    /// by the policy.
    fn held(facades: &[&str]) -> Held {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("x.wasm"), "").unwrap();
        let found = scan(folder.path()).unwrap().remove("x.wasm").unwrap();
        let mut held = Held::default();
        let attempts = if facades.is_empty() { vec![None] } else { facades.iter().map(Some).collect() };
        for facade in attempts {
            let admitted = facade.map(|name| {
                let (given, name) = name.strip_prefix('=').map_or((false, *name), |name| (true, name));
                let entry =
                    testing::entry(testing::puppet(name, async |_| Ok(Reply::default())), Rules::default());
                let digest = Digest::of(name.as_bytes());
                let facts =
                    Facts { digest, bytes: 0, imports: Vec::new(), compiled: false, took: Duration::ZERO };
                let grants = VersionGrants { name_given: given, ..VersionGrants::default() };
                Admitted { entry, composed: None, grants, facts }
            });
            held.attempted("x.wasm", &found, admitted.ok_or(AdmitError::NotRegular), Duration::ZERO);
        }
        held
    }

    fn record(owners: &[(&str, &str)]) -> NameRecord {
        let owners = owners.iter().map(|&(stem, name)| NameOwner { name: name.into(), stem: stem.into() });
        owners.collect()
    }

    /// What stands under each name, as words, with this record; the owners, for what comes after.
    fn check_with(
        record: &NameRecord,
        before: &Owners,
        files: &[(&str, &[&str])],
        expected: &[(&str, &str)],
    ) -> Owners {
        let all: BTreeMap<String, Held> =
            files.iter().map(|(f, names)| ((*f).to_owned(), held(names))).collect();
        let owners = Owners::of(claims(&all), before, record);
        let owner = |slot: &Slot| match slot {
            Slot::Unavailable(reason) => reason.clone(),
            Slot::Serving(entry) => {
                let owns =
                    |held: &Held| held.serving.as_ref().is_some_and(|(_, own)| Arc::ptr_eq(own, entry));
                all.iter().find(|(_, held)| owns(held)).map(|(file, _)| file.clone()).unwrap_or_default()
            }
        };
        let slots = slots(&all, &owners, &BTreeMap::new());
        let got: Vec<(&str, String)> =
            slots.iter().map(|(name, slot)| (name.as_str(), owner(slot))).collect();
        let got: Vec<(&str, &str)> = got.iter().map(|(name, file)| (*name, file.as_str())).collect();
        assert_eq!(got, expected, "{files:?}");
        owners
    }

    fn check(before: &Owners, files: &[(&str, &[&str])], expected: &[(&str, &str)]) -> Owners {
        check_with(&NameRecord::default(), before, files, expected)
    }

    const BROKEN: &str = "its file is not a regular file";

    /// H41.
    #[test]
    fn at_start_one_name_has_one_owner_whatever_the_order() {
        let check = |files: &[(&str, &[&str])], expected: &[(&str, &str)]| {
            check(&Owners::default(), files, expected);
        };
        check(&[("notes", &["notes"])], &[("notes", "notes")]);
        check(&[("b", &["notes"]), ("a", &["notes"])], &[("notes", "a")]);
        check(&[("a", &["notes"]), ("notes", &["notes"]), ("z", &["notes"])], &[("notes", "notes")]);
        // A look-alike is the same claim, and says why it is not served.
        check(
            &[("n0tes", &["n0tes"]), ("notes", &["notes"])],
            &[("n0tes", "its name looks like that of `notes`"), ("notes", "notes")],
        );
        check(
            &[("a", &["my-notes"]), ("my_notes", &["my_notes"])],
            &[("my-notes", "its name looks like that of `my_notes`"), ("my_notes", "my_notes")],
        );
        // What does not load keeps the name of its file, and is told of under it.
        check(&[("notes", &[])], &[("notes", BROKEN)]);
        check(&[("notes", &[]), ("z", &["notes"])], &[("notes", BROKEN)]);
        // The operator's word goes before a file's name.
        check(&[("notes", &["notes"]), ("z", &["=notes"])], &[("notes", "z")]);
    }

    /// H41.
    #[test]
    fn while_the_host_runs_a_name_stays_with_who_has_it() {
        let before = check(&Owners::default(), &[("b", &["notes"])], &[("notes", "b")]);
        let before = check(&before, &[("a", &["notes"]), ("b", &["notes"])], &[("notes", "b")]);
        // A look-alike whose file would be first is a newcomer all the same.
        let alike = "its name looks like that of `notes`";
        let known = record(&[("b", "notes")]);
        let both: &[(&str, &[&str])] = &[("b", &["notes"]), ("n0tes", &["n0tes"])];
        let before = check_with(&known, &before, both, &[("n0tes", alike), ("notes", "b")]);
        check_with(&known, &before, &[("n0tes", &["n0tes"])], &[("n0tes", alike)]);
    }

    /// H70: whatever becomes of the owner, its name is nobody else's.
    #[test]
    fn a_name_without_its_owner_is_not_served() {
        let known = record(&[("notes", "notes")]);
        let check = |files: &[(&str, &[&str])], expected: &[(&str, &str)]| {
            check_with(&known, &Owners::default(), files, expected)
        };
        check(&[("evil", &["notes"])], &[("notes", ABSENT)]);
        check(&[("evil", &["notes"]), ("notes", &[])], &[("notes", ABSENT)]);
        check(&[("evil", &["notes"]), ("notes", &["notes"])], &[("notes", "notes")]);
        check(&[("a", &["notes"]), ("notes", &["memos"])], &[("memos", "notes"), ("notes", ABSENT)]);
        let owners = check(&[("evil", &["=notes"]), ("notes", &["notes"])], &[("notes", "evil")]);
        let claim = NameClaim { name: "notes".into(), stem: "evil".into(), given: true };
        assert_eq!(owners.unrecorded(&known), [claim]);
        assert_eq!(owners.unrecorded(&record(&[("evil", "notes")])), []);
    }

    #[test]
    fn a_name_that_was_served_is_never_unknown() {
        let now = "its plugin is now called `memos`";
        let check = |files: &[(&str, &[&str])], expected: &[(&str, &str)]| {
            check(&Owners::default(), files, expected);
        };
        check(&[("a", &["notes", "memos"])], &[("memos", "a"), ("notes", now)]);
        check(&[("a", &["notes", "memos"]), ("b", &["notes"])], &[("memos", "a"), ("notes", "b")]);
        let mut gone = held(&["notes", "memos"]);
        gone.remove();
        let slots = slots(&BTreeMap::from([("a".to_owned(), gone)]), &Owners::default(), &BTreeMap::new());
        let told = |name: &str| match slots.get(name) {
            Some(Slot::Unavailable(reason)) => reason.clone(),
            _ => String::new(),
        };
        assert_eq!(
            (told("notes").as_str(), told("memos").as_str()),
            ("its file was removed", "its file was removed")
        );
    }

    #[test]
    fn what_the_fence_refuses_keeps_its_name_and_is_not_served() {
        let all = BTreeMap::from([("a".to_owned(), held(&["notes"]))]);
        let owners = Owners::of(claims(&all), &Owners::default(), &NameRecord::default());
        let fenced = BTreeMap::from([("a".to_owned(), "the policy grants /srv".to_owned())]);
        let slots = slots(&all, &owners, &fenced);
        assert!(matches!(&slots["notes"], Slot::Unavailable(reason) if reason == FENCED));
    }

    #[test]
    fn the_operator_is_told_who_owns_the_name_and_what_to_do() {
        let known = record(&[("files", "files")]);
        let claim = |file, name| Claim { file, name, given: false, loads: true };
        let all = [
            claim("a.wasm", "notes"),
            claim("b.wasm", "notes"),
            claim("c.wasm", "n0tes"),
            claim("d.wasm", "files"),
        ];
        let owners = Owners::of(all, &Owners::default(), &known);
        let check = |file, name, why: &str| {
            let todo = format!(
                "; if this file is to have the name and its state, write `name = \"{name}\"` in the section [expose] of \
                 {}.toml",
                stem(file)
            );
            assert_eq!(owners.refusal(file, name), Some(format!("not served: {why}{todo}")), "{file}");
        };
        assert_eq!(owners.refusal("a.wasm", "notes"), None);
        check("b.wasm", "notes", "`a.wasm` owns the name `notes`");
        check("c.wasm", "n0tes", "`a.wasm` owns the name `notes`, which looks like `n0tes`");
        let absent = "the name `files` and its state belong to the plugin `files`, which does not serve now";
        check("d.wasm", "files", absent);
    }
}
