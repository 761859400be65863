//! Pure: decides from offers what is served. `serve`, `check`, `tokens` and `policy explain` share it, so that what is
//! checked is what is served.
//!
//! ```text
//! offers ─▶ claims ─▶ owners ─▶ slots ─▶ rebuilt workflows ─▶ CatalogAssembly
//! ```

use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

use loggia_gate::catalog::{CatalogSlot, CatalogSnapshot};

use super::{
    fence::FENCED,
    names::{FileClaim, NameConflict, NameHolder, NameOwner, NameOwners, NameRefusal},
    offer::{OfferMap, OfferedVersion},
    workflow_bundle::BlockedWorkflow,
};

/// Maximum rounds of rebuilding workflows. Calls nest no deeper.
const ROUNDS: usize = 6;

/// Slots to serve, and what is not served.
#[derive(Default)]
pub struct CatalogAssembly {
    /// Catalog slots by name.
    pub slots: BTreeMap<String, CatalogSlot>,
    /// Loaded versions that do not own their names: a sentence for the operator, by key.
    pub refused: BTreeMap<String, String>,
    /// Workflows that cannot run beside what is served, by key.
    pub blocked: BTreeMap<String, Vec<BlockedWorkflow>>,
}

/// Whether all offers of the initial scan are loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadCompleteness {
    /// More may load at any moment: workflows are not rebuilt, and no refusal is final.
    Partial,
    /// All offers are loaded.
    Complete,
}

/// Lists the name claims of offers.
pub fn file_claims<'a>(offers: &'a OfferMap<'_>) -> impl Iterator<Item = FileClaim<'a>> {
    offers.iter().filter_map(|(key, offer)| offer.claim(key))
}

/// Decides what is served. Rebuilds the entries of workflows whose called facades changed. `fenced` are the keys of
/// versions that the fence refuses.
pub fn assemble(
    offers: &mut OfferMap<'_>,
    owners: &NameOwners,
    fenced: &BTreeMap<String, String>,
    completeness: LoadCompleteness,
) -> CatalogAssembly {
    let slots = build_slots(offers, owners, fenced);
    if completeness == LoadCompleteness::Partial {
        return CatalogAssembly { slots, ..CatalogAssembly::default() };
    }
    let beside = rebuild_workflows(offers, slots);
    let refused = file_claims(offers).filter(|claim| claim.loads).filter_map(|claim| {
        let refusal = owners.refusal(claim.file, claim.name)?;
        Some((claim.file.to_owned(), refusal))
    });
    let refused = refused.collect();
    let blocked = offers.iter().filter_map(|(key, offer)| {
        let blocked = offer.version.as_ref()?.workflow_file.as_ref()?.blocked_workflows(&beside);
        (!blocked.is_empty()).then(|| ((*key).to_owned(), blocked))
    });
    let blocked = blocked.collect();
    CatalogAssembly { slots: beside.slots, refused, blocked }
}

