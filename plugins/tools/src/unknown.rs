//! Failures that suggest the intended name.

use loggia_sdk::{failure::code, host::Peer, prelude::*};
use ranking::suggest;

use crate::{
    call_name::{CallName, caller_of},
    forward::own_call,
    list::find_facade,
};

/// Name of this facade, unless its policy changes it.
const OWN: &str = "tools";

/// Explains the failure of a call: suggests names for an unknown one, and passes other failures on.
pub fn explain(failure: Failure, call: &CallName) -> Failure {
    if matches!(&*failure.code, code::NOT_FOUND | code::DENIED | code::INVALID_PARAMS | code::UNAVAILABLE)
        && let Ok(peers) = host::facades()
    {
        match find_facade(&peers, &call.facade) {
            // A facade that exists but is not served has its own failure.
            None if !is_out_of_service(call, &failure) => return unknown_facade(&call.facade, &peers),
            Some(peer) if !call.action.is_empty() && is_unknown_action(&failure, call, peer) => {
                return unknown_action(call, peer);
            }
            _ => {}
        }
    }
    address_failure(failure, call)
}

/// Returns true if the facade exists but is not served now. `lookup` fails in the same way for unknown names, `check` does not.
fn is_out_of_service(call: &CallName, failure: &Failure) -> bool {
    let checked = || call.request(Object::new()).check().err();
    failure.code == code::UNAVAILABLE && checked().is_some_and(|failure| failure.code == code::UNAVAILABLE)
}

/// Returns true if the facade has no such action for this caller, and no scope would help.
fn is_unknown_action(failure: &Failure, call: &CallName, peer: &Peer) -> bool {
    let is_named = |name: &String| name.eq_ignore_ascii_case(&call.action);
    let is_known =
        peer.actions.iter().any(|action| is_named(&action.name) || action.aliases.iter().any(is_named));
    let needs_scope = failure.details.as_ref().is_some_and(|details| details["scope"].is_string());
    !is_known && !needs_scope && host::lookup(&call.facade, &call.action).is_err()
}

/// Creates the failure for a facade that does not exist, or is outside the rights of the caller.
pub fn unknown_facade(name: &str, peers: &[Peer]) -> Failure {
    let failure = Failure::not_found(format!("not found: there is no facade `{}` to call", shorten(name)));
    if name.eq_ignore_ascii_case(OWN) {
        return failure.hint("A call cannot lead back here: call this tool's actions directly.");
    }
    if peers.is_empty() {
        return failure.hint("No facade can be called: the operator grants them by `grants.invoke`.");
    }
    let names: Vec<&str> = peers.iter().map(|peer| peer.name.as_str()).collect();
    failure.hint(suggest(name, &names, "Facades"))
}

fn unknown_action(call: &CallName, peer: &Peer) -> Failure {
    let message = format!("not found: `{}` has no action `{}`", peer.name, shorten(&call.action));
    let names: Vec<&str> = peer.actions.iter().map(|action| action.name.as_str()).collect();
    Failure::not_found(message).hint(suggest(&call.action, &names, "Actions"))
}

/// Rewrites the suggested calls of a failure as calls through this plugin.
fn address_failure(mut failure: Failure, call: &CallName) -> Failure {
    if let Some(next) = failure.next.take() {
        failure.next = Some(own_call(next, call));
    }
    if let Some(expected) = failure.expected.take() {
        failure.expected = Some(format!("{}.{expected}", call.facade));
    }
    if let Some(Value::Object(mut arguments)) = failure.example.take() {
        let action = arguments.get("action").and_then(Value::as_str).unwrap_or(&call.action);
        let name = CallName::new(&call.facade, action);
        // `remove` would change the order of the others.
        arguments.retain(|key, _| key != "action");
        let effect = host::lookup(&name.facade, &name.action).ok().and_then(|found| found.effect);
        failure.example =
            Some(json!({"action": caller_of(effect), "call": name.to_string(), "arguments": arguments}));
    }
    failure
}

fn shorten(name: &str) -> String {
    name.chars().take(80).collect()
}
