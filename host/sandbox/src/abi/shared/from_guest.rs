//! Conversions of what a guest passes to the host: fields are moved, nothing is parsed.

use std::time::Duration;

use loggia_facade::{Block, Detail, Effect, LogLevel, Page, Want};
use loggia_state::{ChangeCondition, ChangeOperation, StateChange};

use super::bindings::{host, state, types};
use crate::{
    contract::{RawContent, RawFailure, RawNext, RawReply, RawRequest, RawSchema},
    space::SpaceChoice,
};

pub(super) fn effect(effect: types::Effect) -> Effect {
    match effect {
        types::Effect::Read => Effect::Read,
        types::Effect::Write => Effect::Write,
        types::Effect::Destructive => Effect::Destructive,
    }
}

pub(super) fn want(want: types::Want) -> Want {
    Want { grant: want.grant, reason: want.reason, needed: want.needed }
}

pub(super) fn schema(schema: types::ActionSchema) -> RawSchema {
    let types::ActionSchema { params, data, examples, extras } = schema;
    RawSchema { params, data, examples, extras }
}

pub(super) fn reply(reply: types::Reply) -> RawReply {
    RawReply {
        data: reply.data,
        message: reply.message,
        page: reply.page.map(|page| Page { count: page.count, total: page.total, cursor: page.cursor }),
        next: reply.next.map(next),
        content: reply.content.into_iter().map(content).collect(),
        extras: reply.extras,
    }
}

pub(super) fn failure(failure: types::Failure) -> RawFailure {
    RawFailure {
        code: failure.code,
        message: failure.message,
        hint: failure.hint,
        details: failure.details,
        retry_after_ms: failure.retry_after_ms,
        next: failure.next.map(next),
        extras: failure.extras,
    }
}

fn next(next: types::Next) -> RawNext {
    RawNext { facade: next.facade, action: next.action, params: next.params, reason: next.reason }
}

fn content(content: types::Content) -> RawContent {
    let block = match content.block {
        types::Block::Text(text) => Block::Text(text),
        types::Block::Image(media) => Block::Image { data: media.data, mime_type: media.mime_type },
        types::Block::Audio(media) => Block::Audio { data: media.data, mime_type: media.mime_type },
        types::Block::Embedded(it) => {
            Block::Embedded { uri: it.uri, mime_type: it.mime_type, text: it.text, blob: it.blob }
        }
        types::Block::Link(it) => {
            Block::Link { uri: it.uri, name: it.name, description: it.description, mime_type: it.mime_type }
        }
    };
    RawContent { block, extras: content.extras }
}

pub(super) fn request(request: host::Request) -> RawRequest {
    RawRequest {
        facade: request.facade,
        action: request.action,
        params: request.params,
        detail: match request.detail {
            types::Detail::Minimal => Detail::Minimal,
            types::Detail::Standard => Detail::Standard,
            types::Detail::Full => Detail::Full,
        },
        timeout: request.timeout_ms.map(Duration::from_millis),
        idempotency_key: request.idempotency_key,
    }
}

pub(super) fn level(level: host::Level) -> LogLevel {
    match level {
        host::Level::Trace => LogLevel::Trace,
        host::Level::Debug => LogLevel::Debug,
        host::Level::Info => LogLevel::Info,
        host::Level::Warn => LogLevel::Warn,
        host::Level::Error => LogLevel::Error,
    }
}

pub(super) fn space(space: state::Space) -> SpaceChoice {
    match space {
        state::Space::Shared => SpaceChoice::Shared,
        state::Space::Caller => SpaceChoice::Caller,
    }
}

pub(super) fn change(change: state::Change) -> StateChange {
    StateChange {
        key: change.key,
        expect: match change.expect {
            state::Expect::Any => ChangeCondition::Any,
            state::Expect::Absent => ChangeCondition::Absent,
            state::Expect::Version(version) => ChangeCondition::Version(version),
        },
        operation: match change.operation {
            state::Operation::Check => ChangeOperation::Check,
            state::Operation::Put(value) => ChangeOperation::Put(value),
            state::Operation::PutUntil((value, until)) => ChangeOperation::PutUntil(value, until),
            state::Operation::Delete => ChangeOperation::Delete,
        },
    }
}
