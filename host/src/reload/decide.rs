//! Pure: from what is held and what was found, what to do.

use std::collections::BTreeMap;

use super::{claims::Held, scan::Found};

/// One thing to do.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// Admit this version of this file.
    Load(String, Found),
    /// The file is gone.
    Unload(String),
}

/// What has to be done. A file that is `unsettled` (being written, or being admitted) is left for later.
pub fn decide(
    held: &BTreeMap<String, Held>,
    found: &BTreeMap<String, Found>,
    unsettled: impl Fn(&str) -> bool,
) -> Vec<Step> {
    let load = found.iter().filter(|(file, found)| {
        let tried = held.get(*file).and_then(Held::tried);
        !unsettled(file) && tried != Some(found)
    });
    let unload = held
        .iter()
        .filter(|(file, held)| held.tried().is_some() && !found.contains_key(*file) && !unsettled(file));
    let load = load.map(|(file, found)| Step::Load(file.clone(), found.clone()));
    load.chain(unload.map(|(file, _)| Step::Unload(file.clone()))).collect()
}
