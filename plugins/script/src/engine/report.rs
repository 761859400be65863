//! Failures of programs: what went wrong, on which line, in which call.

use boa_engine::{Context, JsError, JsObject, JsValue, error::EngineError, js_string};
use loggia_sdk::prelude::*;
use ranking::suggest;

use super::{
    calls::too_many_calls,
    data::to_json,
    state::RunState,
    trace::{innermost_place, place_of},
};
use crate::{
    place::{Place, place},
    program::Program,
};

/// Code of programs that fail by themselves. Those whose call failed have the call's code.
const FAILED: &str = "failed";
/// Characters of an error's text.
const TEXT: usize = 1000;

/// How a program ended without a result.
pub enum Ending {
    /// It threw this, or its value could not be converted.
    Threw(JsError),
    /// It ended, but a promise was rejected and nothing handled that.
    Unhandled(JsError),
    /// Its promise stays pending.
    NeverSettled,
    /// It returned a function.
    ReturnedFunction,
}

/// Converts the end of a program to a failure.
pub fn report(program: &Program<'_>, ending: Ending, state: &RunState, context: &mut Context) -> Failure {
    match ending {
        Ending::Threw(error) => thrown(program, &error, "", state, context),
        Ending::Unhandled(error) => thrown(program, &error, "a promise was rejected and not awaited: ", state, context),
        Ending::NeverSettled => Failure::new(FAILED, "the program waits for a promise that nothing settles, or its functions call each other too deep")
            .hint("Calls of facades settle by themselves; a promise made by `new Promise` needs its `resolve` called. There are no timers."),
        Ending::ReturnedFunction => Failure::new(FAILED, "the program returned a function")
            .hint("`code` is the body of an async function: write its statements, without a function around them."),
    }
}

fn thrown(
    program: &Program<'_>,
    error: &JsError,
    prefix: &str,
    state: &RunState,
    context: &mut Context,
) -> Failure {
    let at = error_place(error, context);
    let is_limit = error.as_engine().is_some();
    if is_limit {
        return exceeded(program, error, at, state, context);
    }
    let value = error.clone().into_opaque(context).unwrap_or_default();
    if let Some(object) = value.as_object() {
        let thrown = state.thrown.borrow();
        if let Some(thrown) = thrown.iter().find(|thrown| JsObject::equals(&thrown.error, &object)) {
            let at = thrown.place.or(at);
            return call_failed(program, &thrown.name, thrown.failure.clone(), prefix, at);
        }
    }
    let text = describe(&value, context);
    // The engine records no position for names.
    let at = match undefined_name(&text) {
        Some(name) => program.names.used.get(name).copied(),
        None => at,
    };
    let failure = Failure::new(FAILED, format!("{prefix}{text}{}", place(program.code, at)));
    let failure = match hint(&text, state) {
        Some(hint) => failure.hint(hint),
        None => failure,
    };
    match at {
        Some(at) => failure.details(at),
        None => failure,
    }
}

/// Extends the failure of a call that the program did not catch.
fn call_failed(
    program: &Program<'_>,
    name: &str,
    mut failure: Failure,
    prefix: &str,
    at: Option<Place>,
) -> Failure {
    let mut details = Object::new();
    details.insert("call".to_owned(), name.into());
    if let Some(at) = at {
        details.insert("line".to_owned(), at.line.into());
        details.insert("column".to_owned(), at.column.into());
    }
    if let Some(inner) = failure.details.take() {
        if inner["effect"].is_string() {
            failure
                .hint
                .get_or_insert_with(|| "`run_read` calls only actions that read: use `run`.".to_owned());
        }
        details.insert("details".to_owned(), inner);
    }
    failure.message = format!(
        "{prefix}`{name}` failed: {} (`{}`){}",
        failure.message,
        failure.code,
        place(program.code, at)
    );
    if let Some(expected) = failure.expected.take() {
        let (facade, _) = name.split_once('.').unwrap_or((name, ""));
        failure.expected = Some(format!("{facade}.{expected}"));
    }
    // An example would be one of the inner action, not of a program.
    failure.example = None;
    failure.details(details)
}

