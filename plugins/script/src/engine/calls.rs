//! Calls of programs to facades. They are collected until no job is left, and then made at once.

use boa_engine::{
    Context, JsArgs, JsError, JsObject, JsResult, JsString, JsValue, NativeFunction,
    error::EngineError,
    js_string,
    object::{
        FunctionObjectBuilder, IntegrityLevel,
        builtins::{JsFunction, JsPromise},
    },
    property::{Attribute, PropertyDescriptor},
};
use loggia_sdk::{
    failure::code,
    host::{Peer, Request},
    prelude::*,
    serde_json::{self, Map},
};
use ranking::suggest;

use super::{
    data::{from_json, to_json},
    errors::{range_error, type_error},
    state::{PendingCall, RunState, ThrownFailure},
    trace::{place_of, trace_here},
};
use crate::{config::Limits, place::Place};

/// Bytes of one call's arguments. The host has a limit of its own.
const ARGUMENTS: usize = 1 << 20;

/// Refused calls whose places are remembered.
const REFUSALS: usize = 100;

/// Creates the function that calls an action: `f(args)` resolves to the data, `f.full(args)` to
/// `{data, message, page, next}`.
pub fn action_function(facade: &str, action: &str, context: &mut Context) -> JsResult<JsFunction> {
    let native = |is_full: bool| {
        NativeFunction::from_copy_closure_with_captures(
            move |_, args, (facade, action), context| {
                call(&facade.to_std_string_lossy(), &action.to_std_string_lossy(), args, is_full, context)
            },
            (JsString::from(facade), JsString::from(action)),
        )
    };
    build(action, 1, native, context)
}

/// Creates the function `call`, for facades and actions whose names are no identifiers.
pub fn define_call(context: &mut Context) -> JsResult<()> {
    let native = |is_full: bool| {
        NativeFunction::from_copy_closure(move |_, args, context| {
            let facade = text(args.get_or_undefined(0), "facade")?;
            let action = text(args.get_or_undefined(1), "action")?;
            call(&facade, &action, args.get(2..).unwrap_or_default(), is_full, context)
        })
    };
    let function = build("call", 3, native, context)?;
    context.register_global_property(js_string!("call"), function, Attribute::empty())
}

/// Makes a frozen function with its variant `full`.
fn build(
    name: &str,
    length: usize,
    native: impl Fn(bool) -> NativeFunction,
    context: &mut Context,
) -> JsResult<JsFunction> {
    let made = |name: &str, is_full| {
        FunctionObjectBuilder::new(context.realm(), native(is_full))
            .name(JsString::from(name))
            .length(length)
            .build()
    };
    let (function, full) = (made(name, false), made("full", true));
    full.set_integrity_level(IntegrityLevel::Frozen, context)?;
    let full = PropertyDescriptor::builder().value(full).enumerable(false);
    function.define_property_or_throw(js_string!("full"), full, context)?;
    function.set_integrity_level(IntegrityLevel::Frozen, context)?;
    Ok(function)
}

fn text(value: &JsValue, what: &str) -> JsResult<String> {
    let text = value.as_string().map(|text| text.to_std_string_lossy());
    text.ok_or_else(|| type_error(format!("call(facade, action, parameters): the {what} is a string")))
}

/// Begins a call: returns its promise, which a failure rejects.
fn call(
    facade: &str,
    action: &str,
    args: &[JsValue],
    is_full: bool,
    context: &mut Context,
) -> JsResult<JsValue> {
    let (promise, resolvers) = JsPromise::new_pending(context);
    match request(facade, action, args, context) {
        Ok((request, bytes)) => {
            let name = format!("{facade}.{action}");
            let trace = trace_here(context);
            let state = RunState::of(context)?;
            state.latest.borrow_mut().clone_from(&trace);
            state.queue(PendingCall { name, request, bytes, is_full, trace, resolvers });
        }
        Err(error) => {
            let error = error.into_opaque(context)?;
            if let (Some(object), Some(trace)) = (error.as_object(), trace_here(context)) {
                let state = RunState::of(context)?;
                let mut refusals = state.refusals.borrow_mut();
                if refusals.len() < REFUSALS {
                    refusals.push((object, trace));
                }
            }
            resolvers.reject.call(&JsValue::undefined(), &[error], context)?;
        }
    }
    Ok(promise.into())
}

/// Converts arguments to a request, and counts it.
fn request(
    facade: &str,
    action: &str,
    args: &[JsValue],
    context: &mut Context,
) -> JsResult<(Request, usize)> {
    let params = args.get_or_undefined(0);
    let is_one = args.len() <= 1 && (params.is_undefined() || params.is_object());
    let params = match to_json(params, "parameters", ARGUMENTS, context)? {
        Some(Value::Object(params)) if is_one => params,
        None if is_one && params.is_undefined() => Map::new(),
        _ => {
            return Err(type_error(format!(
                "an action takes one object of parameters: {facade}.{action}({{…}})"
            )));
        }
    };
    let state = RunState::of(context)?;
    let Some(number) = state.count_call() else {
        if state.ignores_refusals() {
            return Err(EngineError::NoInstructionsRemain.into());
        }
        return Err(range_error(too_many_calls(state.limits)));
    };
    let mut request = Request::new(facade, action);
    let bytes = serde_json::to_string(&params).map_or(0, |text| text.len());
    request.params = params;
    request.detail = take_detail(&mut request.params);
    request.idempotency_key = state.idempotency_key.as_ref().map(|key| format!("{key}/{number}"));
    Ok((request, bytes))
}

/// Message of a program that makes too many calls.
pub fn too_many_calls(limits: Limits) -> String {
    format!("a program may make {} calls (`calls` in the plugin's configuration)", limits.calls)
}

