//! Routes, resolves and validates a request.

use loggia_policy::model::limit_names::ARGUMENTS;
use std::sync::Arc;

use loggia_facade::{Action, Command, Detail, Effect, Envelope, Failure, Input, Object, Request, code};
use loggia_policy::model::FacadeRules;
use loggia_schema::{CallTarget, DescribeRequest, RoutedCall, ToolView};
use loggia_text::units;
use serde_json::Value;

use super::planned::{CallPlan, PlannedBatch, PlannedCall, RunQuery, RunRequest};
use crate::{
    access::{CallerRights, ListId},
    catalog::{CatalogEntry, CatalogSlot, CatalogSnapshot},
    failures,
    results::SCHEME,
};

/// Plans a request: routes it, resolves its action and validates its parameters. Every call passes here, nested ones too.
///
/// `view` is the tool that was called. `rights` are those of the root caller, through any number of nested calls; `list` is what its
/// client sees.
pub(crate) fn plan_request(
    snapshot: &CatalogSnapshot,
    request: Request,
    view: &ToolView,
    (rights, list): (&CallerRights, ListId),
) -> CallPlan {
    let refuse = |command, failure| CallPlan::Answer(Box::new(Envelope::new(command, Err(failure))));
    let entry = match snapshot.slots.get(&request.facade).filter(|_| rights.reaches(&request.facade)) {
        Some(CatalogSlot::Serving(entry)) => Arc::clone(entry),
        Some(CatalogSlot::Unavailable(reason)) => {
            return refuse(
                echo_command(&request.input),
                unavailable(snapshot, &request.facade, reason, (rights, list)),
            );
        }
        None => {
            return refuse(echo_command(&request.input), unknown(snapshot, &request.facade, (rights, list)));
        }
    };
    let Some(view) = rights.narrow(&entry.contract, view) else {
        return refuse(echo_command(&request.input), unknown(snapshot, &request.facade, (rights, list)));
    };
    let view = &*view;
    let (Input::Arguments(arguments) | Input::Action { params: arguments, .. }) = &request.input;
    if let Some(failure) = check_size(arguments, &entry.rules) {
        return refuse(echo_command(&request.input), failure);
    }
    let routed = match route_input(&entry, request.input, view) {
        Ok(routed) => routed,
        Err((command, failure)) => return refuse(command, failure),
    };
    let RoutedCall { command, target, detail, wait, confirm, login_code } = routed;
    let about = |entry, command, wanted| {
        CallPlan::AboutRun(RunQuery { entry, command, request: wanted, view: view.clone() })
    };
    match target {
        CallTarget::Describe(DescribeRequest { of: Some(handle), .. }) if handle.starts_with(SCHEME) => {
            CallPlan::KeptResult { facade: entry.surface().name.clone(), command, handle }
        }
        CallTarget::Describe(request) => {
            let outcome = entry.contract.describe_page(&request, detail, view);
            CallPlan::Description(entry, Box::new(Envelope::new(command, outcome)))
        }
        CallTarget::RunStatus { run_id: None, .. } => about(entry, command, RunRequest::List),
        CallTarget::RunStatus { run_id: Some(run_id), include_trace } => {
            let wait = wait.unwrap_or(false);
            about(entry, command, RunRequest::Status { run_id, include_trace, wait })
        }
        CallTarget::RunCancel { run_id } => about(entry, command, RunRequest::Cancel { run_id }),
        CallTarget::Batch { items, mode } => match validate_batch(&entry, items, view) {
            Ok(items) => CallPlan::Batch(Box::new(PlannedBatch { entry, command, items, mode, wait })),
            Err(failure) => refuse(command, failure),
        },
        CallTarget::Action { action, params } => {
            let call = RoutedRequest { command, action, params, detail, wait, confirm, login_code };
            match validate_call(&entry, view, call) {
                Err((command, failure)) => refuse(command, failure),
                Ok(planned) => CallPlan::Run(Box::new(PlannedCall {
                    timeout: request.timeout,
                    idempotency_key: request.idempotency_key,
                    ..planned
                })),
            }
        }
    }
}

