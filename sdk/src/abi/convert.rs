//! The SDK's types, to and from those of `wit/loggia.wit`.

use std::time::Duration;

use crate::{
    Block, Content, Detail, Effect, Next, Page, Value,
    bindings::loggia::plugin::types::{self, Failure, Reply},
    json_text,
};

pub(crate) fn to_reply(reply: crate::Reply<String>) -> Reply {
    Reply {
        data: reply.data,
        message: reply.message,
        page: reply.page.map(|Page { count, total, cursor }| types::Page { count, total, cursor }),
        next: reply.next.map(to_next),
        content: reply.content.into_iter().map(to_content).collect(),
        extras: Vec::new(),
    }
}

pub(crate) fn from_reply(reply: Reply) -> crate::Reply<Value> {
    let mut own = crate::Reply::new(read(&reply.data));
    own.message = reply.message;
    own.page = reply.page.map(|types::Page { count, total, cursor }| Page { count, total, cursor });
    own.next = reply.next.map(from_next);
    own.content = reply.content.into_iter().map(from_content).collect();
    own
}

pub(crate) fn to_failure(failure: crate::Failure) -> Failure {
    let failure = failure.into_parts();
    // Iterators would enlarge every guest.
    let mut extras = Vec::new();
    if let Some(expected) = failure.expected {
        extras.push(("expected".to_owned(), write(&Value::String(expected))));
    }
    if let Some(example) = &failure.example {
        extras.push(("example".to_owned(), write(example)));
    }
    Failure {
        code: failure.code,
        message: failure.message,
        hint: failure.hint,
        details: failure.details.as_ref().map(write),
        retry_after_ms: failure.retry_after.map(millis),
        next: failure.next.map(to_next),
        extras,
    }
}

pub(crate) fn from_failure(failure: Failure) -> crate::Failure {
    let mut own = crate::Failure::new(failure.code, failure.message);
    own.hint = failure.hint;
    own.details = failure.details.as_deref().map(read);
    own.retry_after = failure.retry_after_ms.map(Duration::from_millis);
    own.next = failure.next.map(from_next);
    own
}

pub(crate) fn to_next(next: Next) -> types::Next {
    let params = Some(next.params).filter(|params| !params.is_empty());
    types::Next {
        facade: next.facade.unwrap_or_default(),
        action: next.action,
        params: params.map(|params| write(&Value::Object(params))),
        reason: next.reason,
    }
}

pub(crate) fn from_next(next: types::Next) -> Next {
    let mut own = Next::of(next.facade, next.action);
    if let Some(Value::Object(params)) = next.params.as_deref().map(read) {
        own.params = params;
    }
    own.reason = next.reason;
    own
}

pub(crate) fn to_content(content: Content) -> types::Content {
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
    let extras = content.extras.iter().map(|(name, value)| (name.clone(), write(value))).collect();
    types::Content { block, extras }
}

pub(crate) fn from_content(content: types::Content) -> Content {
    let block = match content.block {
        types::Block::Text(text) => Block::Text(text),
        types::Block::Image(types::Media { data, mime_type }) => Block::Image { data, mime_type },
        types::Block::Audio(types::Media { data, mime_type }) => Block::Audio { data, mime_type },
        types::Block::Embedded(types::EmbeddedResource { uri, mime_type, text, blob }) => {
            Block::Embedded { uri, mime_type, text, blob }
        }
        types::Block::Link(types::ResourceLink { uri, name, description, mime_type }) => {
            Block::Link { uri, name, description, mime_type }
        }
    };
    let extras = content.extras.iter().map(|(name, json)| (name.clone(), read(json))).collect();
    Content { block, extras }
}

pub(crate) fn to_effect(effect: Effect) -> types::Effect {
    match effect {
        Effect::Read => types::Effect::Read,
        Effect::Write => types::Effect::Write,
        Effect::Destructive => types::Effect::Destructive,
    }
}

pub(crate) fn from_effect(effect: types::Effect) -> Effect {
    match effect {
        types::Effect::Read => Effect::Read,
        types::Effect::Write => Effect::Write,
        types::Effect::Destructive => Effect::Destructive,
    }
}

pub(crate) fn to_detail(detail: Detail) -> types::Detail {
    match detail {
        Detail::Minimal => types::Detail::Minimal,
        Detail::Standard => types::Detail::Standard,
        Detail::Full => types::Detail::Full,
    }
}

pub(crate) fn from_detail(detail: types::Detail) -> Detail {
    match detail {
        types::Detail::Minimal => Detail::Minimal,
        types::Detail::Standard => Detail::Standard,
        types::Detail::Full => Detail::Full,
    }
}

/// JSON text. A [`Value`] can always be written; not by its `Display`, which would be a second serialiser in the guest.
pub(crate) fn write(value: &Value) -> String {
    json_text::to_string(value).unwrap_or_default()
}

/// The host sends JSON; if it did not, the text itself would be more useful than an error.
pub(crate) fn read(json: &str) -> Value {
    json_text::read_value(json).unwrap_or_else(|| json.into())
}

pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
