//! The surface, which has neither resources nor views in 0.1, and grants of actions only as an extra.

use loggia_facade::{Action, Object, Surface};

use super::{bindings::types, from_guest, to_guest};
use crate::contract::RawDescription;

/// Converts the description of a plugin.
pub(super) fn from_plugin(given: types::Description) -> RawDescription {
    let mut action_extras = Vec::new();
    let actions = given.actions.into_iter().map(|mut given| {
        action_extras.push(std::mem::take(&mut given.extras));
        action(given)
    });
    let surface = Surface {
        name: given.name,
        title: given.title,
        version: given.version,
        summary: given.summary,
        instructions: given.instructions,
        default_action: given.default_action,
        actions: actions.collect(),
        views: Vec::new(),
        wants: given.wants.into_iter().map(from_guest::want).collect(),
    };
    RawDescription { surface, extras: given.extras, action_extras }
}

fn action(action: types::Action) -> Action {
    Action {
        name: action.name,
        summary: action.summary,
        effect: from_guest::effect(action.effect),
        idempotent: action.idempotent,
        open_world: action.open_world,
        long_running: action.long_running,
        details: action.details,
        aliases: action.aliases,
        needs: Vec::new(),
        resource: None,
        view: None,
        group: None,
        params: Object::new().into(),
        data: None,
        examples: Vec::new(),
    }
}

/// Describes a facade to another one that may call it.
pub(super) fn to_plugin(surface: &Surface) -> types::Description {
    types::Description {
        name: surface.name.clone(),
        title: surface.title.clone(),
        version: surface.version.clone(),
        summary: surface.summary.clone(),
        instructions: surface.instructions.clone(),
        actions: surface.actions.iter().map(to_action).collect(),
        default_action: surface.default_action.clone(),
        // Only the operator needs to know what a plugin wants.
        wants: Vec::new(),
        extras: Vec::new(),
    }
}

fn to_action(action: &Action) -> types::Action {
    types::Action {
        name: action.name.clone(),
        summary: action.summary.clone(),
        effect: to_guest::effect(action.effect),
        idempotent: action.idempotent,
        open_world: action.open_world,
        long_running: action.long_running,
        details: action.details,
        aliases: action.aliases.clone(),
        extras: Vec::new(),
    }
}