/// A call whose action is resolved and whose parameters are not validated yet.
struct RoutedRequest {
    command: Command,
    /// Index of the action in the surface.
    action: usize,
    params: Object,
    detail: Detail,
    wait: Option<bool>,
    confirm: Option<bool>,
    login_code: Option<String>,
}

/// Fills in defaults and validates. An error returns the command, which the envelope echoes.
fn validate_call(
    entry: &Arc<CatalogEntry>,
    view: &ToolView,
    call: RoutedRequest,
) -> Result<PlannedCall, (Command, Failure)> {
    let contract = &entry.contract;
    let known = &contract.surface().actions[call.action];
    let prepared = match contract.prepare_in_view(known, call.params, view) {
        Ok(prepared) => prepared,
        Err(failure) => return Err((call.command, failure)),
    };
    let inputs = shown_inputs(entry, known, &prepared.params);
    Ok(PlannedCall {
        entry: Arc::clone(entry),
        action: call.action,
        command: call.command,
        params: prepared.params,
        params_text: None,
        resolved: prepared.resolved,
        inputs,
        detail: call.detail,
        wait: call.wait,
        confirmed: call.confirm == Some(true),
        login_code: call.login_code,
        timeout: None,
        idempotency_key: None,
    })
}

/// Puts other parameters in place of those of a validated call, and validates them.
pub(crate) fn replace_params(planned: &mut PlannedCall, params: Object) -> Result<(), Failure> {
    let entry = Arc::clone(&planned.entry);
    if let Some(failure) = check_size(&params, &entry.rules) {
        return Err(failure);
    }
    let (contract, action) = (&entry.contract, planned.action());
    let prepared = contract.prepare_in_view(action, params, &ToolView::all_actions())?;
    // The caller sees what differs from what it sent, whoever changed it.
    let all = contract.resolved_inputs(action, &prepared.params);
    let differs = |name: &String| {
        planned.params.get(name) != prepared.params.get(name)
            || planned.resolved.contains_key(name)
            || prepared.resolved.contains_key(name)
    };
    let resolved = all.into_iter().filter(|(name, _)| differs(name)).collect();
    (planned.inputs, planned.resolved) = (shown_inputs(&entry, action, &prepared.params), resolved);
    (planned.params, planned.params_text) = (prepared.params, None);
    Ok(())
}

/// All parameters, redacted, of a call that may become a run or must be confirmed.
fn shown_inputs(entry: &CatalogEntry, action: &Action, params: &Object) -> Object {
    let shown = action.long_running || entry.contract.needs_confirmation(&action.name);
    if shown { entry.contract.resolved_inputs(action, params) } else { Object::new() }
}

/// Maximum number of invalid items that one failure lists.
const MAX_REPORTED: usize = 5;

/// Validates all items, so that none runs unless all are valid.
fn validate_batch(
    entry: &Arc<CatalogEntry>,
    items: Vec<Object>,
    view: &ToolView,
) -> Result<Vec<PlannedCall>, Failure> {
    let mut planned = Vec::with_capacity(items.len());
    let mut invalid = Vec::new();
    for (index, item) in items.into_iter().enumerate() {
        match self::validate_item(entry, item, view) {
            Ok(item) => planned.push(item),
            Err(failure) => invalid.push((index, failure)),
        }
    }
    if invalid.is_empty() {
        return Ok(planned);
    }
    let messages: Vec<String> = invalid
        .iter()
        .take(MAX_REPORTED)
        .map(|(index, failure)| format!("`items[{index}]`: {}", failure.message))
        .collect();
    let denied = invalid.iter().all(|(_, failure)| failure.code == code::DENIED);
    let more = invalid.len().saturating_sub(MAX_REPORTED);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    let details: Vec<Value> = invalid
        .into_iter()
        .take(MAX_REPORTED)
        .map(|(index, failure)| {
            let (mut fields, _) =
                Envelope::new(Command { key: "action", name: None }, Err(failure)).into_parts();
            fields.shift_remove("ok");
            fields.insert("index".into(), index.into());
            fields.into()
        })
        .collect();
    let code = if denied { code::DENIED } else { code::INVALID_PARAMS };
    let failure = Failure::new(code, format!("{}{more}", messages.join("; ")));
    Err(Failure { details: Some(details.into()), ..failure.hint("Nothing was run: fix these items first.") })
}

