//! Contract 0.1: bindings, and conversion to and from the types of `loggia-facade`.

use loggia_facade::{
    Action, Block, Call, Content, Detail, Effect, Failure, Input, Next, Object, Page, Reply, Request,
    Surface, Want, code,
    json::{JsonError, VALUES, parse},
};
use serde_json::Value;
// `InstanceType` and `ComponentFunc::typecheck` are what bindgen's own code checks types with, only later: when an
// instance is there already. Hidden from the documentation, but there for as long as 48 is maintained.
use wasmtime::component::{__internal::InstanceType, HasSelf, Linker, types::ComponentFunc};

use crate::guest::Guest;

#[allow(missing_docs, clippy::all)]
mod bindings {
    wasmtime::component::bindgen!({
        path: "../../wit",
        world: "plugin",
        imports: {
            "loggia:plugin/host.elicit": async,
            "loggia:plugin/host.invoke": async,
            "loggia:plugin/state": async,
        },
        exports: { default: async },
    });
}

pub(crate) use bindings::{
    Plugin, PluginPre,
    exports::loggia::plugin::facade::Guest as Exports,
    loggia::plugin::{host, state, types},
};

/// As an exported interface carries it.
pub(crate) const VERSION: &str = "0.1.0";

/// What versions begin with that can take each other's place.
pub(crate) const TRACK: &str = "0.1.";

/// The exported interface, without its version.
pub(crate) const FACADE: &str = "loggia:plugin/facade";

/// A function of the exported interface.
pub(crate) struct Function {
    pub name: &'static str,
    /// As the contract writes it.
    pub signature: &'static str,
    check: fn(&ComponentFunc, &InstanceType<'_>) -> wasmtime::Result<()>,
}

impl Function {
    /// Whether what a component exports is of the contract's type.
    pub fn matches(&self, found: &ComponentFunc, component: &InstanceType<'_>) -> bool {
        (self.check)(found, component).is_ok()
    }
}

/// The functions of the exported interface.
pub(crate) const FUNCTIONS: [Function; 3] = [
    Function {
        name: "describe",
        signature: "func() -> description",
        check: ComponentFunc::typecheck::<(), (types::Description,)>,
    },
    Function {
        name: "schema",
        signature: "func(action: string) -> result<action-schema, failure>",
        check: ComponentFunc::typecheck::<(String,), (Result<types::ActionSchema, types::Failure>,)>,
    },
    Function {
        name: "dispatch",
        signature: "func(call: call) -> result<reply, failure>",
        check: ComponentFunc::typecheck::<(types::Call,), (Result<types::Reply, types::Failure>,)>,
    },
];

pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    host::add_to_linker::<Guest, HasSelf<Guest>>(linker, |guest| guest)?;
    state::add_to_linker::<Guest, HasSelf<Guest>>(linker, |guest| guest)?;
    types::add_to_linker::<Guest, HasSelf<Guest>>(linker, |guest| guest)
}

