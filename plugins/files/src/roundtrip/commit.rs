//! `roundtrip_commit`: writes all changes or none, and replaces nothing unseen.

use std::time::Duration;

use loggia_sdk::{failure::code, prelude::*};

use super::{
    FILES, Manifest, Mode, begin_anew,
    changes::{self, Change, Fate, New},
    journal::{self, Entry, Plan, granted, moment},
    manifest::{self, expires, manifests},
    settle::{TURNS, busy, run, settle},
    survey::{Survey, refused, survey},
    worker::{Outcome, Worker},
};
use crate::roots::Roots;

/// Result of a commit.
#[detail]
#[derive(Debug, Serialize, JsonSchema)]
pub struct Committed {
    /// The same manifest, updated to the new state: the next commit needs no new start.
    #[detail(minimal)]
    pub manifest_id: String,
    /// Expiry time, in UTC.
    pub expires: String,
    #[detail(minimal)]
    pub files: Vec<Written>,
}

/// Outcome of a change.
#[detail]
#[derive(Debug, Serialize, JsonSchema)]
pub struct Written {
    #[detail(minimal)]
    pub path: String,
    #[detail(minimal)]
    pub done: Fate,
    /// Bytes of the new content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<usize>,
    /// Hash of the new content.
    #[detail(full)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

/// Writes all the changes, or none of them.
pub fn commit(
    roots: &Roots,
    id: &str,
    changes: Vec<Change>,
    mode: Mode,
    patience: Duration,
) -> Result<Reply<Committed>> {
    granted()?;
    let new = changes::read(roots, changes)?;
    for _ in 0..TURNS {
        settle(roots, patience)?;
        let Some(sight) = look(roots, id, &new, mode)? else { continue };
        let Some(worker) = decide(roots, &new, &sight)? else { continue };
        if let Some(worker) = worker {
            carry_out(roots, worker, patience)?;
        }
        return reply(id, &new, &sight.survey);
    }
    Err(busy())
}

/// Snapshot of all files.
pub struct Sight {
    manifest: Manifest,
    pub survey: Survey,
    /// Changes with every journal: a later decision of another round trip invalidates the snapshot, even if it concerns
    /// other files.
    journals: Vec<u8>,
}

/// Reads the state of all files. `None` while a round trip is in progress.
///
/// # Errors
///
/// `conflict` if a file differs from the manifest.
pub fn look(roots: &Roots, id: &str, new: &[New], mode: Mode) -> Result<Option<Sight>> {
    let (None, journals) = moment()? else { return Ok(None) };
    let manifest = manifest::require(id, || new.iter().map(|new| new.path.clone()).collect())?;
    let survey = survey(roots, &manifest, new, mode)?;
    if survey.conflicts.is_empty() {
        return Ok(Some(Sight { manifest, survey, journals }));
    }
    Err(refused(&manifest, &survey.conflicts))
}

/// Records the decision. The inner `None` means there is nothing to write; the outer one, that another call was faster.
pub fn decide<'r>(roots: &'r Roots, new: &[New], sight: &Sight) -> Result<Option<Option<Worker<'r>>>> {
    let Sight { manifest, survey, journals } = sight;
    let plan = plan(manifest, new, survey)?;
    let written = new.iter().zip(&survey.found).filter(|(_, (_, fate))| writes(*fate));
    let contents: Vec<_> = written.map(|(new, _)| new.bytes.as_slice()).collect();
    let begun = journal::begin(&plan, &contents, manifest, journals)?;
    Ok(begun.map(|journal| journal.map(|journal| Worker::new(roots, journal))))
}

fn writes(fate: Fate) -> bool {
    matches!(fate, Fate::Create | Fate::Replace)
}

/// Plans the operations.
fn plan(manifest: &Manifest, new: &[New], survey: &Survey) -> Result<Plan> {
    let mut manifest = manifest.clone();
    let mut files = Vec::new();
    for (new, (now, fate)) in new.iter().zip(&survey.found) {
        if *fate != Fate::Skip {
            manifest.set(&new.path, &new.sha256);
        }
        if writes(*fate) {
            let old = now.sha256().map(str::to_owned);
            files.push(Entry { path: new.path.clone(), old, new: new.sha256.clone() });
        }
    }
    if manifest.files.len() > FILES {
        let message =
            format!("too many files for one manifest: {}, and {FILES} is the most", manifest.files.len());
        return Err(Failure::invalid_params(message).hint("Start again for further files."));
    }
    let directories = survey.directories.clone();
    Ok(Plan { manifest, files, directories })
}

/// Carries the decision out.
///
/// # Errors
///
/// The reason for undoing it; `unavailable` if it could be neither completed nor undone.
pub fn carry_out(roots: &Roots, mut worker: Worker, patience: Duration) -> Result<()> {
    match run(&mut worker)? {
        Outcome::Done { left } if left.is_empty() => Ok(()),
        Outcome::Done { left } => {
            Err(Failure::conflict(format!("modified concurrently: {}", left.join(", "))))
        }
        Outcome::Undone { reason, .. } => {
            let mut failure = unchanged(reason);
            if failure.code == code::CONFLICT {
                let manifest = &worker.journal().plan.manifest;
                failure.next = Some(begin_anew(manifest.files.iter().map(|seen| seen.path.clone())));
            }
            Err(failure)
        }
        Outcome::Lost => {
            // Another call took this one for dead. It decides the outcome of the commit.
            settle(roots, patience)?;
            worker.sweep_up();
            let plan = &worker.journal().plan;
            let manifest = manifests()?.get(&plan.manifest.id)?;
            let has = |file: &Entry, sha256: Option<&str>| {
                let seen = manifest.as_ref().and_then(|manifest| manifest.seen(&file.path));
                manifest.is_some() && seen.and_then(|seen| seen.sha256.as_deref()) == sha256
            };
            if plan.files.iter().all(|file| has(file, Some(&file.new))) {
                Ok(())
            } else if plan.files.iter().all(|file| has(file, file.old.as_deref())) {
                Err(unchanged(None))
            } else {
                // Another commit has written them since, or the manifest is over.
                Err(Failure::unavailable("interrupted: the files have changed since")
                    .hint("Start again, and check whether the changes were made.")
                    .next(begin_anew(plan.files.iter().map(|file| file.path.clone()))))
            }
        }
    }
}

/// Failure that states that nothing was changed.
fn unchanged(reason: Option<Failure>) -> Failure {
    let Some(mut failure) = reason else {
        return Failure::unavailable("interrupted: nothing was changed").hint("Try again.");
    };
    failure.message = format!("nothing was changed: {}", failure.message);
    failure
}

fn reply(id: &str, new: &[New], survey: &Survey) -> Result<Reply<Committed>> {
    let written = |(new, (_, fate)): (&New, &(_, Fate))| {
        let there = *fate != Fate::Skip;
        let (size, sha256) = (there.then_some(new.bytes.len()), there.then(|| new.sha256.clone()));
        Written { path: new.path.clone(), done: *fate, size, sha256 }
    };
    let files: Vec<_> = new.iter().zip(&survey.found).map(written).collect();
    Ok(Reply::new(Committed { manifest_id: id.to_owned(), expires: expires()?, files }))
}
