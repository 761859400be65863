//! Calls that name no action: the default action, and the failures of those that are not meant for it.

use std::collections::BTreeSet;

use loggia_facade::{Effect, Failure, Object, code};
use serde_json::Value;

use crate::{
    contract::build::Contract,
    model::view::{CommandTarget, ToolView},
    text::{near, show},
};

/// Actions that a failure names.
const NAMED: usize = 12;
/// Parameters that are read of a call. More than a person would write.
const READ: usize = 32;
/// Bytes of the example in a failure; longer ones are left out.
const EXAMPLE: usize = 1000;

impl Contract {
    /// The target of a call that names no action.
    ///
    /// # Errors
    ///
    /// If there is no default action, or if the parameters do not fit it but fit others.
    pub(crate) fn unnamed_target(&self, params: &Object, view: &ToolView) -> Result<CommandTarget, Failure> {
        let target = match view.default_target.or_else(|| self.default_target(view)) {
            Some(target) => target,
            None => return Err(self.missing_action(params, view)),
        };
        match target {
            CommandTarget::Action(default) if !view.is_single_action() => {
                self.misplaced_default(default, params, view).map_or(Ok(target), Err)
            }
            target => Ok(target),
        }
    }

    /// The target of a call that names no action, if the tool offers it.
    pub(crate) fn default_target(&self, view: &ToolView) -> Option<CommandTarget> {
        self.default_action().filter(|target| view.shows(*target)).map(CommandTarget::Action)
    }

    /// The failure for a call that names no action.
    fn missing_action(&self, params: &Object, view: &ToolView) -> Failure {
        let message = format!("`action` is required. {}", self.available(view));
        let failure = Failure::new(code::INVALID_PARAMS, message);
        let sent: Vec<&str> = params.keys().take(READ).map(String::as_str).collect();
        match misspelt_action(params, &sent) {
            Some(name) => failure.hint(format!("Did you mean `action` instead of `{}`?", show::name(name))),
            None => failure,
        }
    }

    /// The failure for parameters that the default action refuses and other actions take, all of them.
    fn misplaced_default(&self, default: usize, params: &Object, view: &ToolView) -> Option<Failure> {
        let sent: Vec<&str> =
            params.iter().filter(|(_, value)| !value.is_null()).map(|(name, _)| &**name).collect();
        let (action, rules) = (&self.surface().actions[default], self.rules_at(default));
        let foreign: Vec<&str> = sent.iter().copied().filter(|name| !rules.has(name)).collect();
        let is_lacking =
            rules.parameters().iter().any(|member| member.required && !sent.contains(&&*member.name));
        let is_refused = is_lacking || !foreign.is_empty();
        if sent.is_empty() || sent.len() > READ || !is_refused {
            return None;
        }
        let mut fitting = self.actions_taking(&sent, view);
        if foreign.is_empty() {
            // The default takes them as well, but not alone.
            fitting.retain(|fitting| fitting.lacks == 0);
        }
        let is_complete = fitting.first().is_some_and(|first| first.lacks == 0);
        let own =
            || rules.parameters().iter().map(|member| &*member.name).filter(|name| !sent.contains(name));
        // Slips in the default's own names are for its own failure, unless the call is right for another action.
        let are_slips = foreign.iter().all(|name| near::nearest(name, own()).is_some());
        let is_other_action = is_complete || (!fitting.is_empty() && !are_slips);
        let names_action = |name: &str| {
            params.get(name).and_then(Value::as_str).is_some_and(|value| self.offers(value, view).is_some())
        };
        let is_misspelt = fitting.is_empty() && misspelt_action(params, &foreign).is_some_and(names_action);
        if !(is_other_action || is_misspelt) || self.prepare_in_view(action, params.clone(), view).is_ok() {
            return None;
        }
        let Some(first) = fitting.first() else { return Some(self.missing_action(params, view)) };
        let few: Vec<String> = foreign.iter().take(3).map(|name| show::name(name)).collect();
        let reason = match few.as_slice() {
            [] => "needs other parameters".to_owned(),
            few => format!("does not take {}", show::names(few, "and")),
        };
        let names: Vec<&str> = fitting.iter().take(NAMED).map(|fitting| fitting.name).collect();
        let more = match fitting.len() - names.len() {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        let message = format!(
            "`action` is required: the default, `{}`, {reason}. Actions that take these parameters: {}{more}.",
            action.name,
            names.join(", ")
        );
        let example = self.example_of(first.target, view).filter(|example| show::fits(example, EXAMPLE));
        Some(Failure { example, ..Failure::new(code::INVALID_PARAMS, message) })
    }

    /// The actions that take parameters of all these names: those that lack no required parameter first, and among
    /// equals those that lose data last, then host actions.
    fn actions_taking(&self, sent: &[&str], view: &ToolView) -> Vec<FittingAction<'_>> {
        let Some((first, others)) = sent.split_first() else { return Vec::new() };
        let mut common: BTreeSet<usize> =
            self.owners().of(first).filter(|index| view.shows(*index)).collect();
        for name in others {
            let takers: BTreeSet<usize> = self.owners().of(name).collect();
            common.retain(|index| takers.contains(index));
        }
        let actions = common.into_iter().map(|index| {
            let action = &self.surface().actions[index];
            FittingAction {
                name: &action.name,
                target: CommandTarget::Action(index),
                lacks: lacking(&action.params, sent),
                destructive: action.effect == Effect::Destructive,
            }
        });
        let hosts = self.host_actions().filter(|host_action| {
            let rules = &self.host_rules(*host_action).rules;
            view.has_host_action(*host_action) && sent.iter().all(|name| rules.has(name))
        });
        let hosts = hosts.map(|host_action| FittingAction {
            name: host_action.name(),
            target: CommandTarget::Host(host_action, false),
            lacks: lacking(&self.host_rules(host_action).action.params, sent),
            destructive: false,
        });
        let mut fitting: Vec<FittingAction<'_>> = actions.chain(hosts).collect();
        fitting.sort_by_key(|fitting| (fitting.lacks, fitting.destructive));
        fitting
    }

    /// Arguments of a valid call of a target.
    fn example_of(&self, target: CommandTarget, view: &ToolView) -> Option<Value> {
        match target {
            CommandTarget::Action(index) => {
                self.rules_at(index).example(&self.surface().actions[index]).cloned()
            }
            CommandTarget::Host(host_action, _) => Some(self.host_example(host_action, view)),
        }
    }
}

/// An action that takes all parameters of a call.
struct FittingAction<'a> {
    name: &'a str,
    target: CommandTarget,
    /// Required parameters that the call does not have.
    lacks: usize,
    destructive: bool,
}

/// How many parameters a schema requires, as written at its root, that were not sent.
fn lacking(schema: &Object, sent: &[&str]) -> usize {
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    required.filter_map(Value::as_str).filter(|name| !sent.contains(name)).count()
}

/// The first of these parameters that seems to be `action`: as other servers call it, or misspelt.
fn misspelt_action<'a>(params: &'a Object, among: &[&str]) -> Option<&'a str> {
    let is_near =
        |name: &str| near::nearest(name, ["action", "cmd", "command", "operation", "method"]).is_some();
    let names = params.iter().filter(|(name, value)| value.is_string() && among.contains(&&***name));
    names.map(|(name, _)| name.as_str()).find(|name| is_near(name))
}
