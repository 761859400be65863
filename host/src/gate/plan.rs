//! Pure: from a request to a validated call, or to an answer that needs none.

use std::sync::Arc;

use loggia_facade::{Command, Detail, Effect, Envelope, Failure, Input, Object, Reply, Request, code};
use loggia_schema::{Routed, Target};
use serde_json::Value;

use crate::catalog::{Entry, Slot, Snapshot};

/// What becomes of a request.
pub enum Plan {
    /// Answered without running anything.
    Answer(Envelope),
    /// To be run.
    Run(Box<Planned>),
}

/// A call that passed every check that needs no running.
pub struct Planned {
    /// The version that will answer, whatever is reloaded meanwhile.
    pub entry: Arc<Entry>,
    /// The action's place in the surface.
    pub action: usize,
    /// Echoed in the envelope.
    pub command: Command,
    /// Valid, with defaults.
    pub params: Object,
    /// What a default or a coercion changed.
    pub resolved: Object,
    /// How much is wanted back.
    pub detail: Detail,
    /// A shorter wall clock, from the request.
    pub timeout: Option<std::time::Duration>,
    /// From the request.
    pub idempotency_key: Option<String>,
}

impl Planned {
    /// What will be run.
    pub fn action(&self) -> &loggia_facade::Action {
        &self.entry.surface().actions[self.action]
    }
}

/// Routes, resolves and validates.
pub fn plan(snapshot: &Snapshot, request: Request) -> Plan {
    let refuse = |command, failure| {
        Plan::Answer(Envelope { command, outcome: Err(failure), resolved_inputs: Object::new() })
    };
    if let Some(failure) = too_large(&request.input) {
        return refuse(asked(&request.input), failure);
    }
    let entry = match snapshot.slots.get(&request.facade) {
        Some(Slot::Serving(entry)) => Arc::clone(entry),
        Some(Slot::Unavailable(reason)) => {
            return refuse(asked(&request.input), unavailable(snapshot, &request.facade, reason));
        }
        None => return refuse(asked(&request.input), unknown(snapshot, &request.facade)),
    };
    let routed = match route(&entry, request.input) {
        Ok(routed) => routed,
        Err((command, failure)) => return refuse(command, failure),
    };
    let Routed { command, target, detail, .. } = routed;
    match target {
        Target::Describe { of } => {
            let described = entry.contract.describe(of.as_deref(), detail);
            let outcome = described.map(|data| Reply { data, ..Reply::default() });
            Plan::Answer(Envelope { command, outcome, resolved_inputs: Object::new() })
        }
        Target::Action { action, params } => {
            match entry.contract.prepare(&entry.surface().actions[action], params) {
                Err(failure) => refuse(command, failure),
                Ok(prepared) => Plan::Run(Box::new(Planned {
                    entry,
                    action,
                    command,
                    params: prepared.params,
                    resolved: prepared.resolved,
                    detail,
                    timeout: request.timeout,
                    idempotency_key: request.idempotency_key,
                })),
            }
        }
    }
}

fn route(entry: &Entry, input: Input) -> Result<Routed, (Command, Failure)> {
    let (arguments, detail) = match input {
        Input::Arguments(arguments) => (arguments, None),
        Input::Action { action, params, detail } => {
            let mut arguments = Object::new();
            arguments.insert("action".into(), action.into());
            arguments.insert("params".into(), params.into());
            (arguments, Some(detail))
        }
    };
    let mut routed = entry.contract.route(arguments).map_err(|refused| (refused.command, refused.failure))?;
    if let Some(detail) = detail {
        routed.detail = detail;
    }
    Ok(routed)
}

/// The most that arguments may hold, in bytes of their names and values.
const ARGUMENTS: usize = 1 << 20;

/// Looked at before anything is done with them, since validating costs more than weighing.
fn too_large(input: &Input) -> Option<Failure> {
    fn weigh(value: &Value) -> usize {
        match value {
            Value::String(text) => text.len(),
            Value::Array(items) => items.iter().map(|item| weigh(item) + 1).sum(),
            Value::Object(members) => members.iter().map(|(name, value)| name.len() + weigh(value) + 1).sum(),
            _ => 8,
        }
    }
    let (Input::Arguments(arguments) | Input::Action { params: arguments, .. }) = input;
    let bytes: usize = arguments.iter().map(|(name, value)| name.len() + weigh(value)).sum();
    (bytes > ARGUMENTS).then(|| {
        Failure::new(
            code::INVALID_PARAMS,
            format!("the arguments are too large: {bytes} bytes, at most {ARGUMENTS}"),
        )
        .hint("pass less at once, in several calls")
    })
}

/// The command as it was sent, where there is no contract to resolve it by.
fn asked(input: &Input) -> Command {
    match input {
        Input::Action { action, .. } => Command::action(action.clone()),
        Input::Arguments(arguments) => {
            let name = |key: &str| arguments.get(key).and_then(|v| v.as_str()).map(str::to_owned);
            match (name("action"), name("cmd")) {
                (None, Some(name)) => Command { key: "cmd", name: Some(name) },
                (name, _) => Command { key: "action", name },
            }
        }
    }
}

fn unavailable(snapshot: &Snapshot, facade: &str, reason: &str) -> Failure {
    Failure::new(code::UNAVAILABLE, format!("`{facade}` is unavailable: {reason}"))
        .hint(format!("available tools: {}", snapshot.names()))
}

fn unknown(snapshot: &Snapshot, facade: &str) -> Failure {
    Failure::new(code::NOT_FOUND, format!("not found: there is no facade `{facade}`"))
        .hint(format!("available facades: {}", snapshot.names()))
}

/// A nested call may do no more than the action it was made from.
pub fn effect_allows(caller: Effect, target: Effect) -> bool {
    match caller {
        Effect::Read => target == Effect::Read,
        Effect::Write => target <= Effect::Write,
        Effect::Destructive => true,
    }
}
