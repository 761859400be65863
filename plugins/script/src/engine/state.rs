//! What one run of a program keeps outside of the engine: jobs, calls, output.

use std::{
    cell::{Cell, OnceCell, RefCell},
    collections::VecDeque,
    rc::Rc,
};

use boa_engine::{
    Context, JsObject, JsResult,
    builtins::promise::{OperationType, Promise, ResolvingFunctions},
    context::HostHooks,
    error::EngineError,
    job::{Job, JobExecutor},
    js_error,
    object::builtins::JsFunction,
    realm::Realm,
    string::JsString,
};
use loggia_sdk::{
    host::{Peer, Request},
    prelude::*,
};

use super::{console::Console, errors::error};
use crate::{
    config::{ARGUMENTS_AT_ONCE, AT_ONCE, Limits},
    place::Place,
};

/// Rejected promises without a handler that are remembered.
const REJECTED: usize = 1000;

/// Refused calls after which a program is ended.
const REFUSED: usize = 1000;

/// A call that a program made and the host has not been asked for.
pub struct PendingCall {
    /// `memories.add`.
    pub name: String,
    pub request: Request,
    /// Bytes of the arguments.
    pub bytes: usize,
    /// True if the program wants message, page and next beside the data.
    pub is_full: bool,
    /// Error whose trace shows where the call is.
    pub trace: Option<JsObject>,
    pub resolvers: ResolvingFunctions,
}

/// A failure that was thrown as an error of the program.
pub struct ThrownFailure {
    pub error: JsObject,
    pub name: String,
    pub failure: Failure,
    pub place: Option<Place>,
}

/// Functions of the realm as they were before the program ran, which may replace them.
pub struct Builtins {
    /// Constructor of `CallError`.
    pub call_error: JsObject,
    /// Getter of an error's `stack`.
    pub stack: JsFunction,
    /// `Object.keys`.
    pub keys: JsFunction,
    /// `Array.isArray`.
    pub is_array: JsFunction,
}

/// State of a run. It is the engine's job executor, which native functions get from their context; programs cannot reach
/// it.
pub struct RunState {
    pub limits: Limits,
    /// Key of the call that runs the program; inner calls get their own, derived from it.
    pub idempotency_key: Option<String>,
    pub console: RefCell<Console>,
    /// Trace of the latest call.
    pub latest: RefCell<Option<JsObject>>,
    pub thrown: RefCell<Vec<ThrownFailure>>,
    /// Errors of refused calls, each with one whose trace shows where the call is.
    pub refusals: RefCell<Vec<(JsObject, JsObject)>>,
    builtins: OnceCell<Builtins>,
    made: Cell<usize>,
    refused: Cell<usize>,
    jobs: RefCell<VecDeque<Job>>,
    calls: RefCell<VecDeque<PendingCall>>,
    rejected: RefCell<Vec<JsObject<Promise>>>,
    peers: OnceCell<Result<Vec<Peer>>>,
}

impl RunState {
    pub fn new(limits: Limits, idempotency_key: Option<String>) -> Self {
        Self {
            limits,
            idempotency_key,
            console: RefCell::default(),
            latest: RefCell::default(),
            thrown: RefCell::default(),
            refusals: RefCell::default(),
            builtins: OnceCell::new(),
            made: Cell::new(0),
            refused: Cell::new(0),
            jobs: RefCell::default(),
            calls: RefCell::default(),
            rejected: RefCell::default(),
            peers: OnceCell::new(),
        }
    }

    /// Returns the state of the run that this context belongs to.
    pub fn of(context: &Context) -> JsResult<Rc<Self>> {
        context.downcast_job_executor::<Self>().ok_or_else(|| error("the engine has another executor"))
    }

    /// Keeps the functions of a new realm.
    pub fn set_builtins(&self, builtins: Builtins) {
        _ = self.builtins.set(builtins);
    }

    /// Returns the functions of the realm.
    pub fn builtins(&self) -> JsResult<&Builtins> {
        self.builtins.get().ok_or_else(|| error("the realm is not set up"))
    }

