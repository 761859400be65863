//! A facade's table as the host's own surface.

use std::sync::Arc;

use loggia_facade as host;
use serde_json::json;

use crate::{Effect, Facade, Object, Value, table};

/// Surface as the host would read it from the component.
pub(super) fn of<F: Facade>() -> Arc<host::Surface> {
    let about = &F::ABOUT;
    Arc::new(host::Surface {
        name: about.name.into(),
        title: about.title.into(),
        version: about.version.into(),
        summary: about.summary.into(),
        instructions: about.instructions.map(Into::into),
        default_action: about.default_action.map(Into::into),
        actions: F::ACTIONS.iter().map(action).collect(),
        views: about.views.iter().map(view).collect(),
        wants: about.wants.iter().map(want).collect(),
    })
}

fn action<F>(action: &table::Action<F>) -> host::Action {
    host::Action {
        name: action.name.into(),
        summary: action.summary.into(),
        effect: match action.effect {
            Effect::Read => host::Effect::Read,
            Effect::Write => host::Effect::Write,
            Effect::Destructive => host::Effect::Destructive,
        },
        idempotent: action.idempotent,
        open_world: action.open_world,
        long_running: action.long_running,
        details: action.has_details(),
        aliases: action.aliases.iter().map(|alias| (*alias).into()).collect(),
        needs: action.needs.iter().map(|need| (*need).into()).collect(),
        group: None,
        resource: action.resource.as_ref().map(resource),
        view: action.view.map(Into::into),
        params: Arc::new(action.params()),
        data: (action.data)().map(Arc::new),
        examples: action.examples.iter().map(|example| object(example)).collect(),
    }
}

fn resource(resource: &table::Resource) -> host::ActionResource {
    host::ActionResource {
        uri: resource.uri.into(),
        mime_type: resource.mime_type.map(Into::into),
        items: resource.items.map(Into::into),
        state: resource.state.map(Into::into),
    }
}

fn view(view: &table::View) -> host::SurfaceView {
    host::SurfaceView { name: view.name.into(), html: view.html.into() }
}

fn want(want: &table::Want) -> host::Want {
    host::Want { grant: want.grant.into(), reason: want.reason.into(), needed: want.needed }
}

/// Parses an example; the macro has checked that it is an object.
fn object(json: &str) -> Object {
    serde_json::from_str(json).unwrap_or_default()
}

/// Surface as JSON, without empty and false members.
pub(super) fn to_json(surface: &host::Surface) -> Value {
    let actions: Vec<_> = surface.actions.iter().map(action_to_json).collect();
    let wants: Vec<_> = surface
        .wants
        .iter()
        .map(|want| json!({"grant": want.grant, "reason": want.reason, "needed": want.needed}))
        .collect();
    without_empty(json!({
        "name": surface.name,
        "title": surface.title,
        "version": surface.version,
        "summary": surface.summary,
        "instructions": surface.instructions,
        "default_action": surface.default_action,
        "views": surface.views.iter().map(|view| &view.name).collect::<Vec<_>>(),
        "wants": wants,
        "actions": actions,
    }))
}

fn action_to_json(action: &host::Action) -> Value {
    without_empty(json!({
        "name": action.name,
        "summary": action.summary,
        "effect": action.effect.as_str(),
        "idempotent": action.idempotent,
        "open_world": action.open_world,
        "long_running": action.long_running,
        "details": action.details,
        "aliases": action.aliases,
        "needs": action.needs,
        "resource": action.resource.as_ref().map(|resource| without_empty(json!({
            "uri": resource.uri,
            "mime_type": resource.mime_type,
            "items": resource.items,
            "state": resource.state,
        }))),
        "view": action.view,
        "examples": action.examples,
        "params": *action.params,
        "data": action.data.as_deref(),
    }))
}

fn without_empty(mut value: Value) -> Value {
    if let Value::Object(members) = &mut value {
        members
            .retain(|_, member| !matches!(member, Value::Null | Value::Bool(false)) && *member != json!([]));
    }
    value
}
