//! Follow-up calls: a facade's result may name the call that should come next.
//!
//! The policy decides what is done with it: show it to the caller, make the call, or drop it. A followed call has its own
//! permit and clock. It may do no more than the call that led to it, and only what `grants.invoke` of the facade that
//! named it allows.

use std::sync::Arc;

use loggia_facade::{Detail, Effect, Envelope, Hop, Input, Next, Object, ReplyData, Request};
use loggia_policy::model::ChainRule;
use loggia_schema::ToolView;
use loggia_text::printable;

use super::{answer::answer_root, gate_state::GateState};
use crate::{
    access::CallerRights,
    catalog::{CatalogEntry, CatalogSlot},
    plan::{CallPlan, PlannedCall, effect_allows, plan_request, text_size},
    run::CallState,
};

/// Maximum number of calls that follow one.
const MAX_HOPS: usize = 5;
/// Bound on the results in the trail, in bytes of JSON. The last result has a limit of its own.
pub(crate) const MAX_TRAIL_DATA: usize = 256 << 10;

/// Runs a call and those that follow it.
pub(crate) async fn run_chain(gate: Arc<GateState>, state: Arc<CallState>, planned: PlannedCall) -> Envelope {
    let mut entry = Arc::clone(&planned.entry);
    let follows = entry.rules.chain == ChainRule::Follow;
    let mut walk = ChainWalk {
        gate: &gate,
        state: &state,
        detail: planned.detail,
        effect: planned.action().effect,
        steps: follows.then(|| ChainStep::from_call(&planned)).into_iter().collect(),
    };
    let mut envelope = answer_root(Arc::clone(&gate), Arc::clone(&state), planned).await;
    // The envelope echoes the first call: it is the one that the caller made.
    let (command, resolved) = (envelope.command.clone(), std::mem::take(&mut envelope.resolved_inputs));
    let (mut trail, mut shown, mut room) = (Vec::new(), Vec::new(), MAX_TRAIL_DATA);
    while let Some(next) = take_next(&mut envelope, &entry, &gate, &state) {
        if entry.rules.chain != ChainRule::Follow {
            set_next(&mut envelope, next);
            break;
        }
        let followed = match walk.plan_next(&entry, &next) {
            Ok(followed) => followed,
            Err(reason) => {
                tracing::info!(facade = entry.surface().name, "not following `next`: {reason}");
                set_next(&mut envelope, next);
                break;
            }
        };
        if trail.is_empty() {
            trail.extend(walk.steps.first().map(|step| step.to_hop(&envelope)));
        }
        entry = Arc::clone(&followed.entry);
        walk.effect = followed.action().effect.min(walk.effect);
        let step = ChainStep::from_call(&followed);
        if let Ok(reply) = &mut envelope.outcome {
            shown.append(&mut reply.content);
            if let Some(hop) = trail.last_mut() {
                keep_data(hop, std::mem::take(&mut reply.data), &mut room);
            }
        }
        envelope = answer_root(Arc::clone(&gate), Arc::clone(&state), followed).await;
        trail.push(step.to_hop(&envelope));
        walk.steps.push(step);
    }
    // Content blocks of earlier calls (images, say) are kept: the trail holds only messages and data.
    if let Ok(reply) = &mut envelope.outcome {
        reply.content.splice(0..0, shown);
    }
    Envelope { command, resolved_inputs: resolved, trail, ..envelope }
}

/// Takes the follow-up call out of an envelope. `None` if the policy drops it, it is malformed, or the caller may not
/// make it.
pub(crate) fn take_next(
    envelope: &mut Envelope,
    entry: &CatalogEntry,
    gate: &GateState,
    state: &CallState,
) -> Option<Next> {
    let mut next = envelope.take_next()?;
    // A facade cannot consent for the person.
    next.params.shift_remove("confirm");
    if entry.rules.chain == ChainRule::Off {
        return None;
    }
    let name = |name: &str| {
        let known = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
        name.len() <= 64 && name.chars().all(known)
    };
    if next.facade.is_empty() || !name(&next.facade) || !name(&next.action) {
        let facade = &entry.surface().name;
        let (tool, action) = (printable(&next.facade), printable(&next.action));
        tracing::warn!(facade, "dropping `next`: {tool:.80?} {action:.80?} is not a tool and an action");
        return None;
    }
    is_callable(&next, gate, &state.rights).then_some(next)
}

