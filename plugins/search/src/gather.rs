//! Queries all sources concurrently.

use loggia_sdk::{failure::code, host::Request, prelude::*};

use crate::source::{Candidate, SOURCES, Source};

/// Characters of a reason.
const REASON: usize = 160;

/// Collected results.
pub struct Gathered {
    /// By source, each in its own order.
    pub candidates: Vec<Candidate>,
    /// The sources that gave nothing, and why.
    pub passed_over: Vec<(&'static str, String)>,
}

/// Asks these sources, or all.
///
/// # Errors
///
/// `denied` or `unavailable` where every one of them fails.
pub fn gather(query: &str, sources: Option<&[Source]>, limit: usize) -> Result<Gathered> {
    let mut sources = sources.unwrap_or(&SOURCES).to_vec();
    sources.sort_unstable();
    sources.dedup();
    let asked: Vec<(Source, Request)> =
        sources.iter().filter_map(|source| Some((*source, source.request(query, limit)?))).collect();
    let (asked, requests): (Vec<Source>, Vec<Request>) = asked.into_iter().unzip();
    let answers = if requests.is_empty() { Vec::new() } else { host::invoke(requests) };
    let mut gathered = Gathered { candidates: Vec::new(), passed_over: Vec::new() };
    let mut failures = Vec::new();
    for (source, answer) in asked.iter().zip(answers) {
        match answer {
            Ok(reply) => gathered.candidates.append(&mut source.read(&reply.data)),
            Err(failure) => {
                gathered.passed_over.push((source.name(), untrusted::short(&failure.message, REASON)));
                failures.push(failure);
            }
        }
    }
    if !failures.is_empty() && failures.len() == asked.len() {
        return Err(none(&asked, &gathered, &failures));
    }
    Ok(gathered)
}

/// Failure if no source answered.
fn none(asked: &[Source], gathered: &Gathered, failures: &[Failure]) -> Failure {
    let code = failures.first().map(|failure| failure.code.clone()).unwrap_or_default();
    let same = failures.iter().all(|failure| failure.code == code);
    let grants: Vec<String> = asked.iter().map(|source| format!("\"{}:search\"", source.name())).collect();
    let message = ["no source could be searched: ", &reasons(&gathered.passed_over)].concat();
    Failure::new(if same { code } else { code::UNAVAILABLE.to_owned() }, message).hint(format!(
        "Each must be installed, and the operator grants them in search.toml, under [grants]: `invoke = [{}]`.",
        grants.join(", ")
    ))
}

/// `files (timed out), knowledge (access denied)`
pub fn reasons(passed_over: &[(&'static str, String)]) -> String {
    let reasons: Vec<String> =
        passed_over.iter().map(|(name, reason)| format!("{name} ({reason})")).collect();
    reasons.join(", ")
}
