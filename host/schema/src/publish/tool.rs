//! A published tool.

use std::sync::Arc;

use loggia_facade::{Action, Effect, Object};

use crate::{model::view::ToolView, publish::part::ToolPart};

/// One MCP tool that publishes a facade, or a part of it.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishedTool {
    /// The tool's name.
    pub name: String,
    /// The display name.
    pub title: String,
    /// The facade's summary and its actions, as far as clients show them.
    pub description: String,
    /// The accepted arguments. Looser than the gate's validation.
    pub input_schema: Arc<Object>,
    /// The schema of results, if requested.
    pub output_schema: Option<Arc<Object>>,
    /// The worst effect of the tool's actions, because MCP's annotations are per tool.
    pub effect: Effect,
    /// Whether every action only reads.
    pub read_only: bool,
    /// Whether an action may lose data permanently.
    pub destructive: bool,
    /// Whether every action that writes may be repeated.
    pub idempotent: bool,
    /// Whether an action reaches beyond this machine.
    pub open_world: bool,
    /// The actions that it offers.
    pub view: ToolView,
}

impl PublishedTool {
    /// A tool that publishes a part of a facade.
    pub(crate) fn from_part(part: &ToolPart<'_>, description: String, input_schema: Object) -> Self {
        let actions = part.actions.iter().map(|(_, action)| *action);
        Self::new(
            (part.name.clone(), part.title.clone()),
            description,
            input_schema,
            actions,
            part.view.clone(),
        )
    }

    /// A tool with the worst annotations of its actions.
    pub(crate) fn new<'a>(
        (name, title): (String, String),
        description: String,
        input_schema: impl Into<Arc<Object>>,
        actions: impl Iterator<Item = &'a Action> + Clone,
        view: ToolView,
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
