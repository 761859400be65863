//! What an MCP client sees of a facade.
//!
//! [`flat`](crate::flat) makes the default form. Whatever the form, texts are laid out here: they are the same for the
//! same surface, byte for byte, so that a model's prompt cache survives a reload.

use std::sync::Arc;

use loggia_facade::{Effect, Object, Surface};

use crate::{Contract, View, limits, text::sanitise_line};

/// One MCP tool: what a client sees of a facade, or of a part of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Published {
    /// The tool's name.
    pub name: String,
    /// A name for people.
    pub title: String,
    /// What the facade is for, and its actions, as far as clients show it.
    pub description: String,
    /// What the tool takes: looser than what the gate checks.
    pub input_schema: Arc<Object>,
    /// What its results look like, where that is asked for.
    pub output_schema: Option<Arc<Object>>,
    /// The worst over all actions, since MCP's annotations are per tool.
    pub effect: Effect,
    /// Every action only reads.
    pub read_only: bool,
    /// An action may lose something for good.
    pub destructive: bool,
    /// Every action that changes something may be repeated.
    pub idempotent: bool,
    /// An action reaches beyond this machine.
    pub open_world: bool,
    /// Which actions it takes.
    pub view: View,
}

impl Published {
    pub(crate) fn new(surface: &Surface, description: String, input_schema: Object) -> Self {
        let effect = surface.worst_effect();
        Self {
            name: surface.name.clone(),
            title: if surface.title.is_empty() { surface.name.clone() } else { surface.title.clone() },
            description,
            input_schema: Arc::new(input_schema),
            output_schema: None,
            effect,
            read_only: effect == Effect::Read,
            destructive: effect == Effect::Destructive,
            idempotent: surface.actions.iter().all(|a| a.idempotent || a.effect == Effect::Read),
            open_world: surface.actions.iter().any(|a| a.open_world),
            view: View::whole(),
        }
    }
}

/// The facade's summary and one line for each action, within what every client shows of a description; and the lines
/// that did not fit, whole.
pub(crate) fn description(contract: &Contract) -> (String, Vec<String>) {
    let surface = contract.surface();
    let mut out = sanitise_line(&surface.summary, usize::MAX);
    let mut length = units(&out);
    let mut spilled = Vec::new();
    let actions = surface.actions.iter().map(|action| (action.name.as_str(), action.summary.as_str()));
    for (name, summary) in actions.chain(contract.own().map(|own| (own.name(), own.summary()))) {
        let line = format!("{name}: {}", sanitise_line(summary, usize::MAX));
        let units = 1 + units(&line);
        if spilled.is_empty() && length + units <= limits::DESCRIPTION {
            length += units;
            out.push('\n');
            out.push_str(&line);
        } else {
            spilled.push(line);
        }
    }
    (out, spilled)
}

/// The length of a text as JavaScript clients count it.
fn units(text: &str) -> usize {
    text.encode_utf16().count()
}
