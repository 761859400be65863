//! Finds actions by name among those that a tool offers, and refuses the others.

use loggia_facade::{Action, Effect, Failure, code};
use serde_json::json;

use crate::{
    contract::{build::Contract, host_rules::HostRules},
    model::{
        action_policy::UnmetNeed,
        host_action::{HOST_ACTIONS, HostAction},
        limits,
        view::ToolView,
    },
    text::{
        near, show,
        verbs::{self, VerbCandidate},
    },
};

/// Actions that a failure suggests for an unknown name.
const SIMILAR: usize = 3;

impl Contract {
    /// Finds an action by name, alias, or other case.
    ///
    /// # Errors
    ///
    /// A failure that lists the available actions.
    pub fn action(&self, name: &str) -> Result<&Action, Failure> {
        self.action_in_view(name, &ToolView::all_actions())
    }

    /// Finds an action among those that a tool of this view offers.
    ///
    /// # Errors
    ///
    /// A failure that lists the available actions.
    pub fn action_in_view(&self, name: &str, view: &ToolView) -> Result<&Action, Failure> {
        let index = self.index(name).ok_or_else(|| self.unknown_action(name, view))?;
        Ok(&self.surface.actions[self.in_view(index, view)?])
    }

    /// The failure for a name that is unknown, or that the policy denies. Lists the available actions.
    pub(crate) fn unknown_action(&self, name: &str, view: &ToolView) -> Failure {
        if self.policy.deny.iter().any(|denied| denied.eq_ignore_ascii_case(name)) {
            let reason = format!("access denied: the operator does not allow `{}`", show::name(name));
            return Failure::new(code::DENIED, format!("{reason}. {}", self.available(view)));
        }
        let unmet = self.policy.unmet.iter().find(|unmet| unmet.action.eq_ignore_ascii_case(name));
        if let Some(UnmetNeed { action, grant }) = unmet {
            let message =
                format!("not configured: `{action}` needs the grant `{grant}`. {}", self.available(view));
            return Failure::new(code::UNAVAILABLE, message)
                .hint("The operator adds it to the plugin's policy file, under [grants].");
        }
        if name.eq_ignore_ascii_case(HostAction::Batch.name()) && !self.policy.batch {
            let reason = "access denied: the policy does not allow `batch`";
            return Failure::new(code::DENIED, format!("{reason}. {}", self.available(view)))
                .hint("Make the calls one by one. The operator can set `actions.batch = true`.");
        }
        let message = format!("Unknown action: \"{}\". {}", show::name(name), self.available(view));
        let failure = Failure::new(code::INVALID_PARAMS, message);
        let names = self.shown(view).flat_map(|action| std::iter::once(&action.name).chain(&action.aliases));
        let names = names.map(String::as_str).chain(self.host_action_names(view));
        if let Some(near) = near::nearest(name, names) {
            return failure.hint(format!("Did you mean \"{near}\"?"));
        }
        let synonyms = self.synonyms(name, view);
        match () {
            () if !synonyms.is_empty() => {
                failure.hint(format!("Did you mean {}?", show::names(&synonyms, "or").replace('`', "\"")))
            }
            () if self.lists_groups(view) => match self.similar(name, view) {
                similar if similar.is_empty() => failure,
                similar => {
                    failure.hint(format!("Actions with such words: {}.", show::names(&similar, "and")))
                }
            },
            () if HOST_ACTIONS.contains(&name) => {
                failure.hint("This facade has no such action; use `describe` for a list.")
            }
            () if !name.is_ascii() => failure.hint(
                "Action names contain only ASCII letters; similar characters of other scripts do not match.",
            ),
            () => failure,
        }
    }

    /// The actions whose names have a verb of the same meaning. Of the host's, only those whose first words say what they
    /// do: `run_status` runs nothing.
    fn synonyms<'a>(&'a self, name: &str, view: &'a ToolView) -> Vec<&'a str> {
        let actions = self.shown(view).map(|action| VerbCandidate {
            name: &action.name,
            destructive: action.effect == Effect::Destructive,
        });
        let host_actions = self.host_action_names(view).filter(|name| !name.contains('_'));
        let host_actions = host_actions.map(|name| VerbCandidate { name, destructive: false });
        verbs::synonyms(name, actions.chain(host_actions))
    }

    /// The actions whose names have most words of an unknown name.
    fn similar(&self, name: &str, view: &ToolView) -> Vec<&str> {
        let found = self.words().search(name, |index| view.shows(index));
        found.into_iter().take(SIMILAR).map(|index| self.surface.actions[index].name.as_str()).collect()
    }

