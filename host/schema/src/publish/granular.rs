//! The `granular` form: one tool per action, such as `notes_add`. For clients with tool search, and as a baseline for
//! measuring the other forms.
//!
//! A tool has the parameters of its action, and those that the host adds to it. There is no `describe`, because every
//! tool shows its own parameters, and no `batch`. If calls may become runs, `notes_run_status` and
//! `notes_run_cancel` are added.
//!
//! The baseline has none of the host's additions: an ordinary server has no runs, levels of
//! detail or confirmation, and must not be charged for them.

use std::{collections::HashSet, sync::Arc};

use loggia_facade::{Action, Effect, Object};
use serde_json::json;

use crate::{
    contract::build::Contract,
    model::{
        action_set::ActionSet,
        host_action::HostAction,
        limits,
        sanitise::sanitise_line,
        shape::{ShapeMember, ValueShape},
        view::{CommandTarget, ToolView},
    },
    publish::{host_parameters, parameters::property_schema, part::title, tool::PublishedTool},
};

impl Contract {
    /// One tool per action, as a server without Loggia would list it: the baseline for measuring the forms. Without
    /// parameters and tools of the host.
    pub fn baseline_tools(&self) -> Vec<PublishedTool> {
        let surface = self.surface();
        let names = tool_names(&surface.name, surface.actions.iter().map(|action| action.name.as_str()));
        action_tools(self, &names, &Arc::default(), |_| Vec::new())
    }
}

/// Publishes one tool per action, named like the action alone if requested.
pub(crate) fn publish(contract: &Contract, own_names: bool) -> Vec<PublishedTool> {
    let surface = contract.surface();
    let host_actions = contract.host_actions().filter(|host_action| host_action.is_about_runs());
    let any_run = (0..surface.actions.len()).any(|index| contract.may_become_run(index));
    let host_actions: Vec<HostAction> = host_actions.filter(|_| any_run).collect();
    let names = surface.actions.iter().map(|action| action.name.as_str());
    let mut names = self::tool_names(
        &surface.name,
        names.chain(host_actions.iter().map(|host_action| host_action.name())),
    );
    if own_names {
        names.iter_mut().zip(&surface.actions).for_each(|(name, action)| name.clone_from(&action.name));
    }
    let tools = tool_views(&names[..surface.actions.len()]);
    let mut out =
        action_tools(contract, &names, &tools, |action| host_parameters::for_action(contract, action));
    let facade = title(contract);
    for (host_action, name) in host_actions.iter().zip(names.iter().skip(surface.actions.len())) {
        let members = host_parameters::for_host_action(*host_action)
            .into_iter()
            .chain(host_parameters::beside_host_action(*host_action))
            .collect();
        let schema = object_schema(&ValueShape::Record { members, others: None }, Vec::new());
        let target = CommandTarget::Host(*host_action, false);
        let view = ToolView::new(ActionSet::EMPTY, Some(target), Arc::clone(&tools))
            .with_host_actions(&[*host_action]);
        let named = (name.clone(), format!("{facade}: {}", host_action.name()));
        let mut tool =
            PublishedTool::new(named, host_action.summary().to_owned(), schema, std::iter::empty(), view);
        if *host_action == HostAction::RunCancel {
            // Cancelling a run twice has no further effect.
            (tool.effect, tool.read_only, tool.idempotent) = (Effect::Write, false, true);
        }
        out.push(tool);
    }
    out
}

/// One tool per action, under the given names, which know each other. `added` returns the host's parameters for an
/// action.
fn action_tools(
    contract: &Contract,
    names: &[String],
    tools: &Arc<[(ActionSet, String)]>,
    added: impl Fn(&Action) -> Vec<ShapeMember>,
) -> Vec<PublishedTool> {
    let facade = title(contract);
    let published = contract.with_rules().zip(names).map(|((index, action, rules), name)| {
        let target = CommandTarget::Action(index);
        let view = ToolView::new(ActionSet::single(index), Some(target), Arc::clone(tools));
        let named = (name.clone(), format!("{facade}: {}", action.name));
        let description = sanitise_line(&action.summary, usize::MAX);
        let schema = object_schema(&rules.shape, added(action));
        PublishedTool::new(named, description, schema, std::iter::once(action), view)
    });
    published.collect()
}

/// The tools of actions, by the names of the tools.
fn tool_views(names: &[String]) -> Arc<[(ActionSet, String)]> {
    names.iter().enumerate().map(|(index, name)| (ActionSet::single(index), name.clone())).collect()
}

/// An object schema that every client can read, with the parameters of a shape and those that the host adds.
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

/// The names of the tools: facade and action, shortened to what clients accept.
fn tool_names<'a>(facade: &str, actions: impl Iterator<Item = &'a str>) -> Vec<String> {
    let whole: Vec<String> = actions.map(|action| format!("{facade}_{action}")).collect();
    let is_short = |name: &String| name.len() <= limits::TOOL_NAME;
    let mut taken: HashSet<String> = whole.iter().filter(|name| is_short(name)).cloned().collect();
    whole.into_iter().map(|name| if is_short(&name) { name } else { shorten(&name, &mut taken) }).collect()
}

/// Shortens a name and appends a digest of the whole, so that names with the same beginning stay distinct.
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

/// FNV-1a. The digest must be stable across machines and versions, because clients remember permissions by tool name.
fn digest(name: &str) -> u32 {
    name.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}
