//! Runs one program in a JavaScript engine of its own.

mod calls;
mod console;
mod data;
mod errors;
mod facades;
mod globals;
mod report;
mod state;
mod trace;

use std::rc::Rc;

use boa_engine::{
    Context, JsError, JsObject, JsResult, JsValue, Script, builtins::promise::PromiseState,
    context::ContextBuilder, interner::Interner, object::builtins::JsPromise,
};
use loggia_sdk::prelude::*;

use self::{
    calls::make_calls,
    data::to_json,
    facades::define_facades,
    globals::define_globals,
    report::{Ending, report},
    state::{Hooks, RunState},
};
use crate::{
    config::{Limits, RECURSION},
    program::Program,
};

/// Bytes of a result, before it is cut to the caller's limit.
const RESULT: usize = 4 << 20;

/// Frames of a stack trace that are kept, the innermost ones.
const FRAMES: usize = 12;

/// What a program leaves.
pub struct Outcome {
    /// `None` if it returned nothing.
    pub result: Option<Value>,
    pub console: Vec<String>,
    pub calls: usize,
}

/// Runs a program to its end: its calls are made, and all that it began is settled.
pub fn run(
    code: &str,
    input: Option<&Value>,
    limits: Limits,
    idempotency_key: Option<&str>,
) -> Result<Outcome> {
    let mut interner = Interner::new();
    let program = Program::parse(code, &mut interner).map_err(|error| error.into_failure(code))?;
    let state = Rc::new(RunState::new(limits, idempotency_key.map(str::to_owned)));
    let context = ContextBuilder::new()
        .interner(interner)
        .host_hooks(Rc::new(Hooks))
        .job_executor(Rc::clone(&state))
        .instructions_remaining(limits.steps)
        .build();
    let mut context = context.map_err(|error| engine_failure(&error))?;
    context.runtime_limits_mut().set_recursion_limit(RECURSION);
    context.runtime_limits_mut().set_backtrace_limit(FRAMES);
    define_globals(input, &mut context)
        .and_then(|()| define_facades(&program.names, &mut context))
        .map_err(|error| engine_failure(&error))?;
    let ending = run_program(&program, &mut context);
    let outcome = match ending {
        Ok(result) => Ok(result),
        Err(ending) => Err(report(&program, ending, &state, &mut context)),
    };
    let calls = state.calls_made();
    let console = state.console.take().into_lines();
    // The instance ends with the call: its memory need not be freed one by one.
    #[cfg(target_family = "wasm")]
    std::mem::forget(context);
    match outcome {
        Ok(result) => Ok(Outcome { result, console, calls }),
        Err(failure) => Err(with_output(failure, console, calls)),
    }
}

/// Runs a program in a prepared context, and converts its result.
fn run_program(program: &Program<'_>, context: &mut Context) -> Result<Option<Value>, Ending> {
    let script = Script::parse(program.source(), None, context).map_err(Ending::Threw)?;
    let promise = script.evaluate(context).map_err(Ending::Threw)?;
    let promise = promise.as_promise().ok_or(Ending::NeverSettled)?;
    let value = settle(&promise, context)?;
    to_json(&value, "result", RESULT, context).map_err(Ending::Threw).and_then(|result| {
        if result.is_none() && value.is_callable() { Err(Ending::ReturnedFunction) } else { Ok(result) }
    })
}

/// Runs jobs and calls until none is left. Returns what the program's promise resolved to.
fn settle(promise: &JsPromise, context: &mut Context) -> Result<JsValue, Ending> {
    run_all(context).map_err(Ending::Threw)?;
    match promise.state() {
        PromiseState::Pending => Err(Ending::NeverSettled),
        PromiseState::Rejected(error) => Err(Ending::Threw(JsError::from_opaque(error))),
        PromiseState::Fulfilled(value) => {
            let state = RunState::of(context).map_err(Ending::Threw)?;
            match state
                .unhandled(&JsObject::from(promise.clone()))
                .map(|promise| JsPromise::from(promise).state())
            {
                Some(PromiseState::Rejected(error)) => Err(Ending::Unhandled(JsError::from_opaque(error))),
                _ => Ok(value),
            }
        }
    }
}

fn run_all(context: &mut Context) -> JsResult<()> {
    loop {
        context.run_jobs()?;
        if !make_calls(context)? {
            return Ok(());
        }
    }
}

/// Converts an error of the engine that no program caused.
fn engine_failure(error: &JsError) -> Failure {
    Failure::internal(format!("the JavaScript engine did not start: {error}"))
}

/// Adds what the program printed and did before it failed.
fn with_output(mut failure: Failure, console: Vec<String>, calls: usize) -> Failure {
    let mut details = match failure.details.take() {
        Some(Value::Object(details)) => details,
        _ => Object::new(),
    };
    if calls > 0 {
        details.insert("calls".to_owned(), calls.into());
    }
    if !console.is_empty() {
        details.insert("console".to_owned(), console.into());
    }
    if details.is_empty() { failure } else { failure.details(details) }
}
