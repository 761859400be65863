//! The front side of a call: one object, from request to run.

use std::{collections::BTreeMap, sync::Arc};

use loggia_facade::{Answer, Envelope, Progress, Question};

use super::{
    Origin, Shared,
    executor::Work,
    line,
    plan::Planned,
    run::{Run, RunId, Seen},
};

/// What a follower is told.
pub enum Event {
    /// The call has come further. Only the latest is told.
    Progress(Progress),
    /// The call waits for a person. A map, since parallel branches may ask together; all open questions are in it.
    Asks(BTreeMap<String, Question>),
    /// The call has ended; nothing follows.
    Done(Box<Envelope>),
}

/// Follows one call. Dropping it cancels the call, unless it was detached.
pub struct Exec {
    stage: Stage,
    seen: Seen,
}

enum Stage {
    /// Answered without running, or ended within its first slice.
    Answered(Option<Box<Envelope>>),
    /// Nothing has run yet. `None` only while the first slice is polled.
    Fresh(Arc<Shared>, Option<Box<Work>>),
    /// On the second runtime.
    Running(Arc<Shared>, Follow),
    /// Somebody else's to cancel.
    Attached(Arc<Run>),
}

/// Cancels the call when its follower goes away, unless the call was let go.
struct Follow {
    run: Arc<Run>,
    detached: bool,
}

impl Drop for Follow {
    fn drop(&mut self) {
        if !self.detached {
            self.run.cancel.cancel();
        }
    }
}

impl Exec {
    pub(super) fn answered(envelope: Envelope) -> Self {
        Self { stage: Stage::Answered(Some(Box::new(envelope))), seen: Seen::default() }
    }

    pub(super) fn attached(run: Arc<Run>) -> Self {
        Self { stage: Stage::Attached(run), seen: Seen::default() }
    }

    pub(super) fn begin(shared: &Arc<Shared>, origin: Origin, planned: Planned) -> Self {
        let run = Arc::new(Run::new(origin.caller));
        let work = Work {
            run: Arc::clone(&run),
            entry: Arc::clone(&planned.entry),
            command: planned.command.clone(),
            future: Box::pin(line::root(Arc::clone(shared), run, planned)),
        };
        Self { stage: Stage::Fresh(Arc::clone(shared), Some(Box::new(work))), seen: Seen::default() }
    }

    /// What happens next. Must be called from a task that may be blocked for a millisecond. Dropping the future loses
    /// nothing. After `Done` it never resolves.
    pub async fn next(&mut self) -> Event {
        if let Stage::Fresh(shared, work) = &mut self.stage {
            let shared = Arc::clone(shared);
            if let Some(work) = work.take() {
                let run = Arc::clone(&work.run);
                // Polled once and never pending, so no drop can lose the call here.
                match shared.executor.first_slice(*work).await {
                    Ok(envelope) => {
                        self.stage = Stage::Answered(Some(Box::new(envelope)));
                        if let Some(progress) = run.news(&mut self.seen) {
                            return Event::Progress(progress);
                        }
                    }
                    Err(work) => {
                        shared.executor.spawn(work);
                        self.stage = Stage::Running(shared, Follow { run, detached: false });
                    }
                }
            }
        }
        match &mut self.stage {
            Stage::Answered(envelope) => match envelope.take() {
                Some(envelope) => Event::Done(envelope),
                None => std::future::pending().await,
            },
            Stage::Running(_, Follow { run, .. }) | Stage::Attached(run) => {
                let event = run.next(&mut self.seen).await;
                if matches!(event, Event::Done(_)) {
                    self.stage = Stage::Answered(None);
                }
                event
            }
            Stage::Fresh(..) => std::future::pending().await,
        }
    }

    /// Lets the call go on without a follower; the handle by which [`Gate::attach`](super::Gate::attach) finds it. None
    /// for a call that was answered already: its envelope is all there is.
    pub fn detach(self) -> Option<RunId> {
        match self.stage {
            Stage::Answered(_) | Stage::Attached(_) => None,
            Stage::Fresh(shared, work) => {
                let work = work?;
                let id = shared.runs.keep(Arc::clone(&work.run));
                shared.executor.spawn(*work);
                Some(id)
            }
            Stage::Running(shared, mut follow) => {
                follow.detached = true;
                Some(shared.runs.keep(Arc::clone(&follow.run)))
            }
        }
    }

    /// Ends the call: its facade is told, and dropped if it does not end by itself.
    pub fn cancel(&self) {
        if let Some(run) = self.run() {
            run.cancel.cancel();
        }
    }

    /// Answers a question. False where it is not open (any more).
    pub fn answer(&self, key: &str, answer: Answer) -> bool {
        self.run().is_some_and(|run| run.answer(key, answer))
    }

    /// Says no to all questions, for a caller who has nobody to ask.
    pub fn decline(&self, asks: &BTreeMap<String, Question>) {
        for key in asks.keys() {
            self.answer(key, Answer::Declined);
        }
    }

    fn run(&self) -> Option<&Run> {
        match &self.stage {
            Stage::Answered(_) => None,
            Stage::Fresh(_, work) => work.as_ref().map(|work| &*work.run),
            Stage::Running(_, Follow { run, .. }) | Stage::Attached(run) => Some(run),
        }
    }
}
