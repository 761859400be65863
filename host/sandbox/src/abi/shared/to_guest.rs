//! Conversions of what the host passes to a guest.

use loggia_facade::{
    Answer, Block, Content, Detail, Effect, Failure, Next, Object, Page, PeerAction, Reply, json::object_text,
};
use loggia_state::{StateEntry, StatePage};
use serde_json::Value;

use super::bindings::{host, state, types};
use crate::contract::{PluginCall, failure_extra};

pub(super) fn call(call: PluginCall<'_>) -> types::Call {
    let PluginCall { call, time_left, caller } = call;
    types::Call {
        id: call.id.0.clone(),
        action: call.action.clone(),
        params: call.params_text.clone().unwrap_or_else(|| object_text(&call.params)),
        detail: match call.detail {
            Detail::Minimal => types::Detail::Minimal,
            Detail::Standard => types::Detail::Standard,
            Detail::Full => types::Detail::Full,
        },
        time_left_ms: u64::try_from(time_left.as_millis()).unwrap_or(u64::MAX),
        caller,
        idempotency_key: call.idempotency_key.clone(),
        extras: Vec::new(),
    }
}

pub(super) fn failure(failure: Failure) -> types::Failure {
    types::Failure {
        code: failure.code,
        message: failure.message,
        hint: failure.hint,
        details: failure.details.map(|details| details.to_string()),
        retry_after_ms: failure.retry_after_ms,
        next: failure.next.map(next),
        extras: failure_extras(failure.expected, failure.example),
    }
}

/// Converts the gate's additions to a failure, for which the record has no fields.
fn failure_extras(expected: Option<String>, example: Option<Value>) -> types::Extras {
    let extras = [(failure_extra::EXPECTED, expected.map(Value::String)), (failure_extra::EXAMPLE, example)];
    extras.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.to_string()))).collect()
}

pub(super) fn reply(reply: Reply) -> types::Reply {
    types::Reply {
        data: reply.data.into_text(),
        message: reply.message,
        page: reply.page.map(page),
        next: reply.next.map(next),
        content: reply.content.into_iter().map(content).collect(),
        extras: Vec::new(),
    }
}

fn page(page: Page) -> types::Page {
    types::Page { count: page.count, total: page.total, cursor: page.cursor }
}

fn next(next: Next) -> types::Next {
    let params = (!next.params.is_empty()).then(|| object_text(&next.params));
    types::Next { facade: next.facade, action: next.action, params, reason: next.reason }
}

fn content(content: Content) -> types::Content {
    let block = match content.block {
        Block::Text(text) => types::Block::Text(text),
        Block::Image { data, mime_type } => types::Block::Image(types::Media { data, mime_type }),
        Block::Audio { data, mime_type } => types::Block::Audio(types::Media { data, mime_type }),
        Block::Embedded { uri, mime_type, text, blob } => {
            types::Block::Embedded(types::EmbeddedResource { uri, mime_type, text, blob })
        }
        Block::Link { uri, name, description, mime_type } => {
            types::Block::Link(types::ResourceLink { uri, name, description, mime_type })
        }
    };
    let extras = content.extras.into_iter().map(|(name, value)| (name, value.to_string())).collect();
    types::Content { block, extras }
}

pub(super) fn effect(effect: Effect) -> types::Effect {
    match effect {
        Effect::Read => types::Effect::Read,
        Effect::Write => types::Effect::Write,
        Effect::Destructive => types::Effect::Destructive,
    }
}

pub(super) fn schema(found: &PeerAction) -> types::ActionSchema {
    let json = |object: &Object| Value::Object(object.clone()).to_string();
    let PeerAction { action, signature, confirm, is_durable: _ } = found;
    let extras = [
        ("signature", Value::from(signature.as_str())),
        ("effect", action.effect.as_str().into()),
        ("confirm", Value::from(*confirm)),
    ];
    types::ActionSchema {
        params: json(&action.params),
        data: action.data.as_ref().map(|data| data.to_string()),
        examples: action.examples.iter().map(json).collect(),
        extras: extras.map(|(name, value)| (name.to_owned(), value.to_string())).into(),
    }
}

pub(super) fn answer(answer: Answer) -> host::Answer {
    match answer {
        Answer::Accepted(form) => host::Answer::Accepted(form.to_string()),
        Answer::Declined => host::Answer::Declined,
        Answer::Cancelled => host::Answer::Cancelled,
    }
}

pub(super) fn entry(entry: StateEntry) -> state::Entry {
    state::Entry { key: entry.key, value: entry.value, version: entry.version }
}

pub(super) fn entries(page: StatePage) -> state::Entries {
    state::Entries {
        items: page.items.into_iter().map(entry).collect(),
        more: page.more,
        revision: page.revision,
    }
}
