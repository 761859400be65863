//! Each action as a tool of its own: `notes_add`. For clients that search their tools, and to measure the others by.
//!
//! A tool takes what its action takes, and what the host adds to that very action. `describe` and `batch` have no place
//! here: every tool shows its own parameters, and a client that makes several calls makes several calls. Runs need
//! `notes_run_status` and `notes_run_cancel`, where an action is long-running.
//!
//! To measure by, all that is left out ([`Contract::bare`]): a server that has a tool for each action has no runs, no
//! levels of detail and no confirmation either, and what Loggia adds is not to make the other side look dear.

use std::collections::HashSet;

use loggia_facade::{Action, Effect, Object};
use serde_json::json;

use crate::{
    contract::build::Contract,
    model::{
        host_action::HostAction,
        limits,
        sanitise::sanitise_line,
        shape::{ShapeMember, ValueShape},
        view::{CommandTarget, View},
    },
    publish::{host_parameters, parameters::property_schema, part::title, tool::Published},
};

impl Contract {
    /// Each action as a tool of its own, as a server that knows nothing of Loggia would list it: what the forms are
    /// measured by. The parameters are the action's own, and no tool is about runs.
    pub fn bare(&self) -> Vec<Published> {
        let surface = self.surface();
        let names = tool_names(&surface.name, surface.actions.iter().map(|action| action.name.as_str()));
        action_tools(self, &names, |_| Vec::new())
    }
}

/// Makes one tool for each action, called like the action alone where `own_names`.
pub(crate) fn publish(contract: &Contract, own_names: bool) -> Vec<Published> {
    let surface = contract.surface();
    let own = contract.host_actions().filter(|own| own.is_about_runs());
    let own: Vec<HostAction> =
        own.filter(|_| surface.actions.iter().any(|action| action.long_running)).collect();
    let names = surface.actions.iter().map(|action| action.name.as_str());
    let mut names = self::tool_names(&surface.name, names.chain(own.iter().map(|own| own.name())));
    if own_names {
        names.iter_mut().zip(&surface.actions).for_each(|(name, action)| name.clone_from(&action.name));
    }
    let mut out = action_tools(contract, &names, |action| host_parameters::for_action(contract, action));
    let tools = tool_views(contract, &names);
    let facade = title(contract);
    for (own, name) in own.iter().zip(names.iter().skip(surface.actions.len())) {
        let members = host_parameters::for_host_action(*own)
            .into_iter()
            .chain(host_parameters::beside_host_action(*own))
            .collect();
        let schema = object_schema(&ValueShape::Record { members, others: None }, Vec::new());
        let view =
            View::new(0, Some(CommandTarget::Host(*own, false)), tools.clone()).with_host_actions(&[*own]);
        let named = (name.clone(), format!("{facade}: {}", own.name()));
        let mut tool = Published::new(named, own.summary().to_owned(), schema, std::iter::empty(), view);
        if *own == HostAction::RunCancel {
            // Who ends a run twice has ended it.
            (tool.effect, tool.read_only, tool.idempotent) = (Effect::Write, false, true);
        }
        out.push(tool);
    }
    out
}

/// The facade's own actions under these names, each with what is added to its parameters.
fn action_tools(
    contract: &Contract,
    names: &[String],
    added: impl Fn(&Action) -> Vec<ShapeMember>,
) -> Vec<Published> {
    let (tools, facade) = (tool_views(contract, names), title(contract));
    let known = contract.surface().actions.iter().zip(contract.rules()).zip(names).enumerate();
    let published = known.map(|(index, ((action, rules), name))| {
        let others = tools.iter().filter(|(actions, _)| *actions != 1 << index).cloned().collect();
        let view = View::new(1 << index, Some(CommandTarget::Action(index)), others);
        let named = (name.clone(), format!("{facade}: {}", action.name));
        let description = sanitise_line(&action.summary, usize::MAX);
        let schema = object_schema(&rules.shape, added(action));
        Published::new(named, description, schema, std::iter::once(action), view)
    });
    published.collect()
}

/// Which tool takes which action.
fn tool_views(contract: &Contract, names: &[String]) -> Vec<(u64, String)> {
    let actions = names.iter().take(contract.surface().actions.len()).enumerate();
    actions.map(|(index, name)| (1 << index, name.clone())).collect()
}

/// An object schema of these parameters, plain enough for every client, and of what the host adds to them.
pub(crate) fn object_schema(shape: &ValueShape, added: Vec<ShapeMember>) -> Object {
    let (known, others) = match shape {
        ValueShape::Record { members, others } => (members.as_slice(), others.as_deref()),
        _ => (&[][..], Some(shape)),
    };
    let members: Vec<&ShapeMember> = known.iter().chain(&added).collect();
    let properties: Object =
        members.iter().map(|member| (member.name.clone(), property_schema(member))).collect();
    let required: Vec<&str> =
        members.iter().filter(|member| member.required).map(|member| member.name.as_str()).collect();
    let mut out = Object::new();
    out.insert("type".into(), "object".into());
    out.insert("properties".into(), properties.into());
    if !required.is_empty() {
        out.insert("required".into(), json!(required));
    }
    if others.is_none() {
        out.insert("additionalProperties".into(), false.into());
    }
    out
}

/// The tools' names: facade and action, shortened where that is longer than clients take.
fn tool_names<'a>(facade: &str, actions: impl Iterator<Item = &'a str>) -> Vec<String> {
    let whole: Vec<String> = actions.map(|action| format!("{facade}_{action}")).collect();
    let is_short = |name: &String| name.len() <= limits::TOOL_NAME;
    let mut taken: HashSet<String> = whole.iter().filter(|name| is_short(name)).cloned().collect();
    whole.into_iter().map(|name| if is_short(&name) { name } else { shorten(&name, &mut taken) }).collect()
}

/// As much of a name as there is room for, and a digest of the whole, so that names that begin the same stay apart.
fn shorten(name: &str, taken: &mut HashSet<String>) -> String {
    let mut digest = digest(name);
    loop {
        let end = format!("_{digest:08x}");
        let kept = name.floor_char_boundary(limits::TOOL_NAME - end.len());
        let short = format!("{}{end}", &name[..kept]);
        if taken.insert(short.clone()) {
            return short;
        }
        // There are far more digests than actions, so one is free.
        digest = digest.wrapping_add(1);
    }
}

/// The same on every machine and in every version: clients remember what they allowed by name (FNV-1a).
fn digest(name: &str) -> u32 {
    name.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}