/// Takes the level of detail out of the parameters, where it is in a direct call.
fn take_detail(params: &mut Object) -> Detail {
    let level = match params.get("detail").and_then(Value::as_str) {
        Some("minimal") => Detail::Minimal,
        Some("standard") => Detail::Standard,
        Some("full") => Detail::Full,
        _ => return Detail::default(),
    };
    params.shift_remove("detail");
    level
}

/// Makes the calls that wait, as many as the host takes at once. Returns false if there were none.
pub fn make_calls(context: &mut Context) -> JsResult<bool> {
    let state = RunState::of(context)?;
    let batch = state.take_batch();
    if batch.is_empty() {
        return Ok(false);
    }
    let requests = batch.iter().map(|call| call.request.clone()).collect();
    let answers = host::invoke(requests);
    for (call, answer) in batch.into_iter().zip(answers) {
        match answer {
            Ok(reply) => {
                let value = if call.is_full {
                    full_reply(&reply, context)?
                } else {
                    from_json(&reply.data, context)?
                };
                call.resolvers.resolve.call(&JsValue::undefined(), &[value], context)?;
            }
            Err(failure) => {
                let failure = explain(failure, &call.request, context)?;
                let place = call.trace.and_then(|trace| place_of(&trace, context));
                let error = call_error(&call.name, &failure, place, context)?;
                call.resolvers.reject.call(&JsValue::undefined(), &[error.clone().into()], context)?;
                let thrown = ThrownFailure { error, name: call.name, failure, place };
                state.thrown.borrow_mut().push(thrown);
            }
        }
    }
    Ok(true)
}

/// Adds the nearest name to the failure of a call to an unknown action.
fn explain(mut failure: Failure, request: &Request, context: &Context) -> JsResult<Failure> {
    // The list of facades may be long. Most failures are the called action's own.
    let may_be_unknown = match &*failure.code {
        code::DENIED => true,
        code::NOT_FOUND => failure.message.contains("there is no facade"),
        code::INVALID_PARAMS => failure.message.contains("nknown action"),
        _ => false,
    };
    let state = RunState::of(context)?;
    let Some(Ok(peers)) = may_be_unknown.then(|| state.peers().as_ref()) else { return Ok(failure) };
    match peers.iter().find(|peer| peer.name == request.facade) {
        // A facade outside of the caller's rights is like one that does not exist.
        None if failure.code == code::NOT_FOUND || is_hidden(&failure) => {
            let names: Vec<&str> = peers.iter().map(|peer| peer.name.as_str()).collect();
            let message = format!("not found: there is no facade `{}` to call", request.facade);
            failure = Failure::not_found(message).hint(suggest(&request.facade, &names, "Facades"));
        }
        Some(peer)
            if !has_action(peer, &request.action)
                && !failure.details.as_ref().is_some_and(|details| details["scope"].is_string()) =>
        {
            let names: Vec<&str> = peer.actions.iter().map(|action| action.name.as_str()).collect();
            let message = format!("not found: `{}` has no action `{}`", peer.name, request.action);
            failure = Failure::not_found(message).hint(suggest(&request.action, &names, "Actions"));
        }
        _ => {}
    }
    Ok(failure)
}

/// Tests whether a call was refused because the caller's rights do not reach its facade.
fn is_hidden(failure: &Failure) -> bool {
    failure.details.as_ref().and_then(|details| details.get("scope")).is_some_and(Value::is_null)
}

/// Tests whether a facade has an action of this name or alias.
pub fn has_action(peer: &Peer, name: &str) -> bool {
    peer.actions.iter().any(|action| action.name == name || action.aliases.iter().any(|alias| alias == name))
}

fn full_reply(reply: &Reply<Value>, context: &mut Context) -> JsResult<JsValue> {
    let mut full = Object::new();
    full.insert("data".to_owned(), reply.data.clone());
    if let Some(message) = &reply.message {
        full.insert("message".to_owned(), message.as_str().into());
    }
    if let Some(page) = &reply.page {
        full.insert(
            "page".to_owned(),
            json!({"count": page.count, "total": page.total, "cursor": page.cursor}),
        );
    }
    if let Some(next) = &reply.next {
        full.insert("next".to_owned(), next_call(next));
    }
    from_json(&Value::Object(full), context)
}

fn next_call(next: &Next) -> Value {
    json!({"facade": next.facade, "action": next.action, "params": next.params, "reason": next.reason})
}

/// Creates the error of a failed call: a `CallError` with the fields of the failure.
fn call_error(
    name: &str,
    failure: &Failure,
    place: Option<Place>,
    context: &mut Context,
) -> JsResult<JsObject> {
    let constructor = RunState::of(context)?.builtins()?.call_error.clone();
    let message = JsString::from(failure.message.as_str());
    let error = constructor.construct(&[message.into()], None, context)?;
    let mut set = |key: &str, value: Value| -> Result<(), JsError> {
        let value = from_json(&value, context)?;
        error.create_data_property_or_throw(JsString::from(key), value, context).map(|_| ())
    };
    set("code", failure.code.as_str().into())?;
    set("call", name.into())?;
    if let Some(hint) = &failure.hint {
        set("hint", hint.as_str().into())?;
    }
    if let Some(details) = &failure.details {
        set("details", details.clone())?;
    }
    if let Some(next) = &failure.next {
        set("next", next_call(next))?;
    }
    if let Some(expected) = &failure.expected {
        set("expected", expected.as_str().into())?;
    }
    if let Some(wait) = failure.retry_after {
        set("retryAfterMs", u64::try_from(wait.as_millis()).unwrap_or(u64::MAX).into())?;
    }
    if let Some(place) = place {
        set("line", place.line.into())?;
    }
    Ok(error)
}
