//! A facade of one action as the plugin wrote it: its schema goes to the client untouched, for clients that read all of
//! JSON Schema, and for what other servers' schemas are compared with.

use std::sync::Arc;

use crate::{
    contract::build::Contract,
    model::{
        sanitise::sanitise_line,
        view::{CommandTarget, View},
    },
    publish::{part::title, tool::Published},
};

/// Makes the raw form; none where there are several actions, since one schema cannot then tell which is called.
///
/// Nothing is added to the schema, so the host's own parameters are not published; they are understood all the same.
pub(crate) fn publish(contract: &Contract) -> Option<Published> {
    let surface = contract.surface();
    let [action] = surface.actions.as_slice() else { return None };
    let summary = sanitise_line(&surface.summary, usize::MAX);
    let description = format!("{summary}\n{}", sanitise_line(&action.summary, usize::MAX));
    let view = View::new(1, Some(CommandTarget::Action(0)), Vec::new());
    let named = (surface.name.clone(), title(contract));
    Some(Published::new(named, description, Arc::clone(&action.params), std::iter::once(action), view))
}
