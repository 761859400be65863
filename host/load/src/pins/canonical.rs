//! A surface as the text that its digest covers.
//!
//! The digest is kept for years, so it must not depend on how this build represents a surface: members with default values are
//! left out, and a new member is added to the end. The facade's name and the plugin's own version are no part of it: the lock has the
//! name, and a version number tells nothing to a model.

use loggia_facade::{Action, Surface};
use loggia_sandbox::ArtifactDigest;
use serde_json::{Map, Value, json};

/// Computes the digest of a surface, as `sha256:…`.
pub fn surface_digest(surface: &Surface) -> String {
    let text = to_json(surface).to_string();
    format!("sha256:{}", ArtifactDigest::of(text.as_bytes()))
}

fn to_json(surface: &Surface) -> Value {
    let actions = surface.actions.iter().map(action_to_json).collect::<Vec<_>>();
    let views = surface.views.iter().map(|view| json!([view.name, view.html])).collect::<Vec<_>>();
    let wants = surface.wants.iter().map(|want| json!([want.grant, want.reason, want.needed]));
    without_defaults([
        ("title", json!(surface.title)),
        ("summary", json!(surface.summary)),
        ("instructions", json!(surface.instructions)),
        ("default_action", json!(surface.default_action)),
        ("actions", json!(actions)),
        ("views", json!(views)),
        ("wants", json!(wants.collect::<Vec<_>>())),
    ])
}

fn action_to_json(action: &Action) -> Value {
    let resource = action
        .resource
        .as_ref()
        .map(|resource| json!([resource.uri, resource.mime_type, resource.items, resource.state]));
    without_defaults([
        ("name", json!(action.name)),
        ("summary", json!(action.summary)),
        ("effect", json!(action.effect.as_str())),
        ("idempotent", json!(action.idempotent)),
        ("open_world", json!(action.open_world)),
        ("long_running", json!(action.long_running)),
        ("details", json!(action.details)),
        ("aliases", json!(action.aliases)),
        ("needs", json!(action.needs)),
        ("group", json!(action.group)),
        ("resource", json!(resource)),
        ("view", json!(action.view)),
        ("params", json!(action.params)),
        ("data", json!(action.data)),
        ("examples", json!(action.examples)),
    ])
}

fn without_defaults(members: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    let is_default = |value: &Value| match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    };
    let members = members.into_iter().filter(|(_, value)| !is_default(value));
    members.map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>().into()
}

#[cfg(test)]
mod tests {
    use loggia_facade::{Effect, SurfaceView, Want};

    use super::*;
    use crate::pins::fixture::surface;

    #[test]
    fn digests_stay_the_same_over_releases() {
        insta::assert_snapshot!(to_json(&surface()).to_string());
    }

    #[test]
    fn everything_published_is_covered() {
        type Change = fn(&mut Surface);
        let before = surface_digest(&surface());
        let same: [(&str, Change); 2] =
            [("name", |s| s.name = "other".into()), ("version", |s| s.version = "9.9.9".into())];
        for (what, change) in same {
            let mut changed = surface();
            change(&mut changed);
            assert_eq!(surface_digest(&changed), before, "{what}");
        }
        let others: [(&str, Change); 12] = [
            ("title", |s| s.title.push('x')),
            ("summary", |s| s.summary.push('x')),
            ("instructions", |s| s.instructions = Some("x".into())),
            ("default action", |s| s.default_action = Some("add".into())),
            ("action's summary", |s| s.actions[0].summary.push('x')),
            ("effect", |s| s.actions[0].effect = Effect::Destructive),
            ("idempotent", |s| s.actions[0].idempotent ^= true),
            ("aliases", |s| s.actions[0].aliases.push("x".into())),
            ("schema", |s| {
                drop(std::sync::Arc::make_mut(&mut s.actions[0].params).insert("x".into(), json!(1)))
            }),
            ("examples", |s| s.actions[0].examples.push(Map::new())),
            ("view", |s| s.views.push(SurfaceView { name: "x".into(), html: "x".into() })),
            ("want", |s| {
                s.wants.push(Want { grant: "dirs".into(), reason: String::new(), needed: false });
            }),
        ];
        for (what, change) in others {
            let mut changed = surface();
            change(&mut changed);
            assert_ne!(surface_digest(&changed), before, "{what}");
        }
    }
}
