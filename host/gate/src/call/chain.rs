//! Calls that follow a call because its result says so.
//!
//! A facade's result may name the call that should come next. What becomes of it is the operator's choice: it is told to
//! the caller, or made by the host, or dropped. A followed call is a call like any other, with its own permit and clock;
//! it may do no more than the call that led to it, and only what the policy of the facade that named it lets that call.

use std::sync::Arc;

use loggia_facade::{Detail, Effect, Envelope, Hop, Input, Next, Object, Request};
use loggia_schema::View;
use loggia_text::printable;
use serde_json::Value;

use super::{answer::answer_root, gate_state::GateState};
use crate::{
    access::{Chain, Rights},
    catalog::{Entry, Slot},
    plan::{CallPlan, PlannedCall, effect_allows, plan_request, text_size},
    run::CallState,
};

/// Calls that may follow one.
const MAX_HOPS: usize = 5;
/// What the trail may hold of results, in bytes of text: beside the last result, which has a limit of its own.
pub(crate) const MAX_TRAIL_DATA: usize = 256 << 10;

/// Makes a call, and those that follow it.
pub(crate) async fn run_chain(gate: Arc<GateState>, state: Arc<CallState>, planned: PlannedCall) -> Envelope {
    let mut entry = Arc::clone(&planned.entry);
    let follows = entry.rules.chain == Chain::Follow;
    let (mut effect, detail) = (planned.action().effect, planned.detail);
    let mut steps: Vec<ChainStep> = follows.then(|| ChainStep::from_call(&planned)).into_iter().collect();
    let mut envelope = answer_root(Arc::clone(&gate), Arc::clone(&state), planned).await;
    // The caller asked for the first call, and knows the answer by it.
    let (command, resolved) = (envelope.command.clone(), std::mem::take(&mut envelope.resolved_inputs));
    let (mut trail, mut shown, mut room) = (Vec::new(), Vec::new(), MAX_TRAIL_DATA);
    while let Some(next) = take_next(&mut envelope, &entry, &gate, &state) {
        if entry.rules.chain != Chain::Follow {
            set_next(&mut envelope, next);
            break;
        }
        let followed = match plan_next(&gate, &entry, effect, &steps, &next, (detail, &state)) {
            Ok(followed) => followed,
            Err(reason) => {
                tracing::info!(facade = entry.surface().name, "a next call was not followed: {reason}");
                set_next(&mut envelope, next);
                break;
            }
        };
        if trail.is_empty() {
            trail.extend(steps.first().map(|steps| steps.to_hop(&envelope)));
        }
        entry = Arc::clone(&followed.entry);
        effect = followed.action().effect.min(effect);
        let step = ChainStep::from_call(&followed);
        if let Ok(reply) = &mut envelope.outcome {
            shown.append(&mut reply.content);
            if let Some(hop) = trail.last_mut() {
                keep_data(hop, std::mem::take(&mut reply.data), &mut room);
            }
        }
        envelope = answer_root(Arc::clone(&gate), Arc::clone(&state), followed).await;
        trail.push(step.to_hop(&envelope));
        steps.push(step);
    }
    // What was shown on the way, to the person say, is shown: the trail holds messages and data alone.
    if let Ok(reply) = &mut envelope.outcome {
        reply.content.splice(0..0, shown);
    }
    Envelope { command, resolved_inputs: resolved, trail, ..envelope }
}

/// The call that should follow, if the policy lets anybody hear of it, it is well formed, and the caller may make it.
pub(crate) fn take_next(
    envelope: &mut Envelope,
    entry: &Entry,
    gate: &GateState,
    state: &CallState,
) -> Option<Next> {
    let mut next = envelope.take_next()?;
    // A facade cannot agree for the person.
    next.params.shift_remove("confirm");
    if entry.rules.chain == Chain::Off {
        return None;
    }
    let name = |name: &str| {
        let known = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
        name.len() <= 64 && name.chars().all(known)
    };
    if next.facade.is_empty() || !name(&next.facade) || !name(&next.action) {
        let facade = &entry.surface().name;
        let (tool, action) = (printable(&next.facade), printable(&next.action));
        tracing::warn!(facade, "a next call was dropped: {tool:.80?} {action:.80?} is no tool and action");
        return None;
    }
    is_callable(&next, gate, &state.rights).then_some(next)
}