    /// Whether a tool of this view has too many actions for a list.
    pub(crate) fn lists_groups(&self, view: &ToolView) -> bool {
        self.is_large() && view.count(&self.all) > limits::LISTED
    }

    /// `Available actions: add, list, describe.`
    pub(crate) fn available(&self, view: &ToolView) -> String {
        if self.lists_groups(view) {
            let count = view.count(&self.all);
            return format!("There are {count} actions: find the right one by `describe` with `query`.");
        }
        let names = self.shown(view).map(|action| action.name.as_str());
        let names: Vec<&str> = names.chain(self.host_action_names(view)).collect();
        format!("Available actions: {}.", names.join(", "))
    }

    fn shown<'a>(&'a self, view: &'a ToolView) -> impl Iterator<Item = &'a Action> {
        let actions = self.surface.actions.iter().enumerate();
        actions.filter(|(index, _)| view.shows(*index)).map(|(_, action)| action)
    }

    /// Checks that a tool of this view offers the action at this index.
    pub(crate) fn in_view(&self, action: usize, view: &ToolView) -> Result<usize, Failure> {
        match action {
            _ if view.shows(action) => Ok(action),
            _ if view.hides(action) => Err(self.unknown_action(&self.surface.actions[action].name, view)),
            _ if view.withholds(action) => Err(self.access_denied(action, view)),
            _ => Err(self.other_tool_failure(action, view)),
        }
    }

    /// The failure for an action that the caller's scopes do not include.
    fn access_denied(&self, action: usize, view: &ToolView) -> Failure {
        let scope = format!("{}:{}", self.surface().name, self.surface().actions[action].name);
        let reason = format!("access denied: the caller's scopes do not hold `{scope}`");
        let failure = Failure::new(code::DENIED, format!("{reason}. {}", self.available(view)))
            .hint(format!("the token needs the scope `{scope}`"));
        Failure { details: Some(json!({ "scope": scope })), ..failure }
    }

    /// Finds a host action that a tool of this view accepts, and whether its name asks for the trace.
    pub(crate) fn host_action_in(&self, name: &str, view: &ToolView) -> Option<(HostAction, bool)> {
        self.find_host_action(name).filter(|(host_action, _)| view.has_host_action(*host_action))
    }

    /// The failure for an action that another tool of the facade offers.
    fn other_tool_failure(&self, action: usize, view: &ToolView) -> Failure {
        let name = &self.surface().actions[action].name;
        let tool = view.other_tool(action).unwrap_or("another tool");
        Failure::new(
            code::INVALID_PARAMS,
            format!("`{}` is an action of the tool `{tool}`. {}", show::name(name), self.available(view)),
        )
        .hint(format!("Call the tool `{tool}` with the same arguments."))
    }
}

impl Contract {
    /// Whether calls to this facade can become runs.
    pub fn has_runs(&self) -> bool {
        self.policy().batch || !self.detachable.is_empty()
    }

    /// The host actions of this facade.
    pub(crate) fn host_actions(&self) -> impl Iterator<Item = HostAction> {
        let has = |host_action: &HostAction| match host_action {
            HostAction::Describe => true,
            HostAction::RunStatus | HostAction::RunCancel => self.has_runs(),
            HostAction::Batch => self.policy().batch,
        };
        HostAction::ALL.into_iter().filter(has)
    }

    /// The rules of a host action, as this facade shows them.
    pub(crate) fn host_rules(&self, host_action: HostAction) -> &'static HostRules {
        match host_action {
            HostAction::Describe if self.is_large() => HostRules::search(),
            host_action => HostRules::get(host_action),
        }
    }

    /// The names of the host actions that a tool of this view accepts.
    pub(crate) fn host_action_names<'a>(&'a self, view: &'a ToolView) -> impl Iterator<Item = &'a str> {
        self.host_actions()
            .filter(|host_action| view.has_host_action(*host_action))
            .map(|host_action| -> &'a str { host_action.name() })
    }

    /// Finds a host action, and whether its name asks for the trace. `status` and `result`, which other servers use
    /// for the status of a run, are aliases if the facade has no such action.
    pub(crate) fn find_host_action(&self, name: &str) -> Option<(HostAction, bool)> {
        if let Some(host_action) = HostAction::find(name) {
            return self
                .host_actions()
                .find(|known| *known == host_action)
                .map(|host_action| (host_action, false));
        }
        let is = |alias: &str| name.eq_ignore_ascii_case(alias);
        let alias = (is("status") || is("result")) && self.has_runs() && self.index(name).is_none();
        alias.then_some((HostAction::RunStatus, is("result")))
    }
}
