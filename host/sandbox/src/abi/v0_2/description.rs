//! The surface.

use loggia_facade::{Action, ActionResource, Object, Surface, SurfaceView};

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
        views: given.views.into_iter().map(view).collect(),
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
        needs: action.needs,
        resource: action.as_resource.map(resource),
        view: action.view,
        group: None,
        params: Object::new().into(),
        data: None,
        examples: Vec::new(),
    }
}

fn resource(resource: types::ActionResource) -> ActionResource {
    let types::ActionResource { uri, mime_type, items, state, extras: _ } = resource;
    ActionResource { uri, mime_type, items, state }
}

fn view(view: types::View) -> SurfaceView {
    SurfaceView { name: view.name, html: view.html }
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
        views: Vec::new(),
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
        needs: Vec::new(),
        as_resource: action.resource.as_ref().map(to_resource),
        // Pages are for people.
        view: None,
        extras: Vec::new(),
    }
}

fn to_resource(resource: &ActionResource) -> types::ActionResource {
    let ActionResource { uri, mime_type, items, state } = resource.clone();
    types::ActionResource { uri, mime_type, items, state, extras: Vec::new() }
}
