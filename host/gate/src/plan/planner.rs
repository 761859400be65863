//! Pure: from a request to a validated call, or to an answer that needs none.

use std::sync::Arc;

use loggia_facade::{Command, Detail, Effect, Envelope, Failure, Input, Object, Reply, Request, code};
use loggia_schema::{RoutedCall, CallTarget, ToolView};
use loggia_text::units;
use serde_json::Value;

use super::planned::{AboutRun, Batch, Plan, Planned, Wanted};
use crate::{
    access::{Rights, Rules},
    catalog::{Entry, Slot, Snapshot},
};

/// Routes, resolves and validates. The view is the tool that was called, the rights are those of the caller from whom
/// the call comes, through however many others: every call that is made is planned here.
pub fn plan(snapshot: &Snapshot, request: Request, view: &ToolView, rights: &Rights) -> Plan {
    let refuse = |command, failure| Plan::Answer(Box::new(Envelope::new(command, Err(failure))));
    let entry = match snapshot.slots.get(&request.facade).filter(|_| rights.reach(&request.facade)) {
        Some(Slot::Serving(entry)) => Arc::clone(entry),
        Some(Slot::Unavailable(reason)) => {
            return refuse(asked(&request.input), unavailable(snapshot, &request.facade, reason, rights));
        }
        None => return refuse(asked(&request.input), unknown(snapshot, &request.facade, rights)),
    };
    let Some(view) = rights.narrow(&entry.contract, view) else {
        return refuse(asked(&request.input), unknown(snapshot, &request.facade, rights));
    };
    let view = &*view;
    if let Some(failure) = too_large(&request.input, &entry.rules) {
        return refuse(asked(&request.input), failure);
    }
    let routed = match route(&entry, request.input, view) {
        Ok(routed) => routed,
        Err((command, failure)) => return refuse(command, failure),
    };
    let RoutedCall { command, target, detail, wait, confirm } = routed;
    let about =
        |entry, command, wanted| Plan::AboutRun(AboutRun { entry, command, wanted, view: view.clone() });
    match target {
        CallTarget::Describe { of } => {
            let described = entry.contract.describe(of.as_deref(), detail, view);
            let outcome = described.map(|data| Reply { data, ..Reply::default() });
            Plan::Answer(Box::new(Envelope::new(command, outcome)))
        }
        CallTarget::RunStatus { run_id: None, .. } => about(entry, command, Wanted::List),
        CallTarget::RunStatus { run_id: Some(run_id), include_trace } => {
            let wait = wait.unwrap_or(false);
            about(entry, command, Wanted::Status { run_id, include_trace, wait })
        }
        CallTarget::RunCancel { run_id } => about(entry, command, Wanted::Cancel { run_id }),
        CallTarget::Batch { items, mode } => match batch(&entry, items, view) {
            Ok(items) => Plan::Batch(Box::new(Batch { entry, command, items, mode, wait })),
            Err(failure) => refuse(command, failure),
        },
        CallTarget::Action { action, params } => {
            match prepare(&entry, (action, params), view, Asked { command, detail, wait, confirm }) {
                Err((command, failure)) => refuse(command, failure),
                Ok(planned) => Plan::Run(Box::new(Planned {
                    timeout: request.timeout,
                    idempotency_key: request.idempotency_key,
                    ..planned
                })),
            }
        }
    }
}

/// What a call says beside its action and parameters.
struct Asked {
    command: Command,
    detail: Detail,
    wait: Option<bool>,
    confirm: Option<bool>,
}

/// Fills defaults and validates. A refusal gives the command back, to be echoed.
fn prepare(
    entry: &Arc<Entry>,
    (action, params): (usize, Object),
    view: &ToolView,
    asked: Asked,
) -> Result<Planned, (Command, Failure)> {
    let contract = &entry.contract;
    let known = &contract.surface().actions[action];
    let prepared = match contract.prepare_in_view(known, params, view) {
        Ok(prepared) => prepared,
        Err(failure) => return Err((asked.command, failure)),
    };
    let shown = known.long_running || contract.needs_confirmation(&known.name);
    let inputs = if shown { contract.resolved_inputs(known, &prepared.params) } else { Object::new() };
    Ok(Planned {
        entry: Arc::clone(entry),
        action,
        command: asked.command,
        params: prepared.params,
        resolved: prepared.resolved,
        inputs,
        detail: asked.detail,
        wait: asked.wait,
        confirmed: asked.confirm == Some(true),
        timeout: None,
        idempotency_key: None,
    })
}

/// Faults of a batch's items that are told at once.
const FAULTS: usize = 5;

/// Checks all items, so that none runs unless all can.
fn batch(entry: &Arc<Entry>, items: Vec<Object>, view: &ToolView) -> Result<Vec<Planned>, Failure> {
    let mut planned = Vec::with_capacity(items.len());
    let mut faults = Vec::new();
    for (index, item) in items.into_iter().enumerate() {
        match self::item(entry, item, view) {
            Ok(item) => planned.push(item),
            Err(failure) => faults.push((index, failure)),
        }
    }
    if faults.is_empty() {
        return Ok(planned);
    }
    let said: Vec<String> = faults
        .iter()
        .take(FAULTS)
        .map(|(index, failure)| format!("`items[{index}]`: {}", failure.message))
        .collect();
    let denied = faults.iter().all(|(_, failure)| failure.code == code::DENIED);
    let more = faults.len().saturating_sub(FAULTS);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    let details: Vec<Value> = faults
        .into_iter()
        .take(FAULTS)
        .map(|(index, failure)| {
            let (mut told, _) =
                Envelope::new(Command { key: "action", name: None }, Err(failure)).into_parts();
            told.shift_remove("ok");
            told.insert("index".into(), index.into());
            told.into()
        })
        .collect();
    let code = if denied { code::DENIED } else { code::INVALID_PARAMS };
    let failure = Failure::new(code, format!("{}{more}", said.join("; ")));
    Err(Failure { details: Some(details.into()), ..failure.hint("Nothing was run: mend these items first.") })
}

