//! Pure: from offers to what is served. `serve`, `check`, `tokens` and `policy explain` all use it, so that what is checked
//! is what will be served.
//!
//! ```text
//! offers ─▶ claims ─▶ owners ─▶ slots ─▶ settled workflows ─▶ Assembly
//! ```

use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

use loggia_gate::catalog::{Slot, Snapshot};

use super::{
    composed::BlockedWorkflow,
    fence::FENCED,
    found::stem,
    names::{Against, Claim, NameOwner, Owner, Owners, Withheld},
    offer::{OfferMap, OfferedVersion},
};

/// How often workflows are rebuilt beside others that changed: calls nest no deeper.
const ROUNDS: usize = 6;

/// What is served, and what is not.
#[derive(Default)]
pub struct Assembly {
    /// What stands under each name.
    pub slots: BTreeMap<String, Slot>,
    /// Versions that load and do not serve since their names are others': a sentence for the operator, by key.
    pub refused: BTreeMap<String, String>,
    /// Workflows that cannot run beside what is served, by key.
    pub blocked: BTreeMap<String, Vec<BlockedWorkflow>>,
}

/// Whether all that was there at the start has been loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Completeness {
    /// More may come at any moment: workflows are not rebuilt, and nobody is refused for good.
    Partial,
    /// All of it.
    Complete,
}

/// The names that offers claim.
pub fn claims<'a>(offers: &'a OfferMap<'_>) -> impl Iterator<Item = Claim<'a>> {
    offers.iter().filter_map(|(key, offer)| offer.claim(key))
}

/// Decides what is served. Entries of workflows are rebuilt in their offers where the facades that they call changed.
/// `fenced` are the keys of versions that the fence refuses.
pub fn assemble(
    offers: &mut OfferMap<'_>,
    owners: &Owners,
    fenced: &BTreeMap<String, String>,
    completeness: Completeness,
) -> Assembly {
    let slots = slots(offers, owners, fenced);
    if completeness == Completeness::Partial {
        return Assembly { slots, ..Assembly::default() };
    }
    let beside = settle(offers, slots);
    let refused = claims(offers).filter(|claim| claim.loads).filter_map(|claim| {
        let refusal = owners.refusal(claim.file, claim.name)?;
        Some((claim.file.to_owned(), refusal))
    });
    let refused = refused.collect();
    let blocked = offers.iter().filter_map(|(key, offer)| {
        let blocked = offer.version.as_ref()?.composed.as_ref()?.blocked(&beside);
        (!blocked.is_empty()).then(|| ((*key).to_owned(), blocked))
    });
    let blocked = blocked.collect();
    Assembly { slots: beside.slots, refused, blocked }
}

