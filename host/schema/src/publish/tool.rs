//! A published tool.

use std::sync::Arc;

use loggia_facade::{Action, Effect, Object};

use crate::{model::view::View, publish::part::ToolPart};

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
    /// The worst over the tool's actions, since MCP's annotations are per tool.
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
    /// A tool that shows a part of a facade.
    pub(crate) fn from_part(part: &ToolPart<'_>, description: String, input_schema: Object) -> Self {
        let actions = part.actions.iter().map(|(action, _)| *action);
        Self::new(
            (part.name.clone(), part.title.clone()),
            description,
            input_schema,
            actions,
            part.view.clone(),
        )
    }

    /// A tool of this name and title, with the worst annotations over its actions.
    pub(crate) fn new<'a>(
        (name, title): (String, String),
        description: String,
        input_schema: impl Into<Arc<Object>>,
        actions: impl Iterator<Item = &'a Action> + Clone,
        view: View,
    ) -> Self {
        let effect = actions.clone().map(|action| action.effect).max().unwrap_or(Effect::Read);
        Self {
            name,
            title,
            description,
            input_schema: input_schema.into(),
            output_schema: None,
            effect,
            read_only: effect == Effect::Read,
            destructive: effect == Effect::Destructive,
            idempotent: actions.clone().all(|action| action.idempotent || action.effect == Effect::Read),
            open_world: actions.clone().any(|action| action.open_world),
            view,
        }
    }
}
