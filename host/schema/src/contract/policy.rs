//! Applies an operator's policy to a contract.

use std::{collections::HashSet, sync::Arc};

use crate::{
    contract::build::Contract,
    model::{
        action_policy::{ActionPolicy, ConsentSource, UnmetNeed},
        action_set::ActionSet,
        bounds::SurfaceProblems,
    },
    text::{near, show},
};

impl Contract {
    /// Applies an operator's policy.
    ///
    /// # Errors
    ///
    /// If the policy names an action that the facade does not have, because an operator who misspells an action would
    /// believe it denied; or if it leaves no action.
    pub fn with_policy(mut self, terms: ActionPolicy) -> Result<Self, SurfaceProblems> {
        let mut problems = Vec::new();
        for (key, names) in [("deny", &terms.deny), ("confirm", &terms.confirm), ("record", &terms.record)] {
            for name in names.iter().filter(|name| self.index_of_name(name).is_none()) {
                let known = self.surface.actions.iter().map(|action| action.name.as_str());
                let near = near::nearest(name, known);
                let near = near.map_or(String::new(), |near| format!("; did you mean \"{near}\"?"));
                problems.push(format!(
                    "the policy's `actions.{key}` names \"{}\", which `{}` does not have{near}",
                    show::name(name),
                    self.surface.name
                ));
            }
        }
        let unmet = terms.unmet.iter().map(|unmet| &unmet.action);
        let denied: HashSet<&str> = terms.deny.iter().chain(unmet).map(String::as_str).collect();
        if !problems.is_empty() {
            return Err(SurfaceProblems(problems));
        }
        if self.surface.actions.iter().all(|action| denied.contains(action.name.as_str())) {
            let problem = match terms.unmet.first() {
                None => {
                    "the policy's `actions.deny` leaves no action: remove the plugin from the folder instead"
                        .to_owned()
                }
                Some(UnmetNeed { action, grant }) => format!(
                    "the policy leaves no action: `{}` needs the grant `{}`",
                    show::name(action),
                    show::name(grant)
                ),
            };
            return Err(SurfaceProblems(vec![problem]));
        }
        if !denied.is_empty() {
            let mut surface = (*self.surface).clone();
            self.rules.retain(|index| !denied.contains(surface.actions[index].name.as_str()));
            surface.actions.retain(|action| !denied.contains(action.name.as_str()));
            surface.default_action = surface.default_action.filter(|name| !denied.contains(name.as_str()));
            self = Self::from_parts(Arc::new(surface), self.rules);
        }
        self.confirmed =
            ActionSet::from_indices(terms.confirm.iter().filter_map(|name| self.index_of_name(name)));
        if terms.confirm_by == ConsentSource::Person {
            self.detachable = self.detachable.union(&self.confirmed);
        }
        self.policy = terms;
        Ok(self)
    }

    /// The operator's policy.
    pub fn policy(&self) -> &ActionPolicy {
        &self.policy
    }

    /// Whether calls of an action may become runs: it is long-running, or may wait for a person outside of the client.
    pub(crate) fn may_become_run(&self, index: usize) -> bool {
        self.detachable.contains(index)
    }

    /// Whether a model confirms an action by `confirm: true`, where its client cannot ask a person.
    pub(crate) fn is_confirmed_by_model(&self, action: &str) -> bool {
        self.policy.confirm_by == ConsentSource::Model && self.needs_confirmation(action)
    }

    /// Whether an action needs a person's confirmation.
    pub fn needs_confirmation(&self, action: &str) -> bool {
        !self.confirmed.is_empty()
            && self.index_of_name(action).is_some_and(|index| self.confirmed.contains(index))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{contract::routed::CallTarget, model::view::ToolView, tests::fixture};

    fn under(terms: ActionPolicy) -> Result<Contract, SurfaceProblems> {
        Contract::new(Arc::new(fixture::notes())).unwrap().with_policy(terms)
    }

    #[test]
    fn denied_actions_are_not_listed_and_refused() {
        let contract =
            under(ActionPolicy { deny: vec!["delete".into()], ..ActionPolicy::default() }).unwrap();
        assert!(contract.surface().action("delete").is_none());
        for name in ["delete", "RM"] {
            let call = json!({"action": name, "id": "n_1"}).as_object().unwrap().clone();
            let refused = contract.route(call, &ToolView::all_actions()).unwrap_err();
            if name == "delete" {
                assert_eq!(refused.failure.code, "denied");
                assert!(refused.failure.message.starts_with("access denied"), "{}", refused.failure.message);
            }
        }
        let call = json!({"action": "search", "query": "x"}).as_object().unwrap().clone();
        let CallTarget::Action { action, params } =
            contract.route(call, &ToolView::all_actions()).unwrap().target
        else {
            panic!()
        };
        let action = &contract.surface().actions[action];
        assert_eq!(action.name, "search");
        assert!(contract.prepare(action, params).is_ok());
    }

    #[test]
    fn actions_without_their_grant_are_not_configured() {
        let unmet = |actions: &[&str]| {
            let needs = |action: &&str| UnmetNeed { action: (*action).into(), grant: "config: index".into() };
            under(ActionPolicy { unmet: actions.iter().map(needs).collect(), ..ActionPolicy::default() })
        };
        let contract = unmet(&["search"]).unwrap();
        assert!(contract.surface().action("search").is_none());
        let call = json!({"action": "Search", "query": "x"}).as_object().unwrap().clone();
        let failure = contract.route(call, &ToolView::all_actions()).unwrap_err().failure;
        assert_eq!((&*failure.code, failure.hint.is_some()), ("unavailable", true), "{failure:?}");
        let start = "not configured: `search` needs the grant `config: index`. Available actions: ";
        assert!(failure.message.starts_with(start), "{}", failure.message);
        let all: Vec<String> = fixture::notes().actions.into_iter().map(|action| action.name).collect();
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        assert_eq!(
            unmet(&all).unwrap_err().to_string(),
            format!("the policy leaves no action: `{}` needs the grant `config: index`", all[0])
        );
    }

    #[test]
    fn policies_that_name_unknown_actions_are_refused() {
        let problems = |terms| under(terms).unwrap_err().to_string();
        let misspelt = ActionPolicy {
            deny: vec!["delte".into()],
            confirm: vec!["purge".into()],
            batch: false,
            ..ActionPolicy::default()
        };
        assert_eq!(
            problems(misspelt),
            "the policy's `actions.deny` names \"delte\", which `notes` does not have; did you mean \"delete\"?\n\
             the policy's `actions.confirm` names \"purge\", which `notes` does not have"
        );
        let all = fixture::notes().actions.iter().map(|action| action.name.clone()).collect();
        assert!(problems(ActionPolicy { deny: all, ..ActionPolicy::default() }).contains("leaves no action"));
    }
}
