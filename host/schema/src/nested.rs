//! The published forms with the parameters apart: `{action, params}`.
//!
//! `signatures` tells of the parameters in one line for each action, `names` not at all, and `union` in one schema for
//! each action. What the host takes beside parameters (`detail`, `wait`, `confirm`) stands beside `params`.

use loggia_facade::Object;
use serde_json::{Value, json};

use crate::{
    extra,
    flat::{action, beside, root},
    granular::plain,
    lines::{Lines, said, summaries, with_spilled},
    parameters::Parameters,
    part::Part,
    publish::Published,
    shape::{Member, Shape},
    signature::signature,
};

/// Every parameter, in the fewest tokens.
pub(crate) fn signatures(part: &Part<'_>) -> Published {
    let actions = part.actions.iter().map(|(action, rules)| format!("{}: {}", rules.signature, said(action)));
    let own = part.own.iter().map(|own| signature(own.name(), &record(extra::of_own(*own))));
    let Lines { description, spilled } = Lines::of(part, actions.chain(own));
    let params = free(with_spilled("As the action's signature says.".to_owned(), &spilled));
    publish(part, description, action(part, "", &[]), params)
}

/// The names of the actions; the rest by `describe`.
pub(crate) fn names(part: &Part<'_>) -> Published {
    let Lines { description, .. } = Lines::of(part, []);
    let params = free("By action: see `describe`, with `of` naming the action.".to_owned());
    publish(part, description, action(part, "", &[]), params)
}

/// One schema for each action's parameters.
pub(crate) fn union(part: &Part<'_>) -> Published {
    let Lines { description, spilled } = Lines::of(part, summaries(part));
    let actions = part.actions.iter().map(|(action, rules)| branch(&action.name, &rules.shape));
    let own = part.own.iter().map(|own| branch(own.name(), &record(extra::of_own(*own))));
    let branches: Vec<Value> = actions.chain(own).collect();
    publish(part, description, action(part, "", &spilled), json!({"anyOf": branches}))
}

fn publish(part: &Part<'_>, description: String, action: Value, params: Value) -> Published {
    let mut properties = Object::new();
    properties.insert("action".into(), action);
    properties.insert("params".into(), params);
    let mut others = Parameters::of(part.actions.iter().map(|(action, _)| action.name.as_str()).collect());
    beside(part, &mut others);
    properties.extend(others.publish());
    Published::of(part, description, root(part, properties, false))
}

/// An object of which only words tell what is in it. It says that it is open: some clients take one without members for
/// one that must be empty.
fn free(description: String) -> Value {
    json!({"type": "object", "properties": {}, "additionalProperties": true, "description": description})
}

fn branch(name: &str, shape: &Shape) -> Value {
    let mut out = Object::new();
    // First, since it is what tells the branches apart.
    out.insert("description".into(), name.into());
    out.extend(plain(shape, Vec::new()));
    out.into()
}

fn record(members: Vec<Member>) -> Shape {
    Shape::Record { members, others: None }
}