fn validate_item(entry: &Arc<CatalogEntry>, item: Object, view: &ToolView) -> Result<PlannedCall, Failure> {
    let RoutedCall { command, target, detail, wait, confirm, login_code } =
        entry.contract.route(item, view).map_err(|refused| refused.failure)?;
    let CallTarget::Action { action, params } = target else {
        let name = command.name.unwrap_or_default();
        let message = format!("`{name}` cannot be part of a batch");
        return Err(failures::invalid_params(message).hint("A batch holds the facade's own actions."));
    };
    if wait == Some(false) {
        let failure = failures::invalid_params("`wait` cannot be false inside a batch");
        return Err(failure.hint("Pass `wait` next to `items`, for the whole batch."));
    }
    let call = RoutedRequest { command, action, params, detail, wait: None, confirm, login_code };
    validate_call(entry, view, call).map_err(|(_, failure)| failure)
}

fn route_input(
    entry: &CatalogEntry,
    input: Input,
    view: &ToolView,
) -> Result<RoutedCall, (Command, Failure)> {
    let (arguments, detail) = match input {
        Input::Arguments(arguments) => (arguments, None),
        Input::Action { action, params, detail } => {
            let mut arguments = Object::new();
            // An empty name means the default action.
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

/// Checks the size of the arguments first, since validating them costs more than measuring.
fn check_size(arguments: &Object, rules: &FacadeRules) -> Option<Failure> {
    let bytes = members_size(arguments);
    (bytes > rules.arguments).then(|| {
        let most = units::format_bytes(rules.arguments as u64);
        let message = format!("the arguments are too large: {bytes} bytes, at most {most}");
        failures::invalid_params(message).hint(format!(
            "Pass less at once, in several calls. The operator can raise `{ARGUMENTS}` in the policy."
        ))
    })
}

/// Size from which planning a call takes long enough to block a worker thread.
const LARGE_ARGUMENTS: usize = 128 << 10;

/// Returns true if planning a call with these arguments may take long.
pub(crate) fn has_large_arguments(input: &Input) -> bool {
    arguments_size(input) > LARGE_ARGUMENTS
}

/// Estimates the length of a request's arguments as JSON.
pub(crate) fn arguments_size(input: &Input) -> usize {
    let (Input::Arguments(arguments) | Input::Action { params: arguments, .. }) = input;
    members_size(arguments)
}

fn members_size(members: &Object) -> usize {
    members.iter().map(|(name, value)| name.len() + text_size(value)).sum()
}

/// Size that a list or an object counts even if it is empty: two bytes of text, but much more memory.
const NODE_SIZE: usize = 16;

/// Estimates the length of a value as JSON. For its memory use see `run/weight.rs`.
pub(crate) fn text_size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => NODE_SIZE + items.iter().map(|item| text_size(item) + 1).sum::<usize>(),
        Value::Object(members) => {
            NODE_SIZE + members.iter().map(|(name, value)| name.len() + text_size(value) + 1).sum::<usize>()
        }
        _ => 8,
    }
}

/// Takes the command from the request as it was sent, where no contract can resolve it.
fn echo_command(input: &Input) -> Command {
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

fn unavailable(
    snapshot: &CatalogSnapshot,
    facade: &str,
    reason: &str,
    (rights, list): (&CallerRights, ListId),
) -> Failure {
    failures::facade_unavailable(facade, reason)
        .hint(format!("available facades: {}", snapshot.tool_names(list, rights)))
}

fn unknown(snapshot: &CatalogSnapshot, facade: &str, (rights, list): (&CallerRights, ListId)) -> Failure {
    let facade: String = facade.chars().take(80).collect();
    failures::not_found(format_args!("there is no facade `{facade}`"))
        .hint(format!("available facades: {}", snapshot.tool_names(list, rights)))
}

/// Checks that a nested call does no more than the effect of the action that makes it.
pub(crate) fn effect_allows(caller: Effect, target: Effect) -> bool {
    match caller {
        Effect::Read => target == Effect::Read,
        Effect::Write => target <= Effect::Write,
        Effect::Destructive => true,
    }
}
