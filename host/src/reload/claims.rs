//! Pure: which file owns which name, and what stands under each name.

use std::{borrow::Cow, collections::BTreeMap, sync::Arc, time::Duration};

use loggia_facade::Surface;
use loggia_sandbox::Digest;
use tokio::time::Instant;

use super::{
    AdmitError, Admitted, RESCAN,
    compose::{self, Composed},
    scan::{Found, stem},
    standing::{Stands, State},
};
use crate::{
    catalog::{Entry, Slot},
    gate::printable,
};

/// Trying again takes at most this part of the time: what costs a minute waits for twenty.
const RETRIES: u32 = 20;

/// What the reloader knows of one file.
#[derive(Default)]
pub struct Held {
    /// The version that was tried last, whatever came of it; none when the file is gone.
    tried: Option<Found>,
    /// When that version is worth another try.
    retry: Option<Instant>,
    /// The version that serves.
    serving: Option<(Digest, Arc<Entry>)>,
    /// Of workflows: what that version is made of anew when the facades that it calls change.
    composed: Option<Arc<Composed>>,
    /// Why the last version does not serve: what callers are told, and what the log was told.
    error: Option<(Cow<'static, str>, String)>,
    /// The names that its versions have had. The last is the one that is served, or was.
    names: Vec<String>,
}

impl Held {
    /// Whether a version need not be tried (again).
    pub fn is_done_with(&self, found: &Found, now: Instant) -> bool {
        self.tried.as_ref().is_some_and(|tried| {
            // A file may refer to others, and only the folder says which there are.
            let refers =
                self.error.is_some() || self.composed.as_ref().is_none_or(|composed| composed.refers);
            tried.is_same(found) && (!refers || tried.workflows == found.workflows)
        }) && self.retry.is_none_or(|retry| now < retry)
    }

    /// Whether there was a file when it was last looked for.
    pub fn has_file(&self) -> bool {
        self.tried.is_some()
    }

    /// How the file stands, as far as it alone decides; none when it is gone.
    pub fn stands(&self, file: &str) -> Option<Stands> {
        self.tried.as_ref()?;
        let facade = self.serving.as_ref().map(|(_, entry)| entry.surface().name.clone());
        let state = match (&facade, &self.error) {
            (None, _) => State::Failed,
            (Some(_), Some(_)) => State::Stale,
            (Some(_), None) => State::Serving,
        };
        let why = self.error.as_ref().map(|(_, said)| said.clone());
        Some(Stands { file: file.to_owned(), facade, state, why })
    }

    /// The digest and the surface of what serves: bytes that did not change need not be described again.
    pub fn known(&self) -> Option<(Digest, Arc<Surface>)> {
        self.serving.as_ref().map(|(digest, entry)| (*digest, Arc::clone(entry.facade.surface())))
    }

    /// Takes what an admission came to, and how long it took.
    pub fn attempted(
        &mut self,
        file: &str,
        found: &Found,
        admitted: Result<Admitted, AdmitError>,
        took: Duration,
    ) {
        self.tried = Some(found.clone());
        self.retry = None;
        match admitted {
            Ok(Admitted { entry, composed, facts }) => {
                let name = entry.surface().name.clone();
                let (digest, actions) = (facts.digest.to_string(), entry.surface().actions.len());
                let took = facts.took.as_millis();
                let how = match (&composed, facts.compiled) {
                    (Some(_), _) => "read",
                    (None, true) => "compiled",
                    (None, false) => "cached",
                };
                tracing::info!(
                    file,
                    facade = name,
                    actions,
                    digest = &digest[..12],
                    "loaded ({how}, {took} ms)"
                );
                self.names.retain(|known| *known != name);
                self.names.push(name);
                for warning in composed.iter().flat_map(|composed| composed.warnings()) {
                    tracing::warn!(file, "{}", printable(&warning.to_string()));
                }
                self.serving = Some((facts.digest, Arc::new(entry)));
                self.composed = composed;
                self.error = None;
            }
            Err(error) => {
                let keeps = if self.serving.is_some() { "; the version before it keeps serving" } else { "" };
                let said = format!("{error}{keeps}");
                if self.error.as_ref().is_none_or(|(_, before)| *before != said) {
                    tracing::error!(file, "{}", printable(&said));
                }
                self.retry = error.may_pass().then(|| Instant::now() + RESCAN.max(took * RETRIES));
                self.error = Some((error.told(), said));
            }
        }
    }

    /// The file is gone.
    pub fn remove(&mut self) {
        self.tried = None;
        self.serving = None;
        self.composed = None;
        self.error = Some(("its file was removed".into(), String::new()));
    }
}

/// Who owns which name. Names that look alike are one name.
#[derive(Default)]
pub struct Owners(BTreeMap<String, Owner>);

/// The file that owns a name, and the name as it writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// Its name.
    pub file: String,
    /// The facade's.
    pub name: String,
}

impl Owners {
    /// Gives each name to one of those that claim it, (file, facade's name), whatever their order: to the file that is
    /// called like the facade, or else to who has it already, or else to the plainest name, or else to the first by file
    /// name.
    pub fn of<'a>(claims: impl IntoIterator<Item = (&'a str, &'a str)>, before: &Self) -> Self {
        let mut owners: BTreeMap<String, (_, Owner)> = BTreeMap::new();
        for (file, name) in claims {
            let look = look(name);
            let has_it = before.0.get(&look).is_some_and(|owner| owner.file == file);
            // At a start nobody has it: a word then stands before what imitates it with digits.
            let rank = (stem(file) != name, !has_it, look != name, file);
            if owners.get(&look).is_none_or(|(best, _)| rank < *best) {
                owners.insert(look, (rank, Owner { file: file.to_owned(), name: name.to_owned() }));
            }
        }
        Self(owners.into_iter().map(|(look, (_, owner))| (look, owner)).collect())
    }

    /// Who keeps a file from serving a name; none if the name is the file's own.
    pub fn against(&self, file: &str, name: &str) -> Option<&Owner> {
        self.0.get(&look(name)).filter(|owner| owner.file != file)
    }

    /// The same, as a sentence for the operator.
    pub fn refusal(&self, file: &str, name: &str) -> Option<String> {
        let Owner { file: other, name: owned } = self.against(file, name)?;
        let alike = if owned == name { String::new() } else { format!(", which looks like `{name}`") };
        Some(format!("not served: `{other}` owns the name `{owned}`{alike}"))
    }
}

