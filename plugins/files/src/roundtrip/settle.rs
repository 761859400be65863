//! What comes before all else: a journal that somebody left is finished or undone.
//!
//! A journal may also be that of a call which is still at work, so it is waited for a little. That is courtesy alone:
//! taking over from a living worker does no harm (see [`Worker`]).

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

/// How often a call makes way for others before it gives up.
pub const TURNS: usize = 10;
/// How often several files are read in vain. A call has 2 s of CPU time.
const LOOKS: usize = 3;
/// So many files take about as long to write as a journal may rest, on a slow disk.
const MANY: usize = 20;
/// Between two looks.
const POLL: Duration = Duration::from_millis(5);
/// No call waits longer than this for others, if each of them is at work.
const LONGEST: Duration = Duration::from_secs(2);

/// What was settled.
pub struct Settled {
    pub journal: Journal,
    pub outcome: Outcome,
}

/// Finishes or undoes what is unfinished. What it was, if there was anything that this call ended.
///
/// # Errors
///
/// `unavailable` where that cannot be done, or others never stop.
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

/// The journal that is there and has not moved for as long as a worker may take, which is longer for many files, and each
/// time that it was taken over.
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

/// For what changes nothing, and so can settle nothing.
///
/// # Errors
///
/// `unavailable` where a round trip is in the middle.
pub fn calm(patience: Duration) -> Result<()> {
    match wait(patience)? {
        Some(journal) if journal.head.phase != Phase::Clean => Err(interrupted()),
        _ => Ok(()),
    }
}

/// Reads several files, at a moment when none of them is half of a round trip.
///
/// # Errors
///
/// As for reading; else as [`calm`].
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
        .hint("`roundtrip_finish` does so, and every action that writes.")
        .next(Next::action("roundtrip_finish"))
}

/// Others never stop.
pub fn busy() -> Failure {
    Failure::unavailable("other round trips are in the way")
        .hint("Try again in a moment.")
        .retry_after(Duration::from_secs(1))
}

/// What `roundtrip_finish` found and did.
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

/// What was left of an interrupted round trip.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Finished {
    pub did: Did,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manifest_id: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Those that were left as they are: somebody wrote to them meanwhile, or they are granted no more.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<String>,
}

fn but_for(left: &[String]) -> &'static str {
    if left.is_empty() { "" } else { ", but for those in `left`: written to since, or granted no more" }
}

/// Settles, and says what that was.
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