/// Builds the slot of each name. A name that was once served, or is claimed in vain, is unavailable and not unknown,
/// since clients keep stale lists. Reasons contain no path of a fenced version.
fn build_slots(
    offers: &OfferMap<'_>,
    owners: &NameOwners,
    fenced: &BTreeMap<String, String>,
) -> BTreeMap<String, CatalogSlot> {
    let mut slots = BTreeMap::new();
    let mut vacant: Vec<(&str, Cow<'static, str>)> = Vec::new();
    for (key, offer) in offers {
        match (&offer.version, &offer.error) {
            (Some(OfferedVersion { entry, .. }), _) => {
                let name = &entry.surface().name;
                match owners.conflict(key, name) {
                    None if fenced.contains_key(*key) => vacant.push((name.as_str(), FENCED.into())),
                    None => drop(slots.insert(name.clone(), CatalogSlot::Serving(Arc::clone(entry)))),
                    Some(against) => {
                        vacant.extend(vacancy_reason(against, name).map(|reason| (name.as_str(), reason)));
                    }
                }
                let moved = format!("its plugin is now named `{name}`");
                let before = offer.names.iter().filter(|before| *before != name);
                vacant.extend(before.map(|before| (before.as_str(), moved.clone().into())));
            }
            (None, Some(error)) => {
                let unnamed = offer.names.is_empty().then(|| offer.fallback_name(key));
                let names = offer.names.iter().map(String::as_str).chain(unnamed);
                vacant.extend(names.map(|name| (name, error.for_callers.clone())));
            }
            (None, None) => {}
        }
    }
    for (name, reason) in vacant {
        slots.entry(name.to_owned()).or_insert_with(|| CatalogSlot::Unavailable(reason.into_owned()));
    }
    slots
}

/// Reason that callers get for a name that its file may not serve; `None` while undecided.
fn vacancy_reason(against: NameConflict<'_>, name: &str) -> Option<Cow<'static, str>> {
    let owned = match against {
        NameConflict::File(NameHolder { name: owned, .. })
        | NameConflict::Record(NameRefusal::From(NameOwner { name: owned, .. })) => owned,
        NameConflict::Record(NameRefusal::Unrecorded(_)) => {
            return Some("the owner of this name is unknown".into());
        }
        NameConflict::Record(NameRefusal::TooSoon) => return None,
    };
    Some(match owned == name {
        true => "the plugin that owns its name is not served".into(),
        false => format!("its name looks like that of `{owned}`").into(),
    })
}

/// Rebuilds the entries of workflows whose called facades changed.
fn rebuild_workflows(offers: &mut OfferMap<'_>, slots: BTreeMap<String, CatalogSlot>) -> CatalogSnapshot {
    let mut beside = CatalogSnapshot::from_slots(slots);
    for _ in 0..ROUNDS {
        let mut settled = true;
        for offer in offers.values_mut() {
            let Some(OfferedVersion { entry, workflow_file: Some(workflow_file), .. }) = &mut offer.version
            else {
                continue;
            };
            let name = entry.surface().name.clone();
            let serves =
                |slot: &CatalogSlot| matches!(slot, CatalogSlot::Serving(own) if Arc::ptr_eq(own, entry));
            if beside.slots.get(&name).is_some_and(serves)
                && let Some(changed) = workflow_file.changed_entry(entry, &beside)
            {
                *entry = Arc::new(changed);
                beside.slots.insert(name, CatalogSlot::Serving(Arc::clone(entry)));
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
    use loggia_gate::testing;
    use loggia_policy::model::FacadeRules;
    use loggia_sandbox::ArtifactDigest;

    use super::*;
    use crate::{
        admit::{AdmissionFacts, AdmitError, AdmittedPlugin, LoadMethod},
        facade_kind::file_stem,
        fence::VersionGrants,
        names::{NameClaim, NameRecord},
        offer::FacadeOffer,
    };

    /// Caller message for a name whose owner is not served.
    const ABSENT: &str = "the plugin that owns its name is not served";

    /// An offer whose versions had these facades, the last of which serves; without any, it failed to load. `=` marks a
    /// name that the policy sets.
    fn offer(facades: &[&str]) -> FacadeOffer {
        let mut offer = FacadeOffer::default();
        if facades.is_empty() {
            offer.reject(&AdmitError::NotRegular);
        }
        for name in facades {
            let (name_given, name) = name.strip_prefix('=').map_or((false, *name), |name| (true, name));
            let entry =
                testing::entry(testing::puppet(name, async |_| Ok(Reply::default())), FacadeRules::default());
            let digest = ArtifactDigest::of(name.as_bytes());
            let facts = AdmissionFacts {
                digest,
                bytes: 0,
                imports: Vec::new(),
                method: LoadMethod::Read,
                took: Duration::ZERO,
                policy: None,
                grants: Vec::new(),
                lacking: Vec::new(),
                flags: Vec::new(),
            };
            let grants = VersionGrants { name_given, ..VersionGrants::default() };
            offer.accept(AdmittedPlugin { entry, workflow_file: None, grants, facts });
        }
        offer
    }

    /// Offers by file name.
    fn map<'a>(all: &'a mut BTreeMap<String, FacadeOffer>) -> OfferMap<'a> {
        all.iter_mut().map(|(file, offer)| (file.as_str(), offer)).collect()
    }

    fn record(owners: &[(&str, &str)]) -> NameRecord {
        let owners = owners.iter().map(|&(stem, name)| NameOwner { name: name.into(), stem: stem.into() });
        owners.collect()
    }

    /// Checks the slots as text with this record; returns the owners.
    fn check_with(
        record: &NameRecord,
        before: &NameOwners,
        files: &[(&str, &[&str])],
        expected: &[(&str, &str)],
    ) -> NameOwners {
        let mut all: BTreeMap<String, FacadeOffer> =
            files.iter().map(|(f, names)| ((*f).to_owned(), offer(names))).collect();
        let owners = NameOwners::assign(file_claims(&map(&mut all)), before, record);
        let slots = build_slots(&map(&mut all), &owners, &BTreeMap::new());
        let owner = |slot: &CatalogSlot| match slot {
            CatalogSlot::Unavailable(reason) => reason.clone(),
            CatalogSlot::Serving(entry) => {
                let owns = |offer: &FacadeOffer| {
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

    fn check(before: &NameOwners, files: &[(&str, &[&str])], expected: &[(&str, &str)]) -> NameOwners {
        check_with(&NameRecord::default(), before, files, expected)
    }

    const BROKEN: &str = "its file is not a regular file";

    /// H41.
    #[test]
    fn a_name_has_one_owner_in_any_order() {
        let check = |files: &[(&str, &[&str])], expected: &[(&str, &str)]| {
            check(&NameOwners::default(), files, expected);
        };
        check(&[("notes", &["notes"])], &[("notes", "notes")]);
        check(&[("b", &["notes"]), ("a", &["notes"])], &[("notes", "a")]);
        check(&[("a", &["notes"]), ("notes", &["notes"]), ("z", &["notes"])], &[("notes", "notes")]);
        // A look-alike is the same claim; its refusal says so.
        check(
            &[("n0tes", &["n0tes"]), ("notes", &["notes"])],
            &[("n0tes", "its name looks like that of `notes`"), ("notes", "notes")],
        );
        check(
            &[("a", &["my-notes"]), ("my_notes", &["my_notes"])],
            &[("my-notes", "its name looks like that of `my_notes`"), ("my_notes", "my_notes")],
        );
        // A file that does not load reserves its file name, and its error is reported under it.
        check(&[("notes", &[])], &[("notes", BROKEN)]);
        check(&[("notes", &[]), ("z", &["notes"])], &[("notes", BROKEN)]);
        // A policy precedes a file name.
        check(&[("notes", &["notes"]), ("z", &["=notes"])], &[("notes", "z")]);
    }

    /// H41.
    #[test]
    fn a_name_stays_with_its_holder() {
        let before = check(&NameOwners::default(), &[("b", &["notes"])], &[("notes", "b")]);
        let before = check(&before, &[("a", &["notes"]), ("b", &["notes"])], &[("notes", "b")]);
        // A look-alike whose file sorts first is still a newcomer.
        let alike = "its name looks like that of `notes`";
        let known = record(&[("b", "notes")]);
        let both: &[(&str, &[&str])] = &[("b", &["notes"]), ("n0tes", &["n0tes"])];
        let before = check_with(&known, &before, both, &[("n0tes", alike), ("notes", "b")]);
        check_with(&known, &before, &[("n0tes", &["n0tes"])], &[("n0tes", alike)]);
    }

    /// H70: a name stays its owner's, whatever happens to the owner.
    #[test]
    fn a_name_without_its_owner_is_not_served() {
        let known = record(&[("notes", "notes")]);
        let check = |files: &[(&str, &[&str])], expected: &[(&str, &str)]| {
            check_with(&known, &NameOwners::default(), files, expected)
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
    fn a_name_once_served_stays_known() {
        let now = "its plugin is now named `memos`";
        let check = |files: &[(&str, &[&str])], expected: &[(&str, &str)]| {
            check(&NameOwners::default(), files, expected);
        };
        check(&[("a", &["notes", "memos"])], &[("memos", "a"), ("notes", now)]);
        check(&[("a", &["notes", "memos"]), ("b", &["notes"])], &[("memos", "a"), ("notes", "b")]);
        let mut gone = offer(&["notes", "memos"]);
        gone.withdraw();
        let slots =
            build_slots(&OfferMap::from([("a", &mut gone)]), &NameOwners::default(), &BTreeMap::new());
        let reason_of = |name: &str| match slots.get(name) {
            Some(CatalogSlot::Unavailable(reason)) => reason.clone(),
            _ => String::new(),
        };
        assert_eq!(
            (reason_of("notes").as_str(), reason_of("memos").as_str()),
            ("its file was removed", "its file was removed")
        );
    }

    #[test]
    fn a_fenced_plugin_keeps_its_name_unserved() {
        let mut notes = offer(&["notes"]);
        let all = OfferMap::from([("a", &mut notes)]);
        let owners = NameOwners::assign(file_claims(&all), &NameOwners::default(), &NameRecord::default());
        let fenced = BTreeMap::from([("a".to_owned(), "the policy grants /srv".to_owned())]);
        let slots = build_slots(&all, &owners, &fenced);
        assert!(matches!(&slots["notes"], CatalogSlot::Unavailable(reason) if reason == FENCED));
    }

    #[test]
    fn a_refusal_names_the_owner_and_the_fix() {
        let known = record(&[("files", "files")]);
        let claim = |file, name| FileClaim { file, name, given: false, loads: true };
        let all = [
            claim("a.wasm", "notes"),
            claim("b.wasm", "notes"),
            claim("c.wasm", "n0tes"),
            claim("d.wasm", "files"),
        ];
        let owners = NameOwners::assign(all, &NameOwners::default(), &known);
        let check = |file, name, why: &str| {
            let todo = format!(
                "; to give this file the name and its state, write `name = \"{name}\"` in the section [expose] of \
                 {}.toml",
                file_stem(file)
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
