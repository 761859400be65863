//! State of a call from its request to its envelope: progress, questions, clock and outcome.

use core::net::IpAddr;
use std::{
    collections::{BTreeMap, BTreeSet},
    mem::{size_of, take},
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::SystemTime,
};

use loggia_facade::{
    Answer, Command, Envelope, LogLevel, Object, Progress, Question, QuestionKind, RootSource,
    trace::ParentSpan,
};
use serde_json::Value;
use tokio::{
    sync::{Notify, oneshot},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use super::{
    approvals::RunApprovals, cleanup::CleanupTime, parked_clock::ParkedClock, status::RunStatus,
    trace::RunTrace, weight,
};
use crate::{
    access::{CallOrigin, Caller, CallerAccount, CallerRights, ListId, RequestIds},
    catalog::CatalogEntry,
    flow::PermitHolder,
    journal::{Journal, JournalError, KeptCall, RunHead, RunRecorder},
    plan::{PlannedBatch, PlannedCall},
};

/// State of one call. Shared by the task that runs it, the ports of its frames, and its followers.
///
/// **Invariant**: it holds the names of the facade and actions, and never the facade itself: a run is kept long after it has
/// ended, and a replaced version must be dropped, with its descriptors and machine code.
pub(crate) struct CallState {
    /// Caller that the call belongs to.
    pub(crate) caller: Caller,
    /// Account whose share of permits and quotas it uses.
    pub(crate) account: Option<CallerAccount>,
    /// Address that its request came from.
    pub(crate) address: Option<IpAddr>,
    /// The caller's rights when the call began; later changes do not affect it.
    pub(crate) rights: CallerRights,
    /// True if the client can ask a person by a form.
    pub(crate) can_ask: bool,
    /// True if the client can ask a person to open a link.
    pub(crate) can_open_links: bool,
    /// True if the caller is a person, who confirms calls by `confirm: true`.
    pub(crate) is_person: bool,
    /// Ids of its request, for the audit log.
    pub(crate) request_ids: RequestIds,
    /// List of tools that its client sees.
    pub(crate) list: ListId,
    /// Supplies the roots of its client.
    pub(crate) roots: Option<Arc<dyn RootSource>>,
    /// Span of its request.
    pub(crate) span: ParentSpan,
    /// Name of the facade.
    pub(crate) facade: String,
    /// Names of its actions: a batch may have several.
    actions: Vec<String>,
    /// Echoed in its envelope.
    pub(crate) command: Command,
    /// All parameters, redacted. Only of a call that may become a run.
    inputs: Object,
    /// The same after guards replaced some. Set once, by the call's task; nobody waits for it.
    replaced_inputs: OnceLock<Object>,
    /// True if it may outlive its request.
    pub(crate) long_running: bool,
    /// Describes it, if it is made again after a restart.
    repeat: Option<Box<RunHead>>,
    /// Records it: from its beginning if its facade is durable, otherwise once it is a run. Set once; nobody waits for it.
    recorder: OnceLock<Arc<RunRecorder>>,
    /// Start time.
    pub(crate) began: SystemTime,
    /// True if it began in another process, which admitted it.
    pub(crate) is_resumed: bool,
    /// Number of handles that follow the call. The follower that takes it to zero cancels the call, unless it was detached;
    /// `AcqRel` on the way down makes what the other followers did visible to that one. Nothing waits for it.
    followers: AtomicUsize,
    /// Set once, when the caller learns of the call as a run. Until then the call ends with its last follower.
    /// `Release`/`Acquire`, so that a follower that is dropped later, on another thread, sees it. Nothing waits for it.
    became_run: AtomicBool,
    /// Set while the call waits to be moved to a runtime for computing. Its own task sets it, and reads it after that poll:
    /// relaxed, since no other thread uses it.
    pub(crate) leaves_io: AtomicBool,
    /// Cancelled when the caller cancels or goes away. Facades wait for it through their ports, and the scheduled call
    /// drops the future some time after it.
    pub(crate) cancel: CancellationToken,
    /// Set once the call, or one within it, undoes what it has done: then it is not dropped when it is cancelled.
    pub(crate) cleanup: CleanupTime,
    /// Guards everything that changes while the call runs. Held for a few reads and writes, by the call's task and by its
    /// followers: never across an await, and no other lock is taken under it, so it cannot deadlock. Large values are
    /// dropped after it is released.
    state: Mutex<MutableState>,
    /// Signals a change of `state`: progress, a question opened or closed, the end. Followers wait for it in
    /// [`next_event`](Self::next_event), [`wait_until_closed`](Self::wait_until_closed) and
    /// [`wait_until_ended`](Self::wait_until_ended). Each enables its `Notified` before it looks at `state`, so a change
    /// in between is not lost; the call's task only notifies and never waits for a follower.
    pub(super) changed: Notify,
    /// Signals that the last parked branch has resumed. The wall clocks of the call's frames wait for it while the call is
    /// parked, enabled before the check as above.
    pub(super) resumed: Notify,
}

/// Part of [`CallState`] that changes while the call runs.
#[derive(Default)]
pub(super) struct MutableState {
    pub(super) progress: Option<Progress>,
    /// Number of times that `progress` was set; followers compare it with their cursor.
    pub(super) progress_count: u64,
    /// Open questions by key. Dropping a sender closes its question without an answer.
    pub(super) questions: BTreeMap<String, (Question, oneshot::Sender<Answer>)>,
    /// Number of questions ever opened; also the source of generated keys.
    pub(super) question_count: u64,
    /// Answers to named questions that were not asked yet.
    pub(super) prepared_answers: BTreeMap<String, Answer>,
    pub(super) approvals: RunApprovals,
    /// Number of approvals ever shown.
    pub(super) approval_count: u64,
    /// Names already used by questions: an answer that a client sends again must not answer another question.
    pub(super) asked_names: BTreeSet<String>,
    pub(super) clock: ParkedClock,
    pub(super) outcome: Option<Envelope>,
    ended_at: Option<Instant>,
    /// Estimated memory use in bytes, set at the end.
    weight: usize,
    /// Set for a call that may become a run.
    trace: Option<RunTrace>,
    /// Keeps the outcome for later followers; otherwise the first one takes it.
    pub(super) keeps_outcome: bool,
}

impl CallState {
    pub(crate) fn for_call(origin: CallOrigin, planned: &PlannedCall) -> Self {
        let actions = vec![planned.action().name.clone()];
        let run = Self::with_origin(origin, &planned.entry, &planned.command, actions);
        Self { inputs: planned.inputs.clone(), ..run.with_long_running(planned.action().long_running) }
    }

    /// Makes it a call that began in another process, at this time.
    pub(crate) fn resumed(self, began: SystemTime) -> Self {
        Self { began, is_resumed: true, ..self }
    }

    /// All parameters, redacted, with which it is made. Only of a call that may become a run.
    pub(crate) fn inputs(&self) -> &Object {
        self.replaced_inputs.get().unwrap_or(&self.inputs)
    }

    /// Shows other parameters in place of those that were sent.
    pub(crate) fn replace_inputs(&self, inputs: &Object) {
        let _ = self.replaced_inputs.set(inputs.clone());
    }

    /// Sets what records the call.
    pub(crate) fn with_recorder(self, recorder: Option<Arc<RunRecorder>>) -> Self {
        Self { recorder: recorder.map(OnceLock::from).unwrap_or_default(), ..self }
    }

    /// Sets the description of a call that is made again after a restart.
    pub(crate) fn with_repeat(self, repeat: Option<Box<RunHead>>) -> Self {
        Self { repeat, ..self }
    }

    /// Returns what records the call, if anything does.
    pub(crate) fn recorder(&self) -> Option<&Arc<RunRecorder>> {
        self.recorder.get()
    }

    /// Records the call, which becomes a run, under this handle, unless something records it already.
    pub(crate) fn keep(&self, id: String, journal: &Arc<dyn Journal>, draining: &Arc<AtomicBool>) {
        self.recorder.get_or_init(|| {
            if let Some(head) = &self.repeat {
                let (journal, run) = (Arc::clone(journal), head.to_run(id));
                return Arc::new(RunRecorder::repeated(journal, run, Arc::clone(draining)));
            }
            let head = RunHead::keep(KeptCall {
                caller: &self.caller,
                rights: &self.rights,
                facade: &self.facade,
                actions: &self.actions,
                command: &self.command,
                inputs: self.inputs(),
                began: self.began,
            });
            Arc::new(RunRecorder::kept(Arc::clone(journal), head.to_run(id), Arc::clone(draining)))
        });
    }

    /// Creates the state of a batch.
    pub(crate) fn for_batch(origin: CallOrigin, batch: &PlannedBatch) -> Self {
        let actions: BTreeSet<&str> = batch.items.iter().map(|item| item.action().name.as_str()).collect();
        let actions = actions.into_iter().map(str::to_owned).collect();
        Self::with_origin(origin, &batch.entry, &batch.command, actions).with_long_running(true)
    }

    fn with_origin(
        origin: CallOrigin,
        entry: &CatalogEntry,
        command: &Command,
        actions: Vec<String>,
    ) -> Self {
        Self {
            account: origin.account(),
            address: origin.address,
            caller: origin.caller,
            rights: origin.rights,
            can_ask: origin.can_ask,
            can_open_links: origin.can_open_links,
            is_person: origin.is_person,
            request_ids: origin.request_ids,
            list: origin.list,
            roots: origin.roots,
            span: origin.span,
            facade: entry.surface().name.clone(),
            actions,
            command: command.clone(),
            inputs: Object::new(),
            replaced_inputs: OnceLock::new(),
            long_running: false,
            repeat: None,
            recorder: OnceLock::new(),
            began: SystemTime::now(),
            is_resumed: false,
            followers: AtomicUsize::new(0),
            became_run: AtomicBool::new(false),
            leaves_io: AtomicBool::new(false),
            cancel: CancellationToken::new(),
            cleanup: CleanupTime::default(),
            state: Mutex::default(),
            changed: Notify::new(),
            resumed: Notify::new(),
        }
    }

    fn with_long_running(self, long: bool) -> Self {
        let state = MutableState { trace: long.then(RunTrace::start), ..MutableState::default() };
        Self { long_running: long, state: Mutex::new(state), ..self }
    }

    /// Returns true if the call belongs to this caller and the caller's current rights still allow its actions: a token
    /// with narrower scopes must not see what another token of the same caller began.
    pub(crate) fn is_visible_to(&self, origin: &CallOrigin) -> bool {
        self.is_visible_with(&origin.caller, &origin.rights)
    }

    /// Returns true if the call is visible to the caller of another call.
    pub(crate) fn is_visible_beside(&self, other: &Self) -> bool {
        self.account == other.account && self.is_visible_with(&other.caller, &other.rights)
    }

    fn is_visible_with(&self, caller: &Caller, rights: &CallerRights) -> bool {
        let may_call = |action: &String| rights.allows(&self.facade, action);
        self.caller.is_same(caller) && (rights.are_unrestricted() || self.actions.iter().all(may_call))
    }

    /// Describes the call for permits.
    pub(crate) fn permit_holder(&self) -> PermitHolder<'_> {
        PermitHolder { account: self.account.as_ref(), long: self.long_running }
    }

    /// Marks the call as a run that its caller knows of.
    pub(crate) fn become_run(&self) {
        self.became_run.store(true, Ordering::Release);
    }

    /// Returns true if the caller knows the call as a run.
    pub(crate) fn is_run(&self) -> bool {
        self.became_run.load(Ordering::Acquire)
    }

    /// Counts one more follower.
    pub(crate) fn add_follower(&self) {
        self.followers.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts one follower less. Returns true for the last.
    pub(crate) fn remove_follower(&self) -> bool {
        self.followers.fetch_sub(1, Ordering::AcqRel) == 1
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, MutableState> {
        // Nothing under the lock can panic, so poisoning has no meaning here.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn record_progress(&self, progress: Progress) {
        let mut state = self.lock();
        if let Some(trace) = &mut state.trace {
            trace.progress(&progress);
            self.recorder().inspect(|recorder| recorder.trace(|| trace.last_line()));
        }
        state.progress = Some(progress);
        state.progress_count += 1;
        drop(state);
        self.changed.notify_waiters();
    }

    /// Adds a log line to the trace of a call that may become a run.
    pub(crate) fn record_log(&self, level: LogLevel, text: &str) {
        if self.long_running
            && let Some(trace) = &mut self.lock().trace
        {
            trace.log(level, text);
            self.recorder().inspect(|recorder| recorder.trace(|| trace.last_line()));
        }
    }

    /// Current status.
    pub(crate) fn status(&self) -> RunStatus {
        let state = self.lock();
        match &state.outcome {
            Some(envelope) => RunStatus::from_envelope(envelope),
            None if state.questions.is_empty() && !state.approvals.are_open() => RunStatus::Running,
            None => RunStatus::Waiting,
        }
    }

    /// Latest progress.
    pub(crate) fn latest_progress(&self) -> Option<Progress> {
        self.lock().progress.clone()
    }

    /// Texts of the open questions, with their links, and of the approvals for which it waits.
    pub(crate) fn question_texts(&self) -> Vec<String> {
        let text = |question: &Question| match &question.kind {
            QuestionKind::Form { .. } => question.message.clone(),
            QuestionKind::Link { url } => format!("{}: {url}", question.message),
        };
        let state = self.lock();
        let questions = state.questions.values().map(|(question, _)| text(question));
        questions.chain(state.approvals.texts()).collect()
    }

    /// Open questions by their keys.
    pub(crate) fn open_questions(&self) -> BTreeMap<String, Question> {
        let state = self.lock();
        state.questions.iter().map(|(key, (question, _))| (key.clone(), question.clone())).collect()
    }

    /// Outcome, once it has ended.
    pub(crate) fn outcome(&self) -> Option<Envelope> {
        self.lock().outcome.clone()
    }

    /// Renders the trace as JSON.
    pub(crate) fn render_trace(&self) -> Value {
        self.lock().trace.as_ref().map_or_else(|| Value::Array(Vec::new()), RunTrace::to_json)
    }

    /// Returns true if the call goes on at the next start of the host, rather than ending with this one.
    pub(crate) fn outlives_host(&self) -> bool {
        self.recorder().is_some_and(|recorder| recorder.is_draining())
    }

    /// Ends the call. The outcome of a recorded one is seen once it is on the disk.
    pub(crate) async fn end(&self, envelope: Envelope) {
        if let Some(recorder) = self.recorder()
            && let Err(error @ JournalError::Storage(_)) =
                recorder.finish(&envelope, self.render_trace()).await
        {
            tracing::error!(run = recorder.run(), "failed to record the outcome of a run: {error}");
        }
        self.finish(envelope);
    }

    /// Stores the outcome, closes the questions of the call, and wakes its followers.
    fn finish(&self, envelope: Envelope) {
        let weight = weight::envelope(&envelope) + self.own_weight();
        let mut state = self.lock();
        let progress = state.progress.as_ref().map_or(0, |progress| weight::optional(&progress.message));
        let kept = state.trace.as_ref().map_or(0, RunTrace::weight) + state.approvals.weight();
        state.weight = weight + progress + kept;
        state.outcome = Some(envelope);
        state.ended_at = Some(Instant::now());
        let closed =
            (take(&mut state.questions), take(&mut state.prepared_answers), take(&mut state.asked_names));
        drop(state);
        // Dropped outside of the lock, since questions and answers may be large.
        drop(closed);
        self.changed.notify_waiters();
    }

    /// Keeps the outcome for followers that attach later.
    pub(crate) fn keep_outcome(&self) {
        self.lock().keeps_outcome = true;
    }

    /// Estimated memory use with the outcome, in bytes. Zero before the end: the number of unfinished calls is bounded.
    pub(crate) fn weight(&self) -> usize {
        self.lock().weight
    }

    fn own_weight(&self) -> usize {
        let names = self.actions.iter().map(weight::text).sum::<usize>() + weight::text(&self.facade);
        size_of::<Self>() + names + weight::optional(&self.command.name) + weight::object(self.inputs())
    }

    /// Waits until the call has ended.
    pub(crate) async fn wait_until_ended(&self) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if self.ended_at().is_some() {
                return;
            }
            changed.await;
        }
    }

    /// Time of the end.
    pub(crate) fn ended_at(&self) -> Option<Instant> {
        self.lock().ended_at
    }
}
