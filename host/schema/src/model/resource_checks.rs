//! Checks of the resources and views of a surface.

use std::collections::BTreeSet;

use loggia_facade::{Action, ActionResource, Effect, Surface};
use serde_json::Value;

use crate::{
    model::{
        limits,
        names::is_name,
        uri_template::{UriTemplate, parse_key_template},
    },
    text::show::name as shown,
};

/// Checks everything that a surface says about resources and views.
pub(crate) fn check_resources(out: &mut Vec<String>, surface: &Surface) {
    let mut uris = BTreeSet::new();
    for action in &surface.actions {
        let Some(resource) = &action.resource else { continue };
        let subject = format!("the resource of action `{}`", shown(&action.name));
        if !uris.insert(&resource.uri) {
            out.push(format!("{subject}: the URI `{}` belongs to another action, too", shown(&resource.uri)));
        }
        out.extend(check_resource(surface, action, resource).iter().map(|text| format!("{subject}: {text}")));
    }
}

/// The problems of one resource.
fn check_resource(surface: &Surface, action: &Action, resource: &ActionResource) -> Vec<String> {
    let mut out = Vec::new();
    if action.effect != Effect::Read {
        out.push(
            "reading it must change nothing; only an action with the effect `read` can be a resource".into(),
        );
    }
    if action.long_running {
        out.push("a long-running action cannot be a resource, because a client waits for it".into());
    }
    if let Some(mime_type) = resource.mime_type.as_deref().filter(|text| !is_mime_type(text)) {
        out.push(format!("`{}` is not a media type such as `text/markdown`", shown(mime_type)));
    }
    let template = match UriTemplate::parse(&resource.uri) {
        Ok(template) => template,
        Err(problem) => {
            out.push(format!("the URI `{}` {problem}", shown(&resource.uri)));
            return out;
        }
    };
    let variables: Vec<&str> = template.variables().collect();
    let parameters = action.params.get("properties").and_then(Value::as_object);
    for variable in &variables {
        if !parameters.is_some_and(|own| own.contains_key(*variable)) {
            out.push(format!("the action has no parameter `{variable}`, which is in the URI"));
        }
    }
    for name in required(action).filter(|name| !variables.contains(name)) {
        out.push(format!("the action requires `{}`, which is not in the URI", shown(name)));
    }
    if let Some(items) = &resource.items {
        let name = shown(items);
        match surface.action(items) {
            _ if template.is_fixed() => {
                out.push("`items` is for a URI with variables; this one is its only item".into());
            }
            None => out.push(format!("`items` names `{name}`, which is not one of the facade's actions")),
            Some(listing) if listing.effect != Effect::Read => {
                out.push(format!("`items` names `{name}`, whose effect is not `read`"));
            }
            Some(listing) if required(listing).next().is_some() => {
                out.push(format!("`items` names `{name}`, which has required parameters"));
            }
            Some(_) => {}
        }
    }
    if let Some(state) = &resource.state {
        match parse_key_template(state) {
            Err(problem) => out.push(format!("the state prefix `{}` {problem}", shown(state))),
            Ok(own) => {
                for variable in own.iter().filter(|own| !variables.contains(&own.as_str())) {
                    out.push(format!(
                        "the state prefix has the variable `{variable}`, which is not in the URI"
                    ));
                }
            }
        }
    }
    out
}

/// Checks the views, and that actions name existing ones.
pub(crate) fn check_views(out: &mut Vec<String>, surface: &Surface) {
    if surface.views.len() > limits::VIEWS {
        let (found, most) = (surface.views.len(), limits::VIEWS);
        out.push(format!("the facade has {found} views; at most {most} are allowed"));
    }
    let mut names = BTreeSet::new();
    for view in &surface.views {
        let name = shown(&view.name);
        if !is_name(&view.name) {
            out.push(format!(
                "view name \"{name}\" must be 1 to 32 characters of a-z, 0-9, `_` and `-`, the first a letter"
            ));
        }
        if !names.insert(&view.name) {
            out.push(format!("two views are named `{name}`"));
        }
        match view.html.len() {
            0 => out.push(format!("the view `{name}` is empty")),
            size if size > limits::VIEW => out.push(format!(
                "the view `{name}` has {size} bytes; at most {} are allowed, so leave out libraries and pictures",
                limits::VIEW
            )),
            _ => {}
        }
    }
    for action in &surface.actions {
        if let Some(view) = action.view.as_ref().filter(|view| surface.view(view).is_none()) {
            out.push(format!(
                "action `{}`: its view `{}` is not one of the facade's views",
                shown(&action.name),
                shown(view)
            ));
        }
    }
}