/// Checks a follow-up call against the caller's rights. A facade that is not served now is allowed if they reach it.
fn is_callable(next: &Next, gate: &GateState, rights: &CallerRights) -> bool {
    if rights.are_unrestricted() || !rights.reaches(&next.facade) {
        return rights.are_unrestricted();
    }
    let Some(CatalogSlot::Serving(entry)) = gate.catalog.slot(&next.facade) else { return true };
    let whole = ToolView::all_actions();
    let view = rights.narrow(&entry.contract, &whole);
    view.is_some_and(|view| entry.contract.offers(entry.resolve_name(&next.action), &view).is_some())
}

/// Keeps the data of a call that was followed by another, within [`MAX_TRAIL_DATA`]: the last result takes its place in the
/// envelope.
fn keep_data(hop: &mut Hop, data: ReplyData, room: &mut usize) {
    if data.is_null() {
        return;
    }
    let bytes = data.clean_text().map_or_else(|| text_size(&data), str::len);
    if bytes <= *room {
        *room -= bytes;
        hop.data = Some(data);
        return;
    }
    let reason = hop.message.take().map_or_else(String::new, |reason| format!("{reason} "));
    let advice = "call it separately to get it, with less detail or without following";
    hop.message = Some(format!("{reason}(its data, {} KiB, does not fit here: {advice})", bytes >> 10));
}

fn set_next(envelope: &mut Envelope, next: Next) {
    match &mut envelope.outcome {
        Ok(reply) => reply.next = Some(next),
        Err(failure) => failure.next = Some(next),
    }
}

/// A call of a chain. Equal calls are a cycle.
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

/// Progress along a chain: what the next call is checked against.
struct ChainWalk<'a> {
    gate: &'a GateState,
    state: &'a CallState,
    /// Detail that the caller asked for; applies to every call of the chain.
    detail: Detail,
    /// Weakest effect so far.
    effect: Effect,
    /// Calls made so far, for the cycle check. Empty if the first facade's policy does not follow.
    steps: Vec<ChainStep>,
}

impl ChainWalk<'_> {
    /// Validates the next call. The error says why it is not made.
    fn plan_next(&self, from: &CatalogEntry, next: &Next) -> Result<PlannedCall, String> {
        if self.steps.len() > MAX_HOPS {
            return Err(format!("{MAX_HOPS} calls have followed already"));
        }
        if !from.reach().may_reach(&next.facade) {
            return Err(format!("the policy's `grants.invoke` does not name {}", printable(&next.facade)));
        }
        let input =
            Input::Action { action: next.action.clone(), params: next.params.clone(), detail: self.detail };
        let request = Request::new(next.facade.clone(), input);
        let planned = match plan_request(
            &self.gate.catalog.snapshot(),
            request,
            &ToolView::all_actions(),
            (&self.state.rights, self.state.list),
        ) {
            CallPlan::Run(planned) => PlannedCall { confirmed: false, login_code: None, ..*planned },
            CallPlan::Answer(envelope) | CallPlan::Description(_, envelope) => {
                return Err(envelope.outcome.err().map_or_else(
                    || "it is one of the host's own actions".to_owned(),
                    |failure| failure.message,
                ));
            }
            CallPlan::AboutRun(_) | CallPlan::Batch(_) | CallPlan::KeptResult { .. } => {
                return Err("it is one of the host's own actions".to_owned());
            }
        };
        let (facade, action) = (&planned.entry.surface().name, planned.action());
        let target = format!("{facade}:{}", action.name);
        if !from.reach().may_invoke(facade, &action.name) {
            return Err(format!("the policy's `grants.invoke` does not hold \"{target}\""));
        }
        if !effect_allows(self.effect, action.effect) {
            return Err(format!(
                "{target} is {}, and the chain so far only {}",
                action.effect.as_str(),
                self.effect.as_str()
            ));
        }
        if action.long_running && !self.state.long_running {
            return Err(format!("{target} is long-running, and the first call of the chain is not"));
        }
        if self.steps.contains(&ChainStep::from_call(&planned)) {
            return Err(format!("{target} was called with the same parameters before"));
        }
        Ok(planned)
    }
}
