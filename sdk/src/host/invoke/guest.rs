//! Calls to other facades, by the host.

use super::{Peer, Request, Schema};
use crate::{
    Effect, Reply, Result, Value,
    abi::convert::{from_effect, from_failure, from_reply, millis, read, to_detail, write},
    bindings::loggia::plugin::{
        host,
        types::{self, Description, Failure},
    },
    host::PeerAction,
};

pub(super) fn facades() -> Result<Vec<Peer>> {
    let peer = |facade: Description| {
        let mut peer = Peer::new(facade.name, facade.title, facade.summary);
        for types::Action { name, summary, effect, aliases, .. } in facade.actions {
            peer.actions.push(PeerAction { name, summary, effect: from_effect(effect), aliases });
        }
        peer
    };
    match host::facades() {
        Ok(facades) => Ok(facades.into_iter().map(peer).collect()),
        Err(failure) => Err(from_failure(failure)),
    }
}

pub(super) fn lookup(facade: &str, action: &str) -> Result<Schema> {
    let schema = host::lookup(facade, action).map_err(from_peer_failure)?;
    let mut own = Schema::new(read(&schema.params));
    own.data = schema.data.as_deref().map(read);
    own.examples = schema.examples.iter().map(|example| read(example)).collect();
    own.signature = extra(&schema.extras, "signature").and_then(text);
    own.effect = match extra(&schema.extras, "effect").as_ref().and_then(Value::as_str) {
        Some("read") => Some(Effect::Read),
        Some("write") => Some(Effect::Write),
        Some("destructive") => Some(Effect::Destructive),
        _ => None,
    };
    own.confirm = extra(&schema.extras, "confirm") == Some(Value::Bool(true));
    Ok(own)
}

pub(super) fn check(request: &Request) -> Result<()> {
    host::check(&to_request(request.clone())).map_err(from_peer_failure)
}

pub(super) fn invoke(requests: Vec<Request>) -> Vec<Result<Reply<Value>>> {
    let requests: Vec<_> = requests.into_iter().map(to_request).collect();
    let answers = host::invoke(&requests);
    answers.into_iter().map(|answer| answer.map(from_reply).map_err(from_peer_failure)).collect()
}

fn to_request(request: Request) -> host::Request {
    host::Request {
        facade: request.facade,
        action: request.action,
        params: write(&Value::Object(request.params)),
        detail: to_detail(request.detail),
        timeout_ms: request.timeout.map(millis),
        idempotency_key: request.idempotency_key,
    }
}

/// Converts the failure of a call to another facade, with the gate's additions.
fn from_peer_failure(failure: Failure) -> crate::Failure {
    let expected = extra(&failure.extras, "expected").and_then(text);
    let example = extra(&failure.extras, "example");
    let mut own = from_failure(failure);
    (own.expected, own.example) = (expected, example);
    own
}

/// Finds one of the open-ended fields of a record.
fn extra(extras: &types::Extras, name: &str) -> Option<Value> {
    extras.iter().find(|(extra, _)| extra == name).map(|(_, json)| read(json))
}

fn text(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        _ => None,
    }
}
