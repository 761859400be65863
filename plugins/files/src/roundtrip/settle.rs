//! Settles an abandoned journal before any other operation: finishes or undoes it.
//!
//! The journal may belong to a call that is still running, so it is given some time. This only avoids extra work:
//! taking over from a running worker is safe (see [`Worker`]).

use std::{
    thread::sleep,
    time::{Duration, Instant},
};

use loggia_sdk::prelude::*;

use super::{
    begin_anew,
    journal::{Journal, Phase, granted, moment, pending},
    worker::{Flow, Outcome, Worker},
};
use crate::roots::Roots;

/// Number of times a call yields to others before it gives up.
pub const TURNS: usize = 10;
/// Number of attempts to read several files consistently. A call has 2 s of CPU time.
const LOOKS: usize = 3;
/// Number of files that take about as long to write, on a slow disk, as a journal may be unchanged.
const MANY: usize = 20;
/// Between two looks.
const POLL: Duration = Duration::from_millis(5);
/// Maximum wait of a call for active others.
const LONGEST: Duration = Duration::from_secs(2);

/// A settled round trip.
pub struct Settled {
    pub journal: Journal,
    pub outcome: Outcome,
}

/// Finishes or undoes an unfinished round trip. Returns it, if this call ended one.
///
/// # Errors
///
/// `unavailable` if that fails, or other round trips never stop.
pub fn settle(roots: &Roots, patience: Duration) -> Result<Option<Settled>> {
    let mut lost: Vec<Worker> = Vec::new();
    for _ in 0..TURNS {
        let Some(journal) = wait(patience)? else {
            lost.iter().for_each(|worker| worker.sweep_up());
            return Ok(None);
        };
        let Some(journal) = journal.take_over()? else { continue };
        let mut worker = Worker::new(roots, journal);
        match run(&mut worker)? {
            Outcome::Lost => lost.push(worker),
            outcome => {
                lost.iter().for_each(|worker| worker.sweep_up());
                return Ok(Some(Settled { journal: worker.journal().clone(), outcome }));
            }
        }
    }
    Err(busy())
}

/// Takes all steps.
pub fn run(worker: &mut Worker) -> Result<Outcome> {
    loop {
        if let Flow::Over(outcome) = worker.step()? {
            return Ok(outcome);
        }
    }
}

/// Waits for the current journal, and returns it if it has not changed within a worker's time, which is longer for many
/// files, and after each takeover.
fn wait(patience: Duration) -> Result<Option<Journal>> {
    let Some(mut journal) = pending()? else { return Ok(None) };
    let (began, mut seen) = (Instant::now(), Instant::now());
    loop {
        let files = u32::try_from(journal.plan.files.len() / MANY).unwrap_or(u32::MAX);
        let patience = patience * (1 + files) * (1 << (journal.head.attempt - 1).min(3));
        if seen.elapsed() >= patience || began.elapsed() >= LONGEST {
            return Ok(Some(journal));
        }
        sleep(POLL);
        match pending()? {
            None => return Ok(None),
            Some(now) if now != journal => (journal, seen) = (now, Instant::now()),
            Some(_) => {}
        }
    }
}

/// Waits for round trips to end, for actions that change nothing and so cannot settle.
///
/// # Errors
///
/// `unavailable` while a round trip is in progress.
pub fn calm(patience: Duration) -> Result<()> {
    match wait(patience)? {
        Some(journal) if journal.head.phase != Phase::Clean => Err(interrupted()),
        _ => Ok(()),
    }
}

/// Reads several files while none of them is part of an unfinished round trip.
///
/// # Errors
///
/// Errors of reading, and those of [`calm`].
pub fn undisturbed<T>(patience: Duration, read: impl Fn() -> Result<T>) -> Result<T> {
    for _ in 0..LOOKS {
        let (before, number) = moment()?;
        if at_work(before.as_ref()) {
            calm(patience)?;
            continue;
        }
        let found = read();
        let (after, now) = moment()?;
        if now == number && !at_work(after.as_ref()) {
            return found;
        }
    }
    Err(busy())
}

fn at_work(journal: Option<&Journal>) -> bool {
    journal.is_some_and(|journal| journal.head.phase != Phase::Clean)
}

fn interrupted() -> Failure {
    Failure::unavailable("a round trip was interrupted, and must be finished first")
        .hint("`roundtrip_finish` does that, and so does every write action.")
        .next(Next::action("roundtrip_finish"))
}

/// Failure if other round trips never stop.
pub fn busy() -> Failure {
    Failure::unavailable("blocked by other round trips")
        .hint("Try again in a moment.")
        .retry_after(Duration::from_secs(1))
}

/// Outcome of `roundtrip_finish`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Did {
    /// There was nothing to do.
    Nothing,
    /// The files are all new.
    Finished,
    /// The files are all as they were before.
    Undone,
}

/// Result for an interrupted round trip.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Finished {
    pub did: Did,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manifest_id: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Files that were left as they are: others wrote to them meanwhile, or they are no longer granted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<String>,
}

fn but_for(left: &[String]) -> &'static str {
    if left.is_empty() { "" } else { ", but for those in `left`: written to since, or granted no more" }
}

/// Settles, and reports the outcome.
pub fn finish(roots: &Roots, patience: Duration) -> Result<Reply<Finished>> {
    granted()?;
    let Some(Settled { journal, outcome }) = settle(roots, patience)? else {
        let nothing = Finished { did: Did::Nothing, manifest_id: None, files: Vec::new(), left: Vec::new() };
        return Ok(Reply::new(nothing).message("No round trip is unfinished."));
    };
    let files: Vec<_> = journal.plan.files.into_iter().map(|file| file.path).collect();
    let manifest_id = Some(journal.plan.manifest.id);
    Ok(match outcome {
        Outcome::Undone { reason, left } => {
            let why = reason.map_or(String::new(), |reason| format!(" ({})", reason.message));
            let message = format!("The files are as they were before the round trip{}{why}.", but_for(&left));
            let again = begin_anew(files.clone());
            Reply::new(Finished { did: Did::Undone, manifest_id, files, left }).message(message).next(again)
        }
        Outcome::Done { left } => {
            let message = format!("The files are as the round trip wrote them{}.", but_for(&left));
            Reply::new(Finished { did: Did::Finished, manifest_id, files, left }).message(message)
        }
        Outcome::Lost => return Err(busy()),
    })
}