    /// Returns the facades that may be called, asking the host once.
    pub fn peers(&self) -> &Result<Vec<Peer>> {
        self.peers.get_or_init(host::facades)
    }

    /// Counts a call. Returns its number from 1, or `None` over the limit.
    pub fn count_call(&self) -> Option<usize> {
        if self.made.get() >= self.limits.calls {
            self.refused.set(self.refused.get() + 1);
            return None;
        }
        self.made.set(self.made.get() + 1);
        Some(self.made.get())
    }

    /// Tests whether the program goes on calling although its calls are refused.
    pub fn ignores_refusals(&self) -> bool {
        self.refused.get() > REFUSED
    }

    /// Number of calls so far.
    pub fn calls_made(&self) -> usize {
        self.made.get()
    }

    /// Adds a call to the next batch.
    pub fn queue(&self, call: PendingCall) {
        self.calls.borrow_mut().push_back(call);
    }

    /// Takes the calls that are made at once.
    pub fn take_batch(&self) -> Vec<PendingCall> {
        let mut calls = self.calls.borrow_mut();
        let mut bytes = 0;
        let mut count = 0;
        for call in calls.iter().take(AT_ONCE) {
            bytes += call.bytes;
            if count > 0 && bytes > ARGUMENTS_AT_ONCE {
                break;
            }
            count += 1;
        }
        calls.drain(..count).collect()
    }

    /// Returns a rejected promise that nothing handled.
    pub fn unhandled(&self, main: &JsObject) -> Option<JsObject<Promise>> {
        let rejected = self.rejected.borrow();
        rejected.iter().find(|promise| !JsObject::equals(&(*promise).clone().upcast(), main)).cloned()
    }
}

impl JobExecutor for RunState {
    fn enqueue_job(self: Rc<Self>, job: Job, _: &mut Context) {
        // Others come from timers, `Atomics.waitAsync` and `FinalizationRegistry`, which have no host here: what waits for
        // them is reported as never settled.
        if matches!(job, Job::PromiseJob(_) | Job::GenericJob(_)) {
            self.jobs.borrow_mut().push_back(job);
        }
    }

    fn run_jobs(self: Rc<Self>, context: &mut Context) -> JsResult<()> {
        loop {
            let Some(job) = self.jobs.borrow_mut().pop_front() else { return Ok(()) };
            match job {
                Job::PromiseJob(job) => _ = job.call(context)?,
                Job::GenericJob(job) => _ = job.call(context)?,
                _ => {}
            }
            // The engine drops this error where it resumes an asynchronous function.
            if context.instructions_remaining() == 0 || self.ignores_refusals() {
                return Err(EngineError::NoInstructionsRemain.into());
            }
        }
    }
}

/// Decisions that the engine leaves to its host.
pub struct Hooks;

impl HostHooks for Hooks {
    fn ensure_can_compile_strings(
        &self,
        _: Realm,
        _: &[JsString],
        _: &JsString,
        _: bool,
        _: &mut Context,
    ) -> JsResult<()> {
        Err(js_error!(EvalError: "code cannot be made from text: `eval` and `Function` are not available"))
    }

    fn promise_rejection_tracker(
        &self,
        promise: &JsObject<Promise>,
        operation: OperationType,
        context: &mut Context,
    ) {
        let Ok(state) = RunState::of(context) else { return };
        let mut rejected = state.rejected.borrow_mut();
        match operation {
            OperationType::Reject if rejected.len() < REJECTED => rejected.push(promise.clone()),
            OperationType::Reject => {}
            // Most are handled soon after.
            OperationType::Handle => {
                if let Some(at) = rejected.iter().rposition(|other| JsObject::equals(other, promise)) {
                    rejected.swap_remove(at);
                }
            }
        }
    }

    fn local_timezone_offset_seconds(&self, _: i64) -> i32 {
        0
    }

    /// Less than a call's memory, so that a program that asks for too much gets an error.
    fn max_buffer_size(&self, _: &mut Context) -> u64 {
        16 << 20
    }
}
