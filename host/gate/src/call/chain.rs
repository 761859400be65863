//! Calls that follow a call because its result says so.
//!
//! A facade's result may name the call that should come next. What becomes of it is the operator's choice: it is told to
//! the caller, or made by the host, or dropped. A followed call is a call like any other, with its own permit and clock;
//! it may do no more than the call that led to it, and only what the policy of the facade that named it lets that call.

use std::sync::Arc;

use loggia_facade::{Detail, Effect, Envelope, Hop, Input, Next, Object, Request};
use loggia_schema::ToolView;
use loggia_text::printable;
use serde_json::Value;

use super::{answer::root, shared::Shared};
use crate::{
    access::{Chain, Rights},
    catalog::{Entry, Slot},
    plan::{Plan, Planned, effect_allows, length, plan},
    run::Run,
};

/// Calls that may follow one.
const HOPS: usize = 5;
/// What the trail may hold of results, in bytes of text: beside the last result, which has a limit of its own.
pub(crate) const DATA: usize = 256 << 10;

/// Makes a call, and those that follow it.
pub async fn run(shared: Arc<Shared>, run: Arc<Run>, planned: Planned) -> Envelope {
    let mut entry = Arc::clone(&planned.entry);
    let follows = entry.rules.chain == Chain::Follow;
    let (mut effect, detail) = (planned.action().effect, planned.detail);
    let mut made: Vec<Made> = follows.then(|| Made::of(&planned)).into_iter().collect();
    let mut envelope = root(Arc::clone(&shared), Arc::clone(&run), planned).await;
    // The caller asked for the first call, and knows the answer by it.
    let (command, resolved) = (envelope.command.clone(), std::mem::take(&mut envelope.resolved_inputs));
    let (mut trail, mut shown, mut room) = (Vec::new(), Vec::new(), DATA);
    while let Some(next) = advise(&mut envelope, &entry, &shared, &run) {
        if entry.rules.chain != Chain::Follow {
            set_next(&mut envelope, next);
            break;
        }
        let followed = match follow(&shared, &entry, effect, &made, &next, (detail, &run)) {
            Ok(followed) => followed,
            Err(said) => {
                tracing::info!(facade = entry.surface().name, "a next call was not followed: {said}");
                set_next(&mut envelope, next);
                break;
            }
        };
        if trail.is_empty() {
            trail.extend(made.first().map(|made| made.hop(&envelope)));
        }
        entry = Arc::clone(&followed.entry);
        effect = followed.action().effect.min(effect);
        let now = Made::of(&followed);
        if let Ok(reply) = &mut envelope.outcome {
            shown.append(&mut reply.content);
            if let Some(hop) = trail.last_mut() {
                keep(hop, std::mem::take(&mut reply.data), &mut room);
            }
        }
        envelope = root(Arc::clone(&shared), Arc::clone(&run), followed).await;
        trail.push(now.hop(&envelope));
        made.push(now);
    }
    // What was shown on the way, to the person say, is shown: the trail holds messages and data alone.
    if let Ok(reply) = &mut envelope.outcome {
        reply.content.splice(0..0, shown);
    }
    Envelope { command, resolved_inputs: resolved, trail, ..envelope }
}

/// The call that should follow, if the policy lets anybody hear of it, it is well formed, and the caller may make it.
pub fn advise(envelope: &mut Envelope, entry: &Entry, shared: &Shared, run: &Run) -> Option<Next> {
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
    may_call(&next, shared, &run.rights).then_some(next)
}

/// Whether a caller may make a call; of one that is not served now, whether it could.
fn may_call(next: &Next, shared: &Shared, rights: &Rights) -> bool {
    if rights.are_all() || !rights.reach(&next.facade) {
        return rights.are_all();
    }
    let Some(Slot::Serving(entry)) = shared.catalog.slot(&next.facade) else { return true };
    let whole = ToolView::all_actions();
    let view = rights.narrow(&entry.contract, &whole);
    view.is_some_and(|view| entry.contract.offers(entry.meant(&next.action), &view).is_some())
}

/// Keeps the data of a call that another followed, while there is room: the caller asked for it, and the last result takes its
/// place.
fn keep(hop: &mut Hop, data: Value, room: &mut usize) {
    if data.is_null() {
        return;
    }
    let bytes = length(&data);
    if bytes <= *room {
        *room -= bytes;
        hop.data = Some(data);
        return;
    }
    let said = hop.message.take().map_or_else(String::new, |said| format!("{said} "));
    let advice = "call it by itself to get that, with less detail or without what follows";
    hop.message = Some(format!("{said}(its data, {} KiB, does not fit here: {advice})", bytes >> 10));
}

fn set_next(envelope: &mut Envelope, next: Next) {
    match &mut envelope.outcome {
        Ok(reply) => reply.next = Some(next),
        Err(failure) => failure.next = Some(next),
    }
}

/// A call that was made: the same one again is a circle.
#[derive(PartialEq)]
struct Made {
    facade: String,
    action: String,
    params: Object,
}

impl Made {
    fn of(planned: &Planned) -> Self {
        let (facade, action) = (planned.entry.surface().name.clone(), planned.action().name.clone());
        Self { facade, action, params: planned.params.clone() }
    }

    fn hop(&self, envelope: &Envelope) -> Hop {
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
fn follow(
    shared: &Shared,
    from: &Entry,
    effect: Effect,
    made: &[Made],
    next: &Next,
    (detail, run): (Detail, &Run),
) -> Result<Planned, String> {
    if made.len() > HOPS {
        return Err(format!("{HOPS} calls have followed already"));
    }
    if !from.rules.may_reach(&next.facade) {
        return Err(format!("the policy's `grants.invoke` does not name {}", printable(&next.facade)));
    }
    let input = Input::Action { action: next.action.clone(), params: next.params.clone(), detail };
    let request = Request { facade: next.facade.clone(), input, timeout: None, idempotency_key: None };
    let planned = match plan(&shared.catalog.snapshot(), request, &ToolView::all_actions(), &run.rights) {
        Plan::Run(planned) => Planned { confirmed: false, ..*planned },
        Plan::Answer(envelope) => {
            return Err(envelope.outcome.err().map_or_else(
                || "it is one of the host's own actions".to_owned(),
                |failure| failure.message,
            ));
        }
        Plan::AboutRun(_) | Plan::Batch(_) => return Err("it is one of the host's own actions".to_owned()),
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
    if action.long_running && !run.long {
        return Err(format!("{target} may take long, and what led to it is waited for"));
    }
    if made.contains(&Made::of(&planned)) {
        return Err(format!("{target} was called with the same parameters before"));
    }
    Ok(planned)
}
