//! Pure: which file owns which name, and what stands under each name.

use std::{collections::BTreeMap, sync::Arc};

use loggia_facade::Surface;
use loggia_sandbox::Digest;

use super::{AdmitError, Admitted, scan::Found};
use crate::catalog::{Entry, Slot};

/// What the reloader knows of one file.
#[derive(Default)]
pub struct Held {
    /// The version that was tried last, whatever came of it; none when the file is gone.
    tried: Option<Found>,
    /// The version that serves.
    serving: Option<(Digest, Arc<Entry>)>,
    /// Why the last version does not serve.
    error: Option<String>,
    /// The name that calls knew it by.
    name: Option<String>,
}

impl Held {
    /// The version that was tried last.
    pub fn tried(&self) -> Option<&Found> {
        self.tried.as_ref()
    }

    /// The digest and the surface of what serves: bytes that did not change need not be described again.
    pub fn known(&self) -> Option<(Digest, Arc<Surface>)> {
        self.serving.as_ref().map(|(digest, entry)| (*digest, Arc::clone(entry.surface())))
    }

    /// Takes what an admission came to.
    pub fn attempted(&mut self, file: &str, found: &Found, admitted: Result<Admitted, AdmitError>) {
        self.tried = Some(found.clone());
        match admitted {
            Ok(Admitted { entry, facts }) => {
                let name = entry.surface().name.clone();
                let (digest, actions) = (facts.digest.to_string(), entry.surface().actions.len());
                let took = facts.took.as_millis();
                let how = if facts.compiled { "compiled" } else { "cached" };
                tracing::info!(
                    file,
                    facade = name,
                    actions,
                    digest = &digest[..12],
                    "loaded ({how}, {took} ms)"
                );
                self.name = Some(name);
                self.serving = Some((facts.digest, Arc::new(entry)));
                self.error = None;
            }
            Err(error) => {
                let keeps = if self.serving.is_some() { "; the version before it keeps serving" } else { "" };
                tracing::error!(file, "{error}{keeps}");
                self.error = Some(error.to_string());
            }
        }
    }

    /// The file is gone.
    pub fn remove(&mut self) {
        self.tried = None;
        self.serving = None;
        self.error = Some("its file was removed".to_owned());
    }
}

/// What stands under each name. One name has one owner, and the same one whatever order the files came in: the file
/// that is called like the facade, or else the first by file name.
pub fn slots(held: &BTreeMap<String, Held>) -> BTreeMap<String, Slot> {
    let mut owners: BTreeMap<String, (&String, &Arc<Entry>)> = BTreeMap::new();
    for (file, held) in held {
        let Some((_, entry)) = &held.serving else { continue };
        let name = &entry.surface().name;
        let claim = owners.entry(look(name)).or_insert((file, entry));
        if claim.0 == file {
            continue;
        }
        if file == name && claim.0 != &claim.1.surface().name {
            refused(claim.0, file, name);
            *claim = (file, entry);
        } else {
            refused(file, claim.0, name);
        }
    }
    let mut slots: BTreeMap<String, Slot> = owners
        .into_values()
        .map(|(_, entry)| (entry.surface().name.clone(), Slot::Serving(Arc::clone(entry))))
        .collect();
    for (file, held) in held {
        if let (None, Some(error)) = (&held.serving, &held.error) {
            let name = held.name.as_ref().unwrap_or(file);
            slots.entry(name.clone()).or_insert_with(|| Slot::Unavailable(error.clone()));
        }
    }
    slots
}

fn refused(file: &str, owner: &str, name: &str) {
    tracing::warn!(file, "not served: `{owner}.wasm` owns the name `{name}`, or one that looks like it");
}

/// Names that a person or a model takes for each other are one name.
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
    use std::time::Duration;

    use loggia_facade::Reply;

    use super::*;
    use crate::{
        gate::{Rules, tests},
        reload::Facts,
    };

    /// A file whose facade has this name; none does not load.
    fn held(facade: Option<&str>) -> Held {
        let mut held = Held::default();
        let Some(name) = facade else {
            held.error = Some("broken".to_owned());
            return held;
        };
        let entry = tests::entry(tests::puppet(name, async |_| Ok(Reply::default())), Rules::default());
        let digest = Digest::of(name.as_bytes());
        let facts = Facts { digest, bytes: 0, imports: Vec::new(), compiled: false, took: Duration::ZERO };
        held.serving = Some((facts.digest, Arc::new(entry)));
        held.name = Some(name.to_owned());
        held
    }

    /// Which file stands under which name, as words.
    fn check(files: &[(&str, Option<&str>)], expected: &[(&str, &str)]) {
        let all: BTreeMap<String, Held> =
            files.iter().map(|(f, name)| ((*f).to_owned(), held(*name))).collect();
        let slots = slots(&all);
        let owner = |slot: &Slot| match slot {
            Slot::Unavailable(reason) => reason.clone(),
            Slot::Serving(entry) => {
                let owns =
                    |held: &Held| held.serving.as_ref().is_some_and(|(_, own)| Arc::ptr_eq(own, entry));
                all.iter().find(|(_, held)| owns(held)).map(|(file, _)| file.clone()).unwrap_or_default()
            }
        };
        let got: Vec<(&str, String)> =
            slots.iter().map(|(name, slot)| (name.as_str(), owner(slot))).collect();
        let got: Vec<(&str, &str)> = got.iter().map(|(name, file)| (*name, file.as_str())).collect();
        assert_eq!(got, expected, "{files:?}");
    }

    #[test]
    fn one_name_has_one_owner_whatever_the_order() {
        check(&[("notes", Some("notes"))], &[("notes", "notes")]);
        check(&[("b", Some("notes")), ("a", Some("notes"))], &[("notes", "a")]);
        check(&[("a", Some("notes")), ("notes", Some("notes")), ("z", Some("notes"))], &[("notes", "notes")]);
        // A look-alike is the same claim.
        check(&[("n0tes", Some("n0tes")), ("notes", Some("notes"))], &[("n0tes", "n0tes")]);
        check(&[("a", Some("my-notes")), ("my_notes", Some("my_notes"))], &[("my_notes", "my_notes")]);
        // What does not load is told of under its file's name, unless somebody else serves that name.
        check(&[("notes", None)], &[("notes", "broken")]);
        check(&[("a", Some("notes")), ("notes", None)], &[("notes", "a")]);
    }
}
