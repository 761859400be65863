//! Carries out a journal in small steps.
//!
//! A worker may die after or within any step: the next one takes the journal over and continues from the current state.
//! A worker that only seemed dead is harmless. It moves a draft into place only after checking that it still owns the
//! journal, and names of drafts contain the number of the attempt: a takeover first removes those of earlier attempts,
//! so that a late move finds nothing to move.

use std::{collections::VecDeque, fs, io, path::PathBuf};

use loggia_sdk::prelude::*;

use super::{
    Now,
    beside::{anew, copy, failed, named, sibling, write},
    journal::{Entry, Journal, Phase},
};
use crate::roots::{Place, Roots};

/// Carries a journal out.
pub struct Worker<'r> {
    roots: &'r Roots,
    journal: Journal,
    steps: VecDeque<Step>,
    /// Reason for undoing, if this worker decided it.
    reason: Option<Failure>,
    /// Files that were left as they are: others wrote to them meanwhile, or they are no longer granted.
    left: Vec<String>,
}

/// An atomic, idempotent step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// Removes the drafts of earlier attempts.
    Fence,
    /// Determines the remaining steps.
    Look,
    /// Makes missing directories.
    Make,
    /// Writes a draft next to its target.
    Stage(usize),
    /// Keeps the old file under another name.
    Keep(usize),
    /// Moves a draft into place.
    Settle(usize),
    /// Puts the old file back.
    Restore(usize),
    /// Records that all new files are in place.
    Turn,
    /// Removes the temporary files of a file.
    Sweep(usize),
    /// Removes created directories that are empty.
    Unmake,
    /// Ends the journal.
    Close,
}

/// Whether to continue.
#[derive(Debug)]
pub enum Flow {
    On,
    Over(Outcome),
}

/// End of a journal.
#[derive(Debug)]
pub enum Outcome {
    /// The files are the new ones, except for those left.
    Done { left: Vec<String> },
    /// The files are the old ones, except for those left.
    Undone { reason: Option<Failure>, left: Vec<String> },
    /// Another worker has taken over.
    Lost,
}

/// State of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stand {
    Old,
    New,
    /// Another program has written to it.
    Theirs,
    /// It is no longer in a granted directory.
    Away,
}

impl<'r> Worker<'r> {
    /// Starts at the beginning of the journal's phase.
    pub fn new(roots: &'r Roots, journal: Journal) -> Self {
        let mut worker = Self { roots, journal, steps: VecDeque::new(), reason: None, left: Vec::new() };
        worker.plan();
        worker
    }