/// Whether a caller may make a call; of one that is not served now, whether it could.
fn is_callable(next: &Next, gate: &GateState, rights: &Rights) -> bool {
    if rights.are_all() || !rights.reach(&next.facade) {
        return rights.are_all();
    }
    let Some(Slot::Serving(entry)) = gate.catalog.slot(&next.facade) else { return true };
    let whole = View::whole();
    let view = rights.narrow(&entry.contract, &whole);
    view.is_some_and(|view| entry.contract.takes(entry.resolve_name(&next.action), &view).is_some())
}

/// Keeps the data of a call that another followed, while there is room: the caller asked for it, and the last result takes its
/// place.
fn keep_data(hop: &mut Hop, data: Value, room: &mut usize) {
    if data.is_null() {
        return;
    }
    let bytes = text_size(&data);
    if bytes <= *room {
        *room -= bytes;
        hop.data = Some(data);
        return;
    }
    let reason = hop.message.take().map_or_else(String::new, |reason| format!("{reason} "));
    let advice = "call it by itself to get that, with less detail or without what follows";
    hop.message = Some(format!("{reason}(its data, {} KiB, does not fit here: {advice})", bytes >> 10));
}

fn set_next(envelope: &mut Envelope, next: Next) {
    match &mut envelope.outcome {
        Ok(reply) => reply.next = Some(next),
        Err(failure) => failure.next = Some(next),
    }
}

/// A call that was made: the same one again is a circle.
#[derive(PartialEq)]
struct ChainStep {
    facade: String,
    action: String,
    params: Object,
}

impl ChainStep {
    fn from_call(planned: &PlannedCall) -> Self {
        let (facade, action) = (planned.entry.surface().name.clone(), planned.action().name.clone());
        Self { facade, action, params: planned.params.clone() }
    }

    fn to_hop(&self, envelope: &Envelope) -> Hop {
        let message = match &envelope.outcome {
            Ok(reply) => reply.message.clone(),
            Err(failure) => Some(failure.message.clone()),
        };
        Hop {
            facade: self.facade.clone(),
            action: self.action.clone(),
            ok: envelope.is_ok(),
            message,
            data: None,
        }
    }
}

/// The next call, checked; or why it is not made.
fn plan_next(
    gate: &GateState,
    from: &Entry,
    effect: Effect,
    steps: &[ChainStep],
    next: &Next,
    (detail, state): (Detail, &CallState),
) -> Result<PlannedCall, String> {
    if steps.len() > MAX_HOPS {
        return Err(format!("{MAX_HOPS} calls have followed already"));
    }
    if !from.rules.may_reach(&next.facade) {
        return Err(format!("the policy's `grants.invoke` does not name {}", printable(&next.facade)));
    }
    let input = Input::Action { action: next.action.clone(), params: next.params.clone(), detail };
    let request = Request { facade: next.facade.clone(), input, timeout: None, idempotency_key: None };
    let planned = match plan_request(&gate.catalog.snapshot(), request, &View::whole(), &state.rights) {
        CallPlan::Run(planned) => PlannedCall { confirmed: false, ..*planned },
        CallPlan::Answer(envelope) => {
            return Err(envelope.outcome.err().map_or_else(
                || "it is one of the host's own actions".to_owned(),
                |failure| failure.message,
            ));
        }
        CallPlan::AboutRun(_) | CallPlan::Batch(_) => {
            return Err("it is one of the host's own actions".to_owned());
        }
    };
    let (facade, action) = (&planned.entry.surface().name, planned.action());
    let target = format!("{facade}:{}", action.name);
    if !from.rules.may_invoke(facade, &action.name) {
        return Err(format!("the policy's `grants.invoke` does not hold \"{target}\""));
    }
    if !effect_allows(effect, action.effect) {
        return Err(format!(
            "{target} is {}, and what led to it only {}",
            action.effect.as_str(),
            effect.as_str()
        ));
    }
    if action.long_running && !state.long_running {
        return Err(format!("{target} may take long, and what led to it is waited for"));
    }
    if steps.contains(&ChainStep::from_call(&planned)) {
        return Err(format!("{target} was called with the same parameters before"));
    }
    Ok(planned)
}