fn item(entry: &Arc<Entry>, item: Object, view: &ToolView) -> Result<Planned, Failure> {
    let RoutedCall { command, target, detail, wait, confirm } =
        entry.contract.route(item, view).map_err(|refused| refused.failure)?;
    let CallTarget::Action { action, params } = target else {
        let name = command.name.unwrap_or_default();
        let said = format!("`{name}` cannot be part of a batch");
        return Err(Failure::new(code::INVALID_PARAMS, said).hint("A batch holds the facade's own actions."));
    };
    if wait == Some(false) {
        let failure = Failure::new(code::INVALID_PARAMS, "`wait` cannot be false inside a batch");
        return Err(failure.hint("Give `wait` beside `items`, for the batch as a whole."));
    }
    let asked = Asked { command, detail, wait: None, confirm };
    prepare(entry, (action, params), view, asked).map_err(|(_, failure)| failure)
}

fn route(entry: &Entry, input: Input, view: &ToolView) -> Result<RoutedCall, (Command, Failure)> {
    let (arguments, detail) = match input {
        Input::Arguments(arguments) => (arguments, None),
        Input::Action { action, params, detail } => {
            let mut arguments = Object::new();
            // Without one the facade's default is meant.
            if !action.is_empty() {
                arguments.insert("action".into(), action.into());
            }
            arguments.insert("params".into(), params.into());
            (arguments, Some(detail))
        }
    };
    let routed = entry.contract.route(arguments, view);
    let mut routed = routed.map_err(|refused| (refused.command, refused.failure))?;
    if let Some(detail) = detail {
        routed.detail = detail;
    }
    Ok(routed)
}

/// Looked at before anything is done with them, since validating costs more than measuring.
fn too_large(input: &Input, rules: &Rules) -> Option<Failure> {
    let (Input::Arguments(arguments) | Input::Action { params: arguments, .. }) = input;
    let bytes: usize = arguments.iter().map(|(name, value)| name.len() + length(value)).sum();
    (bytes > rules.arguments).then(|| {
        let most = units::format_bytes(rules.arguments as u64);
        let said = format!("the arguments are too large: {bytes} bytes, at most {most}");
        Failure::new(code::INVALID_PARAMS, said).hint(
            "Pass less at once, in several calls. The operator can raise `limits.arguments` in the policy.",
        )
    })
}

/// Arguments from which on planning a call is no longer done in a moment.
const LONG: usize = 64 << 10;

/// Whether planning a call with these arguments should keep nobody else waiting.
pub fn is_long(input: &Input) -> bool {
    let (Input::Arguments(arguments) | Input::Action { params: arguments, .. }) = input;
    arguments.iter().map(|(name, value)| name.len() + length(value)).sum::<usize>() > LONG
}

/// What a list or an object counts, however empty: as text it is two bytes, in memory much more.
const NODE: usize = 16;

/// About how long a value is as text. What it takes in memory, `weight.rs` knows.
pub fn length(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => NODE + items.iter().map(|item| length(item) + 1).sum::<usize>(),
        Value::Object(members) => {
            NODE + members.iter().map(|(name, value)| name.len() + length(value) + 1).sum::<usize>()
        }
        _ => 8,
    }
}

/// The command as it was sent, where there is no contract to resolve it by.
fn asked(input: &Input) -> Command {
    let short = |name: &str| name.chars().take(80).collect::<String>();
    match input {
        Input::Action { action, .. } => Command::action(short(action)),
        Input::Arguments(arguments) => {
            let name = |key: &str| arguments.get(key).and_then(|v| v.as_str()).map(short);
            match (name("action"), name("cmd")) {
                (None, Some(name)) => Command { key: "cmd", name: Some(name) },
                (name, _) => Command { key: "action", name },
            }
        }
    }
}

fn unavailable(snapshot: &Snapshot, facade: &str, reason: &str, rights: &Rights) -> Failure {
    Failure::new(code::UNAVAILABLE, format!("`{facade}` is unavailable: {reason}"))
        .hint(format!("available facades: {}", snapshot.names(rights)))
}

fn unknown(snapshot: &Snapshot, facade: &str, rights: &Rights) -> Failure {
    let facade: String = facade.chars().take(80).collect();
    Failure::new(code::NOT_FOUND, format!("not found: there is no facade `{facade}`"))
        .hint(format!("available facades: {}", snapshot.names(rights)))
}

/// A nested call may do no more than the action it was made from.
pub fn effect_allows(caller: Effect, target: Effect) -> bool {
    match caller {
        Effect::Read => target == Effect::Read,
        Effect::Write => target <= Effect::Write,
        Effect::Destructive => true,
    }
}