    /// Journal of this worker.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    fn files(&self) -> std::ops::Range<usize> {
        0..self.journal.plan.files.len()
    }

    fn plan(&mut self) {
        if self.journal.head.phase == Phase::Undo {
            self.left.clear();
        }
        self.steps = match self.journal.head.phase {
            Phase::Redo => [Step::Fence, Step::Look].into(),
            Phase::Undo => {
                let files = self.files().map(Step::Restore).chain(self.files().map(Step::Sweep));
                [Step::Fence].into_iter().chain(files).chain([Step::Unmake, Step::Close]).collect()
            }
            Phase::Clean => self.files().map(Step::Sweep).chain([Step::Close]).collect(),
        };
    }

    /// Takes the next step. A failure while putting new files in place becomes the reason to restore the old ones.
    ///
    /// # Errors
    ///
    /// `unavailable` if the old files cannot be restored either: the journal stays.
    pub fn step(&mut self) -> Result<Flow> {
        let Some(step) = self.steps.pop_front() else {
            return Err(Failure::internal("the round trip has no further step"));
        };
        let taken = self.take(step);
        match (taken, self.journal.head.phase) {
            (Ok(flow), _) => Ok(flow),
            (Err(failure), Phase::Redo) => {
                self.reason = Some(failure);
                let turned = self.journal.turn(Phase::Undo);
                self.turned(turned.map_err(|failure| self.unfinished(&failure))?)
            }
            (Err(failure), Phase::Undo) => Err(self.unfinished(&failure)),
            // The files are as they should be.
            (Err(failure), Phase::Clean) => {
                warn!("a round trip's journal stays: {failure}");
                Ok(Flow::Over(Outcome::Done { left: std::mem::take(&mut self.left) }))
            }
        }
    }

    fn turned(&mut self, journal: Option<Journal>) -> Result<Flow> {
        let Some(journal) = journal else { return Ok(Flow::Over(Outcome::Lost)) };
        self.journal = journal;
        self.plan();
        Ok(Flow::On)
    }

    fn unfinished(&self, failure: &Failure) -> Failure {
        let paths: Vec<_> = self.journal.plan.files.iter().map(|file| file.path.as_str()).collect();
        let why = self.reason.as_ref().unwrap_or(failure);
        let message = if why.message == failure.message {
            format!("the round trip is unfinished: {}", failure.message)
        } else {
            format!("the round trip is unfinished: {}; undoing it failed: {}", why.message, failure.message)
        };
        Failure::unavailable(message)
            .hint("Some of its files may be new and others old. Once the cause is fixed, `roundtrip_finish` completes it.")
            .details(json!({"files": paths}))
            .next(Next::action("roundtrip_finish"))
    }

    fn take(&mut self, step: Step) -> Result<Flow> {
        match step {
            Step::Fence => self.fence(),
            Step::Look => self.look()?,
            Step::Make => self.make()?,
            Step::Stage(at) => self.stage(at)?,
            Step::Keep(at) => self.keep(at)?,
            Step::Settle(at) => return self.settle(at),
            Step::Restore(at) => return self.restore(at),
            Step::Turn => {
                let turned = self.journal.turn(Phase::Clean)?;
                return self.turned(turned);
            }
            Step::Sweep(at) => self.sweep(at),
            Step::Unmake => self.unmake(),
            Step::Close => {
                let closed = self.journal.close()?;
                let left = std::mem::take(&mut self.left);
                return Ok(Flow::Over(match (closed, self.journal.head.phase) {
                    (false, _) => Outcome::Lost,
                    (true, Phase::Clean) => Outcome::Done { left },
                    (true, _) => Outcome::Undone { reason: self.reason.take(), left },
                }));
            }
        }
        Ok(Flow::On)
    }

    fn look(&mut self) -> Result<()> {
        let stands = self.files().map(|at| self.stand(at)).collect::<Result<Vec<_>>>()?;
        let all = |wanted| stands.iter().enumerate().filter(move |(_, stand)| **stand == wanted);
        let todo: Vec<_> = all(Stand::Old).map(|(at, _)| at).collect();
        let paths = |wanted| all(wanted).map(|(at, _)| self.entry(at).path.clone());
        let mut theirs: Vec<_> = paths(Stand::Theirs).collect();
        // If all others are in place already, the file was written to after it was in place, too.
        let undecided = !todo.is_empty() || all(Stand::New).next().is_none();
        if undecided && let Some(path) = theirs.first() {
            return Err(changed(path));
        }
        theirs.extend(paths(Stand::Away));
        self.left = theirs;
        let each = |step: fn(usize) -> Step| todo.iter().copied().map(step);
        self.steps = [Step::Make].into_iter().filter(|_| !todo.is_empty()).collect();
        self.steps.extend(each(Step::Stage).chain(each(Step::Keep)).chain(each(Step::Settle)));
        self.steps.push_back(Step::Turn);
        Ok(())
    }

    fn make(&self) -> Result<()> {
        for path in &self.journal.plan.directories {
            // In no granted directory any more, like the files in it.
            let Ok(place) = self.roots.place(path) else { continue };
            match fs::create_dir(place.real()?) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => made.map_err(|error| place.unchanged(error))?,
            }
        }
        Ok(())
    }

    fn stage(&self, at: usize) -> Result<()> {
        let place = self.place(at)?;
        let content = self.journal.content(at)?.ok_or_else(|| changed(&self.entry(at).path))?;
        write(&self.draft(&place, at)?, &content).map_err(|error| failed(&place, error))
    }

    fn keep(&self, at: usize) -> Result<()> {
        let Some(sha256) = &self.entry(at).old else { return Ok(()) };
        let place = self.place(at)?;
        let kept = sibling(&place, &self.kept(at));
        if let Some(found) = Now::at(&kept)?.sha256()
            && found == sha256
        {
            return Ok(());
        }
        let (from, to) = (place.real()?, kept.real()?);
        match fs::hard_link(&from, &to) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                copy(&from, sha256, &sibling(&place, &self.name(at, "copy")).real()?, &to)
            }
            linked => linked,
        }
        .map_err(|error| failed(&place, error))
    }

    fn settle(&self, at: usize) -> Result<Flow> {
        let place = self.place(at)?;
        let (draft, to) = (self.draft(&place, at)?, place.real()?);
        if !self.journal.holds()? {
            return Ok(Flow::Over(Outcome::Lost));
        }
        let moved = match self.stand(at)? {
            Stand::New | Stand::Away => return Ok(Flow::On),
            Stand::Theirs => return Err(changed(&self.entry(at).path)),
            Stand::Old if self.entry(at).old.is_some() => fs::rename(draft, to),
            Stand::Old => anew(&draft, &to),
        };
        match moved {
            Ok(()) => Ok(Flow::On),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(changed(&self.entry(at).path)),
            Err(error) => Err(place.unchanged(error)),
        }
    }

    fn restore(&mut self, at: usize) -> Result<Flow> {
        match self.stand(at)? {
            Stand::New => {}
            Stand::Old => return Ok(Flow::On),
            Stand::Theirs | Stand::Away => {
                self.left.push(self.entry(at).path.clone());
                return Ok(Flow::On);
            }
        }
        let place = self.place(at)?;
        let to = place.real()?;
        let kept = sibling(&place, &self.kept(at)).real()?;
        if !self.journal.holds()? {
            return Ok(Flow::Over(Outcome::Lost));
        }
        let restored = match self.entry(at).old {
            Some(_) => fs::rename(kept, to),
            None => fs::remove_file(to),
        };
        match restored {
            Ok(()) => Ok(Flow::On),
            Err(_) if !self.journal.holds()? => Ok(Flow::Over(Outcome::Lost)),
            // The kept file was deleted: it cannot be restored.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                warn!("the file to restore is missing: {}", self.entry(at).path);
                Ok(Flow::On)
            }
            Err(error) => Err(place.unchanged(error)),
        }
    }

    fn fence(&self) {
        self.files().for_each(|at| self.remove(at, &self.drafts(at, self.journal.head.attempt - 1)));
    }

    /// Removes the temporary files of a file.
    fn sweep(&self, at: usize) {
        let mut names = self.drafts(at, self.journal.head.attempt);
        names.push(self.kept(at));
        self.remove(at, &names);
    }

    /// After another worker took over and ended the journal: removes leftovers of this worker's late steps.
    pub fn sweep_up(&self) {
        self.files().for_each(|at| self.sweep(at));
        self.unmake();
    }

    fn unmake(&self) {
        for path in self.journal.plan.directories.iter().rev() {
            // If it is not empty, others use it by now.
            let real = self.roots.place(path).and_then(|place| place.real());
            let _ = real.map(fs::remove_dir);
        }
    }

    /// Removal failures are ignored: the files are hidden, and not part of any other.
    fn remove(&self, at: usize, names: &[String]) {
        let Ok(place) = self.place(at) else { return };
        for name in names {
            let removed = sibling(&place, name).real().map(fs::remove_file);
            if let Ok(Err(error)) = removed
                && !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
            {
                warn!("{name} next to {} cannot be removed: {error}", place.path());
            }
        }
    }

    fn stand(&self, at: usize) -> Result<Stand> {
        let Ok(place) = self.place(at) else {
            warn!("a round trip's file is in no granted directory any more: {}", self.entry(at).path);
            return Ok(Stand::Away);
        };
        let entry = self.entry(at);
        Ok(match (Now::at(&place)?, &entry.old) {
            (Now::Absent, None) => Stand::Old,
            (now, _) if now.sha256() == Some(&entry.new) => Stand::New,
            (now, Some(old)) if now.sha256() == Some(old) => Stand::Old,
            _ => Stand::Theirs,
        })
    }

    fn entry(&self, at: usize) -> &Entry {
        &self.journal.plan.files[at]
    }

    fn place(&self, at: usize) -> Result<Place<'r>> {
        self.roots.place(&self.entry(at).path)
    }

    fn draft(&self, place: &Place, at: usize) -> Result<PathBuf> {
        sibling(place, &self.name(at, "part")).real()
    }

    fn name(&self, at: usize, kind: &str) -> String {
        named(self.journal.head.number, at, self.journal.head.attempt, kind)
    }

    /// The same in all attempts: the first that keeps the old file keeps it for all.
    fn kept(&self, at: usize) -> String {
        named(self.journal.head.number, at, 0, "old")
    }

    fn drafts(&self, at: usize, attempts: u32) -> Vec<String> {
        let number = self.journal.head.number;
        let of = |attempt| ["part", "copy"].map(|kind| named(number, at, attempt, kind));
        (1..=attempts).flat_map(of).collect()
    }
}

fn changed(path: &str) -> Failure {
    Failure::conflict(format!("modified concurrently: {path}")).hint("Start again: nothing was changed.")
}
