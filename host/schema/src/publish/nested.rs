//! The published forms with the parameters apart: `{action, params}`.
//!
//! `signatures` tells of the parameters in one line for each action, `names` not at all, and `union` in one schema for
//! each action. What the host takes beside parameters (`detail`, `wait`, `confirm`) stands beside `params`.

use loggia_facade::Object;
use serde_json::{Value, json};

use crate::{
    model::{
        shape::{Member, Shape},
        signature::brief,
    },
    publish::{
        description::{Lines, summaries, warning, with_spilled},
        flat::{action, beside, root},
        granular::plain,
        host_parameters,
        parameters::Parameters,
        part::Part,
        tool::Published,
    },
};

/// What the action is told to be.
const WHAT: &str = "What to do.";

/// Every parameter, in the fewest tokens: one line for each action, as TypeScript would write it. What the actions do
/// is for `describe` to tell, and for their names. Of the host's parameters only `confirm` needs more words than a line.
pub(crate) fn signatures(part: &Part<'_>) -> Published {
    let actions = part.actions.iter().map(|(action, rules)| {
        let (members, others) = match &rules.shape {
            Shape::Record { members, others } => (members.clone(), others.clone()),
            _ => (Vec::new(), None),
        };
        let added =
            host_parameters::of_action(part.contract, action).into_iter().filter(|member| !is_apart(member));
        let shape = Shape::Record { members: members.into_iter().chain(added).collect(), others };
        format!("{}{}", warning(action), brief(&action.name, &shape))
    });
    let own = part.own.iter().map(|own| {
        let members = host_parameters::of_own(*own).into_iter().chain(host_parameters::beside_own(*own));
        brief(own.name(), &record(members.collect()))
    });
    let Lines { description, spilled } = Lines::of(part, actions.chain(own));
    let params =
        free(with_spilled("As in its signature, untyped: string. More by `describe`.".to_owned(), &spilled));
    publish(part, description, action(part, WHAT, &[]), params, is_apart)
}

/// The names of the actions; the rest by `describe`.
pub(crate) fn names(part: &Part<'_>) -> Published {
    let Lines { description, .. } = Lines::of(part, []);
    let params = free("Ask `describe`, with the action in `of`.".to_owned());
    publish(part, description, action(part, WHAT, &[]), params, |_| true)
}

/// One schema for each action's parameters.
pub(crate) fn union(part: &Part<'_>) -> Published {
    let Lines { description, spilled } = Lines::of(part, summaries(part));
    let actions = part.actions.iter().map(|(action, rules)| branch(&action.name, &rules.shape));
    let own = part.own.iter().map(|own| branch(own.name(), &record(host_parameters::of_own(*own))));
    let branches: Vec<Value> = actions.chain(own).collect();
    publish(part, description, action(part, WHAT, &spilled), json!({"anyOf": branches}), |_| true)
}

/// Whether a host's parameter stands beside `params` where all else is in the signatures.
fn is_apart(member: &Member) -> bool {
    member.name == "confirm"
}

fn publish(
    part: &Part<'_>,
    description: String,
    action: Value,
    params: Value,
    is_beside: fn(&Member) -> bool,
) -> Published {
    let mut properties = Object::new();
    properties.insert("action".into(), action);
    properties.insert("params".into(), params);
    let mut others = Parameters::of(part.actions.iter().map(|(action, _)| action.name.as_str()).collect());
    beside(part, &mut others, is_beside);
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
