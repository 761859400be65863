//! The `raw` form: the schema of a facade with one action, as the plugin provides it. For clients that support all of
//! JSON Schema, and for comparison with other servers.

use std::sync::Arc;

use crate::{
    contract::build::Contract,
    model::{
        action_set::ActionSet,
        sanitise::sanitise_line,
        view::{CommandTarget, ToolView},
    },
    publish::{part::title, tool::PublishedTool},
};

/// Publishes a facade in this form; none if it has several actions, because the schema cannot distinguish them.
///
/// The host's parameters are accepted, but not published.
pub(crate) fn publish(contract: &Contract) -> Option<PublishedTool> {
    let surface = contract.surface();
    let [action] = surface.actions.as_slice() else { return None };
    let summary = sanitise_line(&surface.summary, usize::MAX);
    let description = format!("{summary}\n{}", sanitise_line(&action.summary, usize::MAX));
    let view = ToolView::new(ActionSet::single(0), Some(CommandTarget::Action(0)), Arc::default());
    let named = (surface.name.clone(), title(contract));
    Some(PublishedTool::new(named, description, Arc::clone(&action.params), std::iter::once(action), view))
}