/// What a plugin said that is not what the contract means by it: the plugin's fault.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Bad {
    #[error("{what} is not valid JSON: {error}")]
    Json { what: &'static str, error: serde_json::Error },
    #[error("{what} holds more than {VALUES} values")]
    Many { what: &'static str },
    #[error("{given:.100?} is not the type of {what}")]
    Type { what: &'static str, given: String },
}

fn json(what: &'static str, text: &str) -> Result<Value, Bad> {
    parse(text).map_err(|error| match error {
        JsonError::Values => Bad::Many { what },
        JsonError::Syntax(error) => Bad::Json { what, error },
    })
}

pub(crate) fn call(call: &Call, time_left_ms: u64, caller: Option<String>) -> types::Call {
    types::Call {
        id: call.id.0.clone(),
        action: call.action.clone(),
        // A map of JSON values always serialises.
        params: serde_json::to_string(&call.params).unwrap_or_else(|_| "{}".to_owned()),
        detail: match call.detail {
            Detail::Minimal => types::Detail::Minimal,
            Detail::Standard => types::Detail::Standard,
            Detail::Full => types::Detail::Full,
        },
        time_left_ms,
        caller,
        idempotency_key: call.idempotency_key.clone(),
        extras: Vec::new(),
    }
}

/// What `dispatch` gives back.
pub(crate) type Answered = Result<types::Reply, types::Failure>;

/// Bytes that a result takes up, as the limit counts them: all of its strings, `next` as often as MCP repeats it, and
/// something for each part.
pub(crate) fn size(answered: &Answered) -> usize {
    const NEXT_IS_TOLD: usize = 4;
    // A block or an extra without a single byte is still an object to the host and to the client.
    const PART: usize = 128;
    let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    let extras = |extras: &types::Extras| {
        extras.iter().map(|(name, json)| PART + name.len() + json.len()).sum::<usize>()
    };
    let next = |next: &Option<types::Next>| {
        let one = |n: &types::Next| n.facade.len() + n.action.len() + text(&n.params) + text(&n.reason);
        next.as_ref().map_or(0, one) * NEXT_IS_TOLD
    };
    let reply = match answered {
        Err(failure) => {
            let words = failure.code.len() + failure.message.len();
            return words
                + text(&failure.hint)
                + text(&failure.details)
                + next(&failure.next)
                + extras(&failure.extras);
        }
        Ok(reply) => reply,
    };
    let block = |content: &types::Content| {
        let own = match &content.block {
            types::Block::Text(text) => text.len(),
            types::Block::Image(media) | types::Block::Audio(media) => {
                media.data.len() + media.mime_type.len()
            }
            types::Block::Embedded(it) => {
                it.uri.len() + text(&it.mime_type) + text(&it.text) + it.blob.as_ref().map_or(0, Vec::len)
            }
            types::Block::Link(it) => {
                it.uri.len() + it.name.len() + text(&it.description) + text(&it.mime_type)
            }
        };
        PART + own + extras(&content.extras)
    };
    let cursor = reply.page.as_ref().map_or(0, |page| text(&page.cursor));
    let content = reply.content.iter().map(block).sum::<usize>();
    reply.data.len() + text(&reply.message) + cursor + next(&reply.next) + content + extras(&reply.extras)
}

pub(crate) fn reply(reply: types::Reply) -> Result<Reply, Bad> {
    let next = next(reply.next, &reply.extras);
    let content = reply.content.into_iter().map(content).collect::<Result<_, _>>()?;
    Ok(Reply {
        data: json("the reply's data", &reply.data)?,
        message: reply.message,
        page: reply.page.map(|page| Page { count: page.count, total: page.total, cursor: page.cursor }),
        next,
        content,
    })
}

pub(crate) fn failure(failure: types::Failure) -> Result<Failure, Bad> {
    Ok(Failure {
        code: failure.code,
        message: failure.message,
        hint: failure.hint,
        details: failure.details.map(|text| json("the failure's details", &text)).transpose()?,
        retry_after_ms: failure.retry_after_ms,
        next: next(failure.next, &failure.extras),
        expected: None,
        example: None,
    })
}

/// The other way: what the host tells a plugin.
pub(crate) fn failure_down(failure: Failure) -> types::Failure {
    types::Failure {
        code: failure.code,
        message: failure.message,
        hint: failure.hint,
        details: failure.details.map(|details| details.to_string()),
        retry_after_ms: failure.retry_after_ms,
        next: failure.next.map(next_down),
        extras: Vec::new(),
    }
}

/// What a plugin is told that called another facade.
pub(crate) fn reply_down(reply: Reply) -> types::Reply {
    types::Reply {
        data: reply.data.to_string(),
        message: reply.message,
        page: reply.page.map(|page| types::Page {
            count: page.count,
            total: page.total,
            cursor: page.cursor,
        }),
        next: reply.next.map(next_down),
        content: reply.content.into_iter().map(content_down).collect(),
        extras: Vec::new(),
    }
}

/// A facade as another one sees it that may call it.
pub(crate) fn description_down(surface: &Surface) -> types::Description {
    types::Description {
        name: surface.name.clone(),
        title: surface.title.clone(),
        version: surface.version.clone(),
        summary: surface.summary.clone(),
        instructions: surface.instructions.clone(),
        actions: surface.actions.iter().map(action_down).collect(),
        default_action: surface.default_action.clone(),
        // What it wants of its operator is nobody else's to know.
        wants: Vec::new(),
        extras: Vec::new(),
    }
}

fn action_down(action: &Action) -> types::Action {
    types::Action {
        name: action.name.clone(),
        summary: action.summary.clone(),
        effect: match action.effect {
            Effect::Read => types::Effect::Read,
            Effect::Write => types::Effect::Write,
            Effect::Destructive => types::Effect::Destructive,
        },
        idempotent: action.idempotent,
        open_world: action.open_world,
        long_running: action.long_running,
        details: action.details,
        aliases: action.aliases.clone(),
        extras: Vec::new(),
    }
}

/// The schemas of one action, for a facade that may call it.
pub(crate) fn schema_down(action: &Action) -> types::ActionSchema {
    let json = |object: &Object| Value::Object(object.clone()).to_string();
    types::ActionSchema {
        params: json(&action.params),
        data: action.data.as_ref().map(|data| data.to_string()),
        examples: action.examples.iter().map(json).collect(),
        extras: Vec::new(),
    }
}

fn content_down(content: Content) -> types::Content {
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

/// A call that a plugin wants to make.
pub(crate) fn request(asked: host::Request) -> Result<Request, Failure> {
    let params = match parse(&asked.params) {
        Ok(Value::Object(params)) => params,
        Err(error @ JsonError::Values) => {
            let failure = Failure::new(code::INVALID_PARAMS, format!("`params` cannot be read: {error}"));
            return Err(failure.hint("Pass less at once, in several calls."));
        }
        _ => return Err(Failure::new(code::INVALID_PARAMS, "`params` is not a JSON object")),
    };
    let detail = match asked.detail {
        types::Detail::Minimal => Detail::Minimal,
        types::Detail::Standard => Detail::Standard,
        types::Detail::Full => Detail::Full,
    };
    Ok(Request {
        facade: asked.facade,
        input: Input::Action { action: asked.action, params, detail },
        timeout: asked.timeout_ms.map(std::time::Duration::from_millis),
        idempotency_key: asked.idempotency_key,
    })
}

fn next_down(next: Next) -> types::Next {
    let params = (!next.params.is_empty()).then(|| Value::Object(next.params).to_string());
    types::Next { facade: next.facade, action: next.action, params, reason: next.reason }
}

/// The call that should come next; one that is malformed is dropped, since the result is good without it. Where the
/// contract's own place is empty, the metadata that MCP servers write is looked at.
fn next(next: Option<types::Next>, extras: &types::Extras) -> Option<Next> {
    let read = match next {
        Some(next) => {
            let params = match next.params.as_deref().map(parse) {
                None | Some(Ok(Value::Null)) => Ok(Object::new()),
                Some(Ok(Value::Object(params))) => Ok(params),
                Some(_) => Err("its params are not a JSON object"),
            };
            params.map(|params| Next {
                facade: next.facade,
                action: next.action,
                params,
                reason: next.reason,
            })
        }
        None => {
            let meta = extras.iter().find(|(name, _)| name == "_meta")?;
            let meta = parse(&meta.1).ok()?;
            let next = meta.get("loggia/nextTool").or_else(|| meta.get("nextTool"))?;
            Next::from_json(next)
        }
    };
    read.inspect_err(|said| tracing::warn!("a next call was dropped: {said}")).ok()
}

fn content(content: types::Content) -> Result<Content, Bad> {
    let mut extras = Object::new();
    for (name, text) in content.extras {
        extras.insert(name, json("a content block's extra", &text)?);
    }
    let block = match content.block {
        types::Block::Text(text) => Block::Text(text),
        types::Block::Image(media) => {
            Block::Image { data: media.data, mime_type: media_type("a picture", "image/", media.mime_type)? }
        }
        types::Block::Audio(media) => {
            Block::Audio { data: media.data, mime_type: media_type("a sound", "audio/", media.mime_type)? }
        }
        types::Block::Embedded(it) => {
            Block::Embedded { uri: it.uri, mime_type: it.mime_type, text: it.text, blob: it.blob }
        }
        types::Block::Link(it) => {
            Block::Link { uri: it.uri, name: it.name, description: it.description, mime_type: it.mime_type }
        }
    };
    Ok(Content { block, extras })
}

/// What clients make an address or a document of: a picture that says it is a page must not become one.
fn media_type(what: &'static str, begins: &str, given: String) -> Result<String, Bad> {
    let kind = given.get(..begins.len()).filter(|start| start.eq_ignore_ascii_case(begins));
    let plain = |c: u8| c.is_ascii_alphanumeric() || b".+-_".contains(&c);
    let own = given.get(begins.len()..).filter(|own| !own.is_empty() && own.bytes().all(plain));
    if kind.and(own).is_some() { Ok(given) } else { Err(Bad::Type { what, given }) }
}

/// Bytes of what `describe` gave.
pub(crate) fn description_size(description: &types::Description) -> usize {
    let types::Description { name, title, version, summary, instructions, actions, wants, .. } = description;
    let actions = actions.iter().map(|action| {
        action.name.len() + action.summary.len() + action.aliases.iter().map(String::len).sum::<usize>()
    });
    let wants = wants.iter().map(|want| want.grant.len() + want.reason.len());
    let texts = [name, title, version, summary].map(String::len).into_iter().sum::<usize>();
    texts + instructions.as_ref().map_or(0, String::len) + actions.sum::<usize>() + wants.sum::<usize>()
}

/// Bytes of what `schema` gave.
pub(crate) fn schema_size(schema: &types::ActionSchema) -> usize {
    let examples = schema.examples.iter().map(String::len).sum::<usize>();
    schema.params.len() + schema.data.as_ref().map_or(0, String::len) + examples
}

/// An action without its schemas, which `schema` gives.
pub(crate) fn action(action: types::Action) -> Action {
    Action {
        name: action.name,
        summary: action.summary,
        effect: match action.effect {
            types::Effect::Read => Effect::Read,
            types::Effect::Write => Effect::Write,
            types::Effect::Destructive => Effect::Destructive,
        },
        idempotent: action.idempotent,
        open_world: action.open_world,
        long_running: action.long_running,
        details: action.details,
        aliases: action.aliases,
        params: Object::new().into(),
        data: None,
        examples: Vec::new(),
    }
}

pub(crate) fn want(want: types::Want) -> Want {
    Want { grant: want.grant, reason: want.reason, needed: want.needed }
}

impl types::Host for Guest {}

#[cfg(test)]
mod tests;