fn required(action: &Action) -> impl Iterator<Item = &str> {
    action.params.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// `type/subtype`, with parameters.
fn is_mime_type(text: &str) -> bool {
    let token = |text: &str| {
        !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "!#$&^_.+-".contains(c))
    };
    let (essence, parameters) = text.split_once(';').unwrap_or((text, ""));
    text.len() <= 128
        && essence.trim_end().split_once('/').is_some_and(|(kind, subtype)| token(kind) && token(subtype))
        && parameters.chars().all(|c| c == ' ' || c.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use loggia_facade::SurfaceView;
    use serde_json::json;

    use super::*;
    use crate::tests::fixture;

    fn resource(uri: &str) -> ActionResource {
        ActionResource { uri: uri.into(), mime_type: None, items: None, state: None }
    }

    #[test]
    fn resources_must_be_readable_by_their_uri() {
        let surface = fixture::notes();
        let at = |name: &str| surface.actions.iter().position(|action| action.name == name).unwrap();
        let check = |action: &str, resource: ActionResource, expected: &[&str]| {
            let mut surface = surface.clone();
            surface.actions[at(action)].resource = Some(resource.clone());
            let mut problems = Vec::new();
            check_resources(&mut problems, &surface);
            let cut = problems.iter().map(|text| text.split_once(": ").unwrap().1).collect::<Vec<_>>();
            assert_eq!(cut, expected, "{resource:?}");
        };
        let fine = ActionResource {
            mime_type: Some("text/markdown; charset=utf-8".into()),
            items: Some("list".into()),
            state: Some("notes/{id}".into()),
            ..resource("notes://note/{id}")
        };
        check("get", fine.clone(), &[]);
        check("list", resource("notes://all"), &[]);
        check("get", resource("notes://all"), &["the action requires `id`, which is not in the URI"]);
        check(
            "get",
            resource("notes://{id}/{other}"),
            &["the action has no parameter `other`, which is in the URI"],
        );
        check(
            "get",
            resource("{id}"),
            &["the URI `{id}` has no scheme; write, for example, `notes://note/{id}`"],
        );
        check(
            "add",
            ActionResource { mime_type: Some("markdown".into()), ..resource("notes://new/{text}") },
            &[
                "reading it must change nothing; only an action with the effect `read` can be a resource",
                "`markdown` is not a media type such as `text/markdown`",
            ],
        );
        check(
            "list",
            ActionResource { items: Some("list".into()), ..resource("notes://all") },
            &["`items` is for a URI with variables; this one is its only item"],
        );
        let items = |items: &str| ActionResource { items: Some(items.into()), ..fine.clone() };
        check("get", items("gone"), &["`items` names `gone`, which is not one of the facade's actions"]);
        check("get", items("add"), &["`items` names `add`, whose effect is not `read`"]);
        check("get", items("get"), &["`items` names `get`, which has required parameters"]);
        check(
            "get",
            ActionResource { state: Some("notes/{key}".into()), ..fine },
            &["the state prefix has the variable `key`, which is not in the URI"],
        );
    }

    #[test]
    fn views_are_named_and_bounded() {
        let check = |views: &[(&str, usize)], named: Option<&str>, expected: &[&str]| {
            let mut surface = fixture::notes();
            surface.views = views
                .iter()
                .map(|(name, size)| SurfaceView { name: (*name).into(), html: "x".repeat(*size) })
                .collect();
            surface.actions[0].view = named.map(Into::into);
            let mut problems = Vec::new();
            check_views(&mut problems, &surface);
            assert_eq!(problems, expected);
        };
        check(&[("hits", 10)], Some("hits"), &[]);
        check(&[], Some("hits"), &["action `add`: its view `hits` is not one of the facade's views"]);
        check(&[("a", 0)], None, &["the view `a` is empty"]);
        check(&[("a", 1), ("a", 1)], None, &["two views are named `a`"]);
        check(
            &[("A b", 1)],
            None,
            &["view name \"A b\" must be 1 to 32 characters of a-z, 0-9, `_` and `-`, the first a letter"],
        );
        check(
            &[("a", 200_000)],
            None,
            &[
                "the view `a` has 200000 bytes; at most 98304 are allowed, so leave out libraries and pictures",
            ],
        );
    }

    #[test]
    fn resources_of_one_facade_have_different_uris() {
        let mut surface = fixture::notes();
        for name in ["get", "list"] {
            let action = surface.actions.iter_mut().find(|action| action.name == name).unwrap();
            action.params = std::sync::Arc::new(json!({"type": "object"}).as_object().unwrap().clone());
            action.resource = Some(resource("notes://all"));
        }
        let mut problems = Vec::new();
        check_resources(&mut problems, &surface);
        assert_eq!(
            problems,
            ["the resource of action `get`: the URI `notes://all` belongs to another action, too"]
        );
    }
}