/// Limits end a program without a chance to catch it.
fn exceeded(
    program: &Program<'_>,
    error: &JsError,
    at: Option<Place>,
    state: &RunState,
    context: &mut Context,
) -> Failure {
    let at = place(program.code, at);
    match error.as_engine() {
        Some(EngineError::NoInstructionsRemain) if state.ignores_refusals() => {
            Failure::new(FAILED, format!("{}, and this one went on", too_many_calls(state.limits)))
        }
        Some(EngineError::NoInstructionsRemain) => {
            let steps = state.limits.steps;
            let latest = state.latest.take().and_then(|trace| place_of(&trace, context));
            let latest = latest.map(|at| format!(" after its latest call{}", place(program.code, Some(at))));
            Failure::timed_out(format!(
                "the program took more than {steps} steps{}",
                latest.unwrap_or_default()
            ))
            .hint("Is a loop endless? The operator can set `steps` in the plugin's configuration.")
        }
        Some(EngineError::RuntimeLimit(limit)) => {
            Failure::new(FAILED, format!("too much recursion: {limit}{at}"))
                .hint("Use a loop instead of recursion.")
        }
        // Where the engine does not expect its own limit of recursion, it calls that a panic.
        _ => Failure::new(
            FAILED,
            format!("the JavaScript engine stopped, most likely for too much recursion{at}"),
        ),
    }
}

/// Finds where an error was made.
fn error_place(error: &JsError, context: &mut Context) -> Option<Place> {
    if error.as_engine().is_some() {
        return innermost_place(&error.to_string());
    }
    let error = error.clone().into_opaque(context).ok()?.as_object()?;
    let state = RunState::of(context).ok()?;
    let refusals = state.refusals.borrow();
    let trace =
        refusals.iter().find(|(refusal, _)| JsObject::equals(refusal, &error)).map(|(_, trace)| trace);
    place_of(trace.unwrap_or(&error), context)
}

/// Renders a thrown value: `TypeError: x is not a function`.
fn describe(value: &JsValue, context: &mut Context) -> String {
    let text = match value.as_object() {
        Some(error) => {
            let mut member = |name| {
                let member = error.get(name, context).ok()?;
                member.as_string().map(|text| text.to_std_string_lossy())
            };
            match (member(js_string!("name")), member(js_string!("message"))) {
                (Some(name), Some(message)) if !message.is_empty() => format!("{name}: {message}"),
                (Some(name), _) => name,
                (None, Some(message)) => message,
                (None, None) => match to_json(value, "error", TEXT, context) {
                    Ok(Some(json)) => format!("the program threw {json}"),
                    _ => "the program threw an object that is no error".to_owned(),
                },
            }
        }
        None => format!("the program threw {}", value.display()),
    };
    text.chars().take(TEXT).collect()
}

/// Reads the name of `ReferenceError: memory is not defined`.
fn undefined_name(text: &str) -> Option<&str> {
    Some(text.strip_prefix("ReferenceError: ")?.split_once(" is not defined")?.0)
}

/// Explains names that other JavaScript hosts have, and those of facades that were mistyped.
fn hint(text: &str, state: &RunState) -> Option<String> {
    let name = undefined_name(text)?;
    let peers = state.peers().as_ref().ok()?;
    let names: Vec<&str> = peers.iter().map(|peer| peer.name.as_str()).collect();
    Some(match name {
        "fetch" | "XMLHttpRequest" | "require" | "process" | "Deno" | "Bun" | "window" | "document" => {
            format!("A program has the language and the facades only. {}", suggest(name, &names, "Facades"))
        }
        _ => suggest(name, &names, "Facades"),
    })
}
