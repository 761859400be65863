//! `check`: finds mistakes in a program without running it.

mod calls;
mod literal;

use boa_engine::{Context, interner::Interner, js_string};
use loggia_sdk::{failure::code, host::Peer, prelude::*};
use ranking::suggest;

use self::{
    calls::{FoundCall, find_calls},
    literal::Argument,
};
use crate::{place::Place, program::Program};

/// Mistakes that are reported.
const PROBLEMS: usize = 30;

/// Result of a check.
#[derive(Serialize, JsonSchema)]
pub struct Verdict {
    /// True if no mistake was found.
    valid: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<Problem>,
    /// Calls that the program names, each once.
    calls: Vec<String>,
    /// `run_read` if they all read, otherwise `run`.
    action: &'static str,
}

/// A mistake.
#[derive(Serialize, JsonSchema)]
pub struct Problem {
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<u32>,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl Problem {
    fn new(place: Option<Place>, message: impl Into<String>, hint: Option<String>) -> Self {
        let (line, column) = (place.map(|place| place.line), place.map(|place| place.column));
        Self { line, column, message: message.into(), hint }
    }
}

/// Checks a program: its syntax, the names of facades and actions, and arguments as far as they are literals.
pub fn check(code: &str) -> Result<Verdict> {
    let peers = host::facades()?;
    let mut interner = Interner::new();
    let program = match Program::parse(code, &mut interner) {
        Ok(program) => program,
        Err(error) => {
            let problems = vec![Problem::new(error.place, error.message, error.hint.map(str::to_owned))];
            return Ok(Verdict { valid: false, problems, calls: Vec::new(), action: "run" });
        }
    };
    let mut problems = Vec::new();
    let mut calls: Vec<String> = Vec::new();
    let mut only_reads = true;
    for call in &find_calls(&program, &interner) {
        if program.names.declared.contains(&call.facade) && !call.is_by_name {
            continue;
        }
        match check_call(call, &peers) {
            Ok(Some(effect)) => only_reads &= effect == Effect::Read,
            Ok(None) => continue,
            Err(problem) => {
                only_reads = false;
                problems.push(problem);
            }
        }
        let name = format!("{}.{}", call.facade, call.action);
        if !calls.contains(&name) {
            calls.push(name);
        }
    }
    problems.truncate(PROBLEMS);
    problems.sort_by_key(|problem| (problem.line, problem.column));
    let action = if only_reads { "run_read" } else { "run" };
    Ok(Verdict { valid: problems.is_empty(), problems, calls, action })
}

/// Checks one call. Returns its effect, or `None` if it is no call of a facade.
fn check_call(call: &FoundCall, peers: &[Peer]) -> Result<Option<Effect>, Problem> {
    let problem = |message: String, hint: Option<String>| Problem::new(call.place, message, hint);
    let Some(peer) = peers.iter().find(|peer| peer.name == call.facade) else {
        if !call.is_by_name && is_global(&call.facade) {
            return Ok(None);
        }
        let names: Vec<&str> = peers.iter().map(|peer| peer.name.as_str()).collect();
        let message = format!("there is no facade or variable `{}`", call.facade);
        return Err(problem(message, Some(suggest(&call.facade, &names, "Facades"))));
    };
    let is_named =
        |action: &&host::PeerAction| action.name == call.action || action.aliases.contains(&call.action);
    let Some(action) = peer.actions.iter().find(is_named) else {
        let names: Vec<&str> = peer.actions.iter().map(|action| action.name.as_str()).collect();
        let message = format!("`{}` has no action `{}`", peer.name, call.action);
        return Err(problem(message, Some(suggest(&call.action, &names, "Actions"))));
    };
    match &call.argument {
        Argument::Object { members, is_whole: true } => {
            let mut request = host::Request::new(&peer.name, &action.name);
            request.params.clone_from(members);
            request.params.shift_remove("detail");
            match request.check() {
                Err(failure) if !exceeds_effect(&failure) => {
                    let hint = failure.hint.clone().or_else(|| failure.expected.clone());
                    return Err(problem(
                        format!("`{}.{}`: {}", peer.name, action.name, failure.message),
                        hint,
                    ));
                }
                _ => {}
            }
        }
        Argument::Object { members, is_whole: false } => {
            if let Some((message, hint)) = check_names(peer, action, members, call.has_spread) {
                return Err(problem(message, Some(hint)));
            }
        }
        Argument::Other => {
            let message = format!("`{}.{}` takes one object of parameters", peer.name, action.name);
            return Err(problem(message, None));
        }
        Argument::Unknown => {}
    }
    Ok(Some(action.effect))
}

/// Checks the names of parameters whose values are not all known.
fn check_names(
    peer: &Peer,
    action: &host::PeerAction,
    members: &Object,
    has_spread: bool,
) -> Option<(String, String)> {
    let schema = host::lookup(&peer.name, &action.name).ok()?;
    let properties = schema.params["properties"].as_object()?;
    let name = format!("{}.{}", peer.name, action.name);
    let hint = schema.signature.clone().unwrap_or_default();
    if schema.params["additionalProperties"] == Value::Bool(false) {
        let known: Vec<&str> = properties.keys().map(String::as_str).collect();
        let is_unknown = |member: &&String| *member != "detail" && !properties.contains_key(*member);
        if let Some(unknown) = members.keys().find(is_unknown) {
            let near = suggest(unknown, &known, "Parameters");
            return Some((format!("`{name}`: `{unknown}` is not a parameter"), near));
        }
    }
    let required = schema.params["required"].as_array()?;
    let mut missing = required.iter().filter_map(Value::as_str).filter(|name| !members.contains_key(*name));
    let missing = missing.next().filter(|_| !has_spread)?;
    Some((format!("`{name}`: `{missing}` is required"), hint))
}

/// Tests whether a call is refused only because `check` itself reads.
fn exceeds_effect(failure: &Failure) -> bool {
    failure.code == code::DENIED
        && failure.details.as_ref().is_some_and(|details| details["effect"].is_string())
}

/// Tests whether the language has this variable.
fn is_global(name: &str) -> bool {
    if matches!(name, "console" | "input" | "call" | "CallError") {
        return true;
    }
    let mut context = Context::default();
    context.global_object().has_property(js_string!(name), &mut context).unwrap_or_default()
}
