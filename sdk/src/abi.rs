//! The guest's side of the contract: the SDK's types to and from those of `wit/loggia.wit`.

mod guard;
mod state;

use std::time::Duration;

pub use self::guard::{GuardGuest, GuardedCall, Verdict, guard_after, guard_before};
pub(crate) use self::state::{now, state_commit, state_get, state_scan};
pub use crate::bindings::exports::loggia::plugin::facade::{
    ActionSchema, Call, Description, Failure, Guest, Reply,
};
use crate::{
    Answer, Block, Content, Detail, Effect, Facade, Level, Next, Object, Page, Value,
    bindings::loggia::plugin::{host, types},
    call::Facts,
    host::{Peer, PeerAction, Request, Schema},
    table::{self, Incoming},
};

#[allow(unsafe_code)]
mod exported {
    unsafe extern "C" {
        /// Defined by `export!` and `export_guard!` only.
        #[link_name = "no facade is exported: write loggia_sdk::export!(NAME); below the block with #[facade]"]
        pub fn exported();
    }
}

/// What `#[facade]` refers to, so that the linker finds that nothing is exported.
pub const EXPORTED: unsafe extern "C" fn() = exported::exported;

/// Published description of a facade.
pub fn describe<F: Facade>(_: &F) -> Description {
    let about = &F::ABOUT;
    let action = |action: &table::Action<F>| types::Action {
        name: action.name.into(),
        summary: action.summary.into(),
        effect: to_effect(action.effect),
        idempotent: action.idempotent,
        open_world: action.open_world,
        long_running: action.long_running,
        details: action.has_details(),
        aliases: action.aliases.iter().map(|alias| (*alias).into()).collect(),
        needs: action.needs.iter().map(|need| (*need).into()).collect(),
        as_resource: action.resource.as_ref().map(resource),
        view: action.view.map(Into::into),
        extras: Vec::new(),
    };
    let view = |view: &table::View| types::View {
        name: view.name.into(),
        html: view.html.into(),
        extras: Vec::new(),
    };
    let want = |want: &table::Want| types::Want {
        grant: want.grant.into(),
        reason: want.reason.into(),
        needed: want.needed,
    };
    Description {
        name: about.name.into(),
        title: about.title.into(),
        version: about.version.into(),
        summary: about.summary.into(),
        instructions: about.instructions.map(Into::into),
        actions: F::ACTIONS.iter().map(action).collect(),
        default_action: about.default_action.map(Into::into),
        views: about.views.iter().map(view).collect(),
        wants: about.wants.iter().map(want).collect(),
        extras: Vec::new(),
    }
}

fn resource(resource: &table::Resource) -> types::ActionResource {
    types::ActionResource {
        uri: resource.uri.into(),
        mime_type: resource.mime_type.map(Into::into),
        items: resource.items.map(Into::into),
        state: resource.state.map(Into::into),
        extras: Vec::new(),
    }
}

/// The schemas of one action.
pub fn schema<F: Facade>(_: &F, action: &str) -> Result<ActionSchema, Failure> {
    let action = table::find::<F>(action).map_err(to_failure)?;
    Ok(ActionSchema {
        params: write(&Value::Object(action.params())),
        data: (action.data)().as_ref().map(write),
        examples: action.examples.iter().map(|example| (*example).into()).collect(),
        extras: Vec::new(),
    })
}

/// Answers one call.
pub fn dispatch<F: Facade>(facade: &F, call: Call) -> Result<Reply, Failure> {
    let params = match serde_json::from_str(&call.params) {
        Ok(Value::Object(params)) => params,
        _ => return Err(to_failure(crate::Failure::invalid_params("`params` is not a JSON object"))),
    };
    let facts = Facts {
        id: call.id,
        action: call.action,
        detail: from_detail(call.detail),
        time_left: Duration::from_millis(call.time_left_ms),
        caller: call.caller,
        idempotency_key: call.idempotency_key,
    };
    match table::dispatch(facade, Incoming { facts, params }) {
        Ok(reply) => Ok(to_reply(reply)),
        Err(failure) => Err(to_failure(failure)),
    }
}

pub(crate) fn log(level: Level, message: &str) {
    let level = match level {
        Level::Trace => host::Level::Trace,
        Level::Debug => host::Level::Debug,
        Level::Info => host::Level::Info,
        Level::Warn => host::Level::Warn,
        Level::Error => host::Level::Error,
    };
    host::log(level, message);
}