/// What stands under each name. A name that was ever served, or that an offer claims in vain, is never merely unknown:
/// clients keep stale lists. Callers see no path of a version that the fence refuses.
fn slots(
    offers: &OfferMap<'_>,
    owners: &Owners,
    fenced: &BTreeMap<String, String>,
) -> BTreeMap<String, Slot> {
    let mut slots = BTreeMap::new();
    let mut vacant: Vec<(&str, Cow<'static, str>)> = Vec::new();
    for (key, offer) in offers {
        match (&offer.version, &offer.error) {
            (Some(OfferedVersion { entry, .. }), _) => {
                let name = &entry.surface().name;
                match owners.against(key, name) {
                    None if fenced.contains_key(*key) => vacant.push((name.as_str(), FENCED.into())),
                    None => drop(slots.insert(name.clone(), Slot::Serving(Arc::clone(entry)))),
                    Some(against) => {
                        vacant.extend(vacancy(against, name).map(|reason| (name.as_str(), reason)));
                    }
                }
                let moved = format!("its plugin is now called `{name}`");
                let before = offer.names.iter().filter(|before| *before != name);
                vacant.extend(before.map(|before| (before.as_str(), moved.clone().into())));
            }
            (None, Some(error)) => {
                let unnamed = offer.names.is_empty().then_some(stem(key));
                let names = offer.names.iter().map(String::as_str).chain(unnamed);
                vacant.extend(names.map(|name| (name, error.for_callers.clone())));
            }
            (None, None) => {}
        }
    }
    for (name, reason) in vacant {
        slots.entry(name.to_owned()).or_insert_with(|| Slot::Unavailable(reason.into_owned()));
    }
    slots
}

/// The reason that callers get for a name that its file may not serve; none while that is not decided.
fn vacancy(against: Against<'_>, name: &str) -> Option<Cow<'static, str>> {
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

/// Rebuilds the entries of those workflows for which the facades that they call have changed.
fn settle(offers: &mut OfferMap<'_>, slots: BTreeMap<String, Slot>) -> Snapshot {
    let mut beside = Snapshot::of(slots);
    for _ in 0..ROUNDS {
        let mut settled = true;
        for offer in offers.values_mut() {
            let Some(OfferedVersion { entry, composed: Some(composed), .. }) = &mut offer.version else {
                continue;
            };
            let name = entry.surface().name.clone();
            let serves = |slot: &Slot| matches!(slot, Slot::Serving(own) if Arc::ptr_eq(own, entry));
            if beside.slots.get(&name).is_some_and(serves)
                && let Some(changed) = composed.changed(entry, &beside)
            {
                *entry = Arc::new(changed);
                beside.slots.insert(name, Slot::Serving(Arc::clone(entry)));
                settled = false;
            }
        }
        if settled {
            break;
        }
    }
    beside
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use loggia_facade::Reply;
    use loggia_gate::{access::Rules, testing};
    use loggia_sandbox::ArtifactDigest;

    use super::*;
    use crate::load::{
        admit::{AdmitError, Admitted, Facts},
        fence::VersionGrants,
        names::{NameClaim, NameRecord},
        offer::Offer,
    };

    /// What callers are told of a name whose owner does not serve.
    const ABSENT: &str = "the plugin that owns its name does not serve";

    /// The offer of a file whose versions had these facades, the last of which serves; none does not load. A name after `=` is given
    /// by the policy.
    fn offer(facades: &[&str]) -> Offer {
        let mut offer = Offer::default();
        if facades.is_empty() {
            offer.reject(&AdmitError::NotRegular);
        }
        for name in facades {
            let (name_given, name) = name.strip_prefix('=').map_or((false, *name), |name| (true, name));
            let entry =
                testing::entry(testing::puppet(name, async |_| Ok(Reply::default())), Rules::default());
            let digest = ArtifactDigest::of(name.as_bytes());
            let facts =
                Facts { digest, bytes: 0, imports: Vec::new(), compiled: false, took: Duration::ZERO };
            let grants = VersionGrants { name_given, ..VersionGrants::default() };
            offer.accept(Admitted { entry, composed: None, grants, facts });
        }
        offer
    }

    /// The offers by file name.
    fn map<'a>(all: &'a mut BTreeMap<String, Offer>) -> OfferMap<'a> {
        all.iter_mut().map(|(file, offer)| (file.as_str(), offer)).collect()
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
        let mut all: BTreeMap<String, Offer> =
            files.iter().map(|(f, names)| ((*f).to_owned(), offer(names))).collect();
        let owners = Owners::of(claims(&map(&mut all)), before, record);
        let slots = slots(&map(&mut all), &owners, &BTreeMap::new());
        let owner = |slot: &Slot| match slot {
            Slot::Unavailable(reason) => reason.clone(),
            Slot::Serving(entry) => {
                let owns = |offer: &Offer| {
                    offer.version.as_ref().is_some_and(|version| Arc::ptr_eq(&version.entry, entry))
                };
                all.iter().find(|(_, offer)| owns(offer)).map(|(file, _)| file.clone()).unwrap_or_default()
            }
        };
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
        let mut gone = offer(&["notes", "memos"]);
        gone.withdraw();
        let slots = slots(&OfferMap::from([("a", &mut gone)]), &Owners::default(), &BTreeMap::new());
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
        let mut notes = offer(&["notes"]);
        let all = OfferMap::from([("a", &mut notes)]);
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
