//! Asks all sources at once.

use loggia_sdk::{host::Request, prelude::*};

use crate::{
    source::{Candidate, SOURCES, Source},
    text::short,
};

/// Maximum length of a reason, in characters.
const REASON: usize = 120;

/// Collected results.
#[derive(Default)]
pub struct Gathered {
    /// By source, each in its own order.
    pub candidates: Vec<Candidate>,
    /// Sources that are absent, not granted or failing, with the reason.
    pub unavailable: Vec<(&'static str, String)>,
    /// Whether a source answered.
    pub any: bool,
}

/// Asks these sources, or all. A failing source does not affect the others.
pub fn gather(query: &str, sources: Option<&[Source]>) -> Gathered {
    let mut sources = sources.unwrap_or(&SOURCES).to_vec();
    sources.sort_unstable();
    sources.dedup();
    let (asked, requests): (Vec<Source>, Vec<Request>) = sources
        .iter()
        .flat_map(|source| source.requests(query).into_iter().map(|request| (*source, request)))
        .unzip();
    let mut gathered = Gathered::default();
    for (source, answer) in asked.into_iter().zip(host::invoke(requests)) {
        match answer {
            Ok(reply) => {
                gathered.any = true;
                gathered.candidates.append(&mut source.read(&reply.data));
            }
            // `projects` is asked three times, and named once.
            Err(_) if gathered.unavailable.iter().any(|(name, _)| *name == source.name()) => {}
            Err(failure) => gathered.unavailable.push((source.name(), short(&failure.message, REASON))),
        }
    }
    gathered
}

/// Failure if no source answered.
pub fn none(sources: Option<&[Source]>, unavailable: &[(&'static str, String)]) -> Failure {
    let reasons: Vec<String> =
        unavailable.iter().map(|(name, reason)| format!("{name} ({reason})")).collect();
    let grants: Vec<String> = sources.unwrap_or(&SOURCES).iter().map(|source| source.grant()).collect();
    Failure::unavailable(format!("no source is available: {}", reasons.join(", "))).hint(format!(
        "Each must be installed, and the operator grants them in the plugin's policy file, under [grants]: `invoke = [{}]`.",
        grants.join(", ")
    ))
}