/// The names that files claim, as (file, facade's name).
pub fn claims(held: &BTreeMap<String, Held>) -> impl Iterator<Item = (&str, &str)> {
    held.iter().filter_map(|(file, held)| {
        held.serving.as_ref().map(|(_, entry)| (file.as_str(), entry.surface().name.as_str()))
    })
}

/// What stands under each name. A name that was ever served, or that a file claims in vain, is never merely unknown:
/// clients keep stale lists.
pub fn slots(held: &BTreeMap<String, Held>, owners: &Owners) -> BTreeMap<String, Slot> {
    let mut slots = BTreeMap::new();
    let mut vacant: Vec<(&str, Cow<'static, str>)> = Vec::new();
    for (file, held) in held {
        let serving = held.serving.as_ref().map(|(_, entry)| (&entry.surface().name, entry));
        match (serving, &held.error) {
            (Some((name, entry)), _) => {
                match owners.against(file, name) {
                    None => drop(slots.insert(name.clone(), Slot::Serving(Arc::clone(entry)))),
                    Some(Owner { name: owned, .. }) => {
                        vacant.push((name.as_str(), format!("its name looks like that of `{owned}`").into()));
                    }
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

/// Names that a person or a model takes for each other look the same.
fn look(name: &str) -> String {
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
    use loggia_facade::Reply;

    use super::*;
    use crate::{
        gate::{Rules, tests},
        reload::Facts,
    };

    /// A file whose versions had these facades, the last of which serves; none does not load.
    fn held(facades: &[&str]) -> Held {
        let mut held = Held::default();
        let Some(name) = facades.last() else {
            held.error = Some(("broken".into(), String::new()));
            return held;
        };
        let entry = tests::entry(tests::puppet(name, async |_| Ok(Reply::default())), Rules::default());
        let digest = Digest::of(name.as_bytes());
        let facts = Facts { digest, bytes: 0, imports: Vec::new(), compiled: false, took: Duration::ZERO };
        held.serving = Some((facts.digest, Arc::new(entry)));
        held.names = facades.iter().map(|&name| name.to_owned()).collect();
        held
    }

    /// What stands under each name, as words; the owners, for what comes after.
    fn check(before: &Owners, files: &[(&str, &[&str])], expected: &[(&str, &str)]) -> Owners {
        let all: BTreeMap<String, Held> =
            files.iter().map(|(f, names)| ((*f).to_owned(), held(names))).collect();
        let owners = Owners::of(claims(&all), before);
        let owner = |slot: &Slot| match slot {
            Slot::Unavailable(reason) => reason.clone(),
            Slot::Serving(entry) => {
                let owns =
                    |held: &Held| held.serving.as_ref().is_some_and(|(_, own)| Arc::ptr_eq(own, entry));
                all.iter().find(|(_, held)| owns(held)).map(|(file, _)| file.clone()).unwrap_or_default()
            }
        };
        let slots = slots(&all, &owners);
        let got: Vec<(&str, String)> =
            slots.iter().map(|(name, slot)| (name.as_str(), owner(slot))).collect();
        let got: Vec<(&str, &str)> = got.iter().map(|(name, file)| (*name, file.as_str())).collect();
        assert_eq!(got, expected, "{files:?}");
        owners
    }

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
        // What does not load is told of under its file's name, unless somebody else serves that name.
        check(&[("notes", &[])], &[("notes", "broken")]);
        check(&[("a", &["notes"]), ("notes", &[])], &[("notes", "a")]);
    }

    /// H41.
    #[test]
    fn while_the_host_runs_a_name_stays_with_who_has_it() {
        let before = check(&Owners::default(), &[("b", &["notes"])], &[("notes", "b")]);
        let before = check(&before, &[("a", &["notes"]), ("b", &["notes"])], &[("notes", "b")]);
        // Unless the file comes that is called like it.
        let all: &[(&str, &[&str])] = &[("a", &["notes"]), ("b", &["notes"]), ("notes", &["notes"])];
        let before = check(&before, all, &[("notes", "notes")]);
        // A look-alike whose file would be first is a newcomer all the same.
        let alike = "its name looks like that of `notes`";
        let both: &[(&str, &[&str])] = &[("n0tes", &["n0tes"]), ("notes", &["notes"])];
        let before = check(&before, both, &[("n0tes", alike), ("notes", "notes")]);
        check(&before, &[("n0tes", &["n0tes"])], &[("n0tes", "n0tes")]);
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
        let slots = slots(&BTreeMap::from([("a".to_owned(), gone)]), &Owners::default());
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
    fn the_operator_is_told_who_owns_the_name() {
        let owners = Owners::of([("a", "notes"), ("b", "notes"), ("c", "n0tes")], &Owners::default());
        let check = |file, name, expected: Option<&str>| {
            assert_eq!(owners.refusal(file, name).as_deref(), expected, "{file}");
        };
        check("a", "notes", None);
        check("b", "notes", Some("not served: `a` owns the name `notes`"));
        check("c", "n0tes", Some("not served: `a` owns the name `notes`, which looks like `n0tes`"));
    }
}
