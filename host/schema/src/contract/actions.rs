//! Finds actions by name, among those that a tool shows, and refuses the others.

use loggia_facade::{Action, Failure, code};
use serde_json::json;

use crate::{
    contract::build::Contract,
    model::{host_action::HostAction, view::View},
    text::{near, show},
};

impl Contract {
    /// The action by name, alias, or other case; otherwise a failure that lists the available actions.
    pub fn action(&self, name: &str) -> Result<&Action, Failure> {
        self.action_in(name, &View::whole())
    }

    /// The same among the actions that a tool of this view takes.
    pub fn action_in(&self, name: &str, view: &View) -> Result<&Action, Failure> {
        let index = self.index(name).ok_or_else(|| self.unknown_action(name, view))?;
        Ok(&self.surface.actions[self.in_view(index, view)?])
    }

    /// Says that there is no such action, or that it is not to be called, and which there are.
    pub(crate) fn unknown_action(&self, name: &str, view: &View) -> Failure {
        if self.terms.deny.iter().any(|denied| denied.eq_ignore_ascii_case(name)) {
            let said = format!("access denied: the operator does not allow `{}`", show::name(name));
            return Failure::new(code::DENIED, format!("{said}. {}", self.available(view)));
        }
        if name.eq_ignore_ascii_case(HostAction::Batch.name()) && !self.terms.batch {
            let said = "access denied: the policy does not allow `batch`";
            return Failure::new(code::DENIED, format!("{said}. {}", self.available(view)))
                .hint("Make the calls one by one. The operator can set `actions.batch = true`.");
        }
        let message = format!("Unknown action: \"{}\". {}", show::name(name), self.available(view));
        let failure = Failure::new(code::INVALID_PARAMS, message);
        let names = self.shown(view).flat_map(|action| std::iter::once(&action.name).chain(&action.aliases));
        let names = names.map(String::as_str).chain(self.host_action_names(view));
        match near::nearest(name, names) {
            Some(near) => failure.hint(format!("Did you mean \"{near}\"?")),
            None if HostAction::NAMES.contains(&name) => {
                failure.hint("This facade has no such action; `describe` lists what it has.")
            }
            None if !name.is_ascii() => {
                failure.hint("Names of actions hold ASCII letters only; others may look like them.")
            }
            None => failure,
        }
    }

    /// `Available actions: add, list, describe.`
    pub(crate) fn available(&self, view: &View) -> String {
        let names = self.shown(view).map(|action| action.name.as_str());
        let names: Vec<&str> = names.chain(self.host_action_names(view)).collect();
        format!("Available actions: {}.", names.join(", "))
    }

    fn shown<'a>(&'a self, view: &'a View) -> impl Iterator<Item = &'a Action> {
        let actions = self.surface.actions.iter().enumerate();
        actions.filter(|(index, _)| view.shows(*index)).map(|(_, action)| action)
    }

    /// The action at this place in the surface, if a tool of this view takes it; else why not.
    pub(crate) fn in_view(&self, action: usize, view: &View) -> Result<usize, Failure> {
        match action {
            _ if view.shows(action) => Ok(action),
            _ if view.withholds(action) => Err(self.access_denied(action, view)),
            _ => Err(self.other_tool_failure(action, view)),
        }
    }

    /// Refuses an action that the caller may not call.
    fn access_denied(&self, action: usize, view: &View) -> Failure {
        let scope = format!("{}:{}", self.surface().name, self.surface().actions[action].name);
        let said = format!("access denied: the caller's scopes do not hold `{scope}`");
        let failure = Failure::new(code::DENIED, format!("{said}. {}", self.available(view)))
            .hint(format!("the token needs the scope `{scope}`"));
        Failure { details: Some(json!({ "scope": scope })), ..failure }
    }

    /// The host's action of this name, if a tool of this view takes it, and whether it was asked for with its trace.
    pub(crate) fn host_action_in(&self, name: &str, view: &View) -> Option<(HostAction, bool)> {
        self.find_host_action(name).filter(|(own, _)| view.has_host_action(*own))
    }

    /// Refuses an action that another tool of the same facade shows.
    fn other_tool_failure(&self, action: usize, view: &View) -> Failure {
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
    /// Whether calls of this facade can become runs.
    pub fn has_runs(&self) -> bool {
        self.terms().batch || self.surface().actions.iter().any(|action| action.long_running)
    }

    /// The host's actions that this facade has.
    pub(crate) fn host_actions(&self) -> impl Iterator<Item = HostAction> {
        let has = |own: &HostAction| match own {
            HostAction::Describe => true,
            HostAction::RunStatus | HostAction::RunCancel => self.has_runs(),
            HostAction::Batch => self.terms().batch,
        };
        HostAction::ALL.into_iter().filter(has)
    }

    /// The names of the host's actions that a tool of this facade takes.
    pub(crate) fn host_action_names<'a>(&'a self, view: &'a View) -> impl Iterator<Item = &'a str> {
        self.host_actions().filter(|own| view.has_host_action(*own)).map(|own| -> &'a str { own.name() })
    }

    /// The host's action of this name, and whether it was asked for with its trace. `status` and `result` are what
    /// other servers call a run's status; they mean it where the facade has no such action of its own.
    pub(crate) fn find_host_action(&self, name: &str) -> Option<(HostAction, bool)> {
        if let Some(own) = HostAction::find(name) {
            return self.host_actions().find(|known| *known == own).map(|own| (own, false));
        }
        let is = |alias: &str| name.eq_ignore_ascii_case(alias);
        let alias = (is("status") || is("result")) && self.has_runs() && self.index(name).is_none();
        alias.then_some((HostAction::RunStatus, is("result")))
    }
}