pub(crate) fn progress(done: f64, total: Option<f64>, message: Option<&str>) {
    host::progress(done, total, message);
}

pub(crate) fn is_cancelled() -> bool {
    host::cancelled()
}

pub(crate) fn config(key: &str) -> Option<String> {
    host::config(key)
}

pub(crate) fn facades() -> crate::Result<Vec<Peer>> {
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

pub(crate) fn elicit(message: &str, form: Object) -> crate::Result<Answer<Value>> {
    match host::elicit(message, &write(&Value::Object(form))) {
        Ok(host::Answer::Accepted(given)) => Ok(Answer::Accepted(read(&given))),
        Ok(host::Answer::Declined) => Ok(Answer::Declined),
        Ok(host::Answer::Cancelled) => Ok(Answer::Cancelled),
        Err(failure) => Err(from_failure(failure)),
    }
}

pub(crate) fn invoke(requests: Vec<Request>) -> Vec<crate::Result<crate::Reply<Value>>> {
    let requests: Vec<_> = requests.into_iter().map(to_request).collect();
    let answers = host::invoke(&requests);
    answers.into_iter().map(|answer| answer.map(from_reply).map_err(from_peer_failure)).collect()
}

pub(crate) fn lookup(facade: &str, action: &str) -> crate::Result<Schema> {
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

pub(crate) fn check(request: &Request) -> crate::Result<()> {
    host::check(&to_request(request.clone())).map_err(from_peer_failure)
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

fn to_reply(reply: crate::Reply<String>) -> Reply {
    Reply {
        data: reply.data,
        message: reply.message,
        page: reply.page.map(|Page { count, total, cursor }| types::Page { count, total, cursor }),
        next: reply.next.map(to_next),
        content: reply.content.into_iter().map(to_content).collect(),
        extras: Vec::new(),
    }
}

fn from_reply(reply: Reply) -> crate::Reply<Value> {
    let mut own = crate::Reply::new(read(&reply.data));
    own.message = reply.message;
    own.page = reply.page.map(|types::Page { count, total, cursor }| Page { count, total, cursor });
    own.next = reply.next.map(from_next);
    own.content = reply.content.into_iter().map(from_content).collect();
    own
}

fn to_failure(failure: crate::Failure) -> Failure {
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

fn from_failure(failure: Failure) -> crate::Failure {
    let mut own = crate::Failure::new(failure.code, failure.message);
    own.hint = failure.hint;
    own.details = failure.details.as_deref().map(read);
    own.retry_after = failure.retry_after_ms.map(Duration::from_millis);
    own.next = failure.next.map(from_next);
    own
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

fn to_next(next: Next) -> types::Next {
    let params = Some(next.params).filter(|params| !params.is_empty());
    types::Next {
        facade: next.facade.unwrap_or_default(),
        action: next.action,
        params: params.map(|params| write(&Value::Object(params))),
        reason: next.reason,
    }
}

fn from_next(next: types::Next) -> Next {
    let mut own = Next::of(next.facade, next.action);
    if let Some(Value::Object(params)) = next.params.as_deref().map(read) {
        own.params = params;
    }
    own.reason = next.reason;
    own
}

fn to_content(content: Content) -> types::Content {
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

fn from_content(content: types::Content) -> Content {
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

fn to_effect(effect: Effect) -> types::Effect {
    match effect {
        Effect::Read => types::Effect::Read,
        Effect::Write => types::Effect::Write,
        Effect::Destructive => types::Effect::Destructive,
    }
}

fn from_effect(effect: types::Effect) -> Effect {
    match effect {
        types::Effect::Read => Effect::Read,
        types::Effect::Write => Effect::Write,
        types::Effect::Destructive => Effect::Destructive,
    }
}

fn to_detail(detail: Detail) -> types::Detail {
    match detail {
        Detail::Minimal => types::Detail::Minimal,
        Detail::Standard => types::Detail::Standard,
        Detail::Full => types::Detail::Full,
    }
}

fn from_detail(detail: types::Detail) -> Detail {
    match detail {
        types::Detail::Minimal => Detail::Minimal,
        types::Detail::Standard => Detail::Standard,
        types::Detail::Full => Detail::Full,
    }
}

/// JSON text. A [`Value`] can always be written; not by its `Display`, which would be a second serialiser in the guest.
fn write(value: &Value) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// The host sends JSON; if it did not, the text itself would be more useful than an error.
fn read(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or_else(|_| json.into())
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
