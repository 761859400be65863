//! Checks on nested calls: the root caller's rights, the calling facade's `grants.invoke`, the target's policy, and the
//! effect of the calling action apply at every hop.

use std::{borrow::Cow, fmt::Display};

use loggia_facade::{Action, Effect, Failure, Input, Object, PeerAction, Request, Surface};
use loggia_policy::model::InvokeReach;
use loggia_schema::ToolView;
use loggia_text::printable;
use serde_json::json;

use super::frame::CallFrame;
use crate::{
    catalog::{CatalogEntry, CatalogSlot},
    failures::{denied, facade_unavailable, invalid_params, not_found},
    flow::MAX_DEPTH,
    plan::{CallPlan, PlannedCall, effect_allows, has_large_arguments, plan_request},
    schedule::run_cpu_bound,
};

/// Plan of a nested call: an answer that needs no call, or a validated call.
pub(super) enum PeerPlan {
    Answered(Box<loggia_facade::Envelope>),
    Call(Box<PlannedCall>),
}

impl CallFrame {
    /// Lists the facades that this one may call now, each with the actions that it may call.
    pub(super) fn list_peers(&self) -> Result<Vec<Surface>, Failure> {
        if self.entry.rules.invoke.is_empty() {
            let failure =
                denied(format_args!("the policy does not let `{}` call other facades", self.name()));
            return Err(failure.hint("the operator can name actions in `grants.invoke`"));
        }
        let snapshot = self.gate.catalog.snapshot();
        let others = snapshot.serving().filter(|entry| entry.surface().name != self.name());
        let seen = others.filter_map(|entry| {
            let surface = entry.surface();
            let actions: Vec<Action> = self.callable_actions(entry).cloned().collect();
            let is_listed = |default: &String| actions.iter().any(|action| action.name == *default);
            let default_action = surface.default_action.clone().filter(is_listed);
            (!actions.is_empty()).then(|| Surface { actions, default_action, ..Surface::clone(surface) })
        });
        Ok(seen.collect())
    }

    /// Looks up an action of another facade, if this one may call it.
    pub(super) fn lookup_action(&self, facade: &str, action: &str) -> Result<PeerAction, Failure> {
        self.check_reach(facade)?;
        let snapshot = self.gate.catalog.snapshot();
        let Some(CatalogSlot::Serving(entry)) = snapshot.slots.get(facade) else {
            return Err(snapshot.not_serving(facade));
        };
        self.check_named_action(entry, action)?;
        let view = self.peer_view(entry)?;
        let action = entry.contract.action_in_view(entry.resolve_name(action), &view)?;
        Ok(PeerAction {
            action: action.clone(),
            signature: entry.contract.signature(action).to_owned(),
            confirm: entry.contract.needs_confirmation(&action.name),
            is_durable: entry.facade.is_durable(),
        })
    }

    /// Runs all checks of a nested call, without the call itself.
    pub(super) fn check_request(&self, request: Request) -> Result<(), Failure> {
        match self.plan_nested(request)? {
            PeerPlan::Answered(envelope) => envelope.outcome.map(drop),
            PeerPlan::Call(_) => Ok(()),
        }
    }

    /// Resolves and validates a nested call, and checks that this call may make it.
    pub(super) fn plan_nested(&self, request: Request) -> Result<PeerPlan, Failure> {
        self.check_reach(&request.facade)?;
        let snapshot = self.gate.catalog.snapshot();
        let facade = request.facade.as_str();
        // Answered here, since the failures of the plan list all facades.
        let entry = match snapshot.slots.get(facade) {
            Some(CatalogSlot::Serving(entry)) => entry,
            Some(CatalogSlot::Unavailable(reason)) => {
                return Err(facade_unavailable(facade, reason));
            }
            None if !self.gate.catalog.is_admitted() => {
                let facade = format_args!("{facade:.80}");
                let failure = facade_unavailable(facade, "plugins are still being loaded");
                return Err(failure.hint("try again in some seconds"));
            }
            None => {
                return Err(not_found(format_args!("there is no facade `{facade:.80}`")));
            }
        };
        match &request.input {
            Input::Action { action, params, .. } => {
                self.check_named_action(entry, action)?;
                check_params(params)?;
            }
            // No port makes such requests, and their action was not checked.
            Input::Arguments(_) => {
                return Err(invalid_params("a nested call must name its action"));
            }
        }
        let view = self.peer_view(entry)?;
        let planned = run_cpu_bound(has_large_arguments(&request.input), || {
            plan_request(&snapshot, request, &view, (&self.state.rights, self.state.list))
        });
        match planned {
            CallPlan::Answer(envelope) | CallPlan::Description(_, envelope) => {
                Ok(PeerPlan::Answered(envelope))
            }
            CallPlan::Run(planned) => {
                self.check_nested_call(&planned)?;
                Ok(PeerPlan::Call(planned))
            }
            CallPlan::AboutRun(_) | CallPlan::Batch(_) | CallPlan::KeptResult { .. } => {
                Err(denied("a facade may call only another's own actions"))
            }
        }
    }

    /// Returns the actions of others that `grants.invoke` allows.
    fn reach(&self) -> InvokeReach<'_> {
        self.entry.reach()
    }

    /// Iterates over the actions of another facade that the policies of both and the caller's rights allow. The effect of
    /// the calling action is checked for each call.
    fn callable_actions<'a>(&'a self, entry: &'a CatalogEntry) -> impl Iterator<Item = &'a Action> {
        let surface = entry.surface();
        surface.actions.iter().filter(move |action| {
            self.reach().may_invoke(&surface.name, &action.name)
                && self.state.rights.allows(&surface.name, &action.name)
                && entry.contract.offers(&action.name, &ToolView::all_actions()).is_some()
        })
    }

    /// Checks the target before it is looked up: a facade must not learn which others exist.
    fn check_reach(&self, target: &str) -> Result<(), Failure> {
        if self.reach().may_reach(target) {
            return if self.state.rights.reaches(target) { Ok(()) } else { Err(self.out_of_scope(target)) };
        }
        let failure = self.not_granted(format_args!("{target:.80}"));
        Err(failure.hint("the operator can name its actions in `grants.invoke`"))
    }

    /// Refuses a call that `grants.invoke` does not allow.
    fn not_granted(&self, target: impl Display) -> Failure {
        denied(format_args!("the policy does not let `{}` call `{target}`", self.name()))
    }

    /// Narrows another facade to the actions that both this one and the root caller may call.
    fn peer_view(&self, entry: &CatalogEntry) -> Result<ToolView, Failure> {
        let facade = &entry.surface().name;
        let view = match self.reach().named_actions(facade) {
            None => Some(ToolView::all_actions()),
            Some(actions) => entry.contract.narrow_to(&ToolView::all_actions(), actions.into_iter()),
        };
        let view = view.as_ref().and_then(|view| self.state.rights.narrow(&entry.contract, view));
        view.map(Cow::into_owned).ok_or_else(|| self.out_of_scope(facade))
    }

    /// Checks whether an action of another facade may be called, as far as that is known without its parameters.
    pub(super) fn check_may_invoke(&self, facade: &str, action: &str) -> Result<(), Failure> {
        self.check_reach(facade)?;
        match self.gate.catalog.snapshot().slots.get(facade) {
            Some(CatalogSlot::Serving(entry)) => self.check_named_action(entry, action),
            _ => Ok(()),
        }
    }

    /// Refuses a call that the root caller's rights do not allow. The failure does not name the target, which this caller
    /// must not learn of through another facade; the log does.
    fn out_of_scope(&self, target: &str) -> Failure {
        let target = printable(target);
        tracing::info!(
            facade = self.name(),
            "nested call to `{target:.80}` denied: outside the caller's scopes"
        );
        let failure = denied("the caller's scopes do not allow all that this calls")
            .hint("the token needs another scope; the server's log names it");
        Failure { details: Some(json!({ "scope": null })), ..failure }
    }

    /// Checks an action by name before its parameters are validated: a facade that may call only some actions must not
    /// learn the names or, from validation errors, the parameters of the others.
    fn check_named_action(&self, entry: &CatalogEntry, action: &str) -> Result<(), Failure> {
        let facade = &entry.surface().name;
        if self.reach().may_invoke_all(facade) {
            return Ok(());
        }
        let name = entry.resolve_name(action);
        match entry.contract.action(name) {
            Ok(action) => self.check_grant(facade, action),
            Err(_) => {
                let failure = self.not_granted(format_args!("{facade}.{name:.80}"));
                let hint = format!("the operator can grant all of it by \"{facade}:*\" in `grants.invoke`");
                Err(failure.hint(hint))
            }
        }
    }

    /// Checks `grants.invoke` for one action.
    fn check_grant(&self, target: &str, action: &Action) -> Result<(), Failure> {
        if self.reach().may_invoke(target, &action.name) {
            return Ok(());
        }
        let hint = format!("the operator can add \"{target}:{}\" to `grants.invoke`", action.name);
        Err(self.not_granted(target).hint(hint))
    }

    /// Checks a validated nested call: its depth, cycles, `grants.invoke` and effects.
    fn check_nested_call(&self, planned: &PlannedCall) -> Result<(), Failure> {
        let (target, action) = (&planned.entry.surface().name, planned.action());
        if self.depth() >= MAX_DEPTH {
            return Err(denied(format_args!("calls nest at most {MAX_DEPTH} deep")));
        }
        if self.frames().any(|frame| frame.name() == target) {
            return Err(denied(format_args!("`{target}` is already waiting for this call")));
        }
        self.check_grant(target, action)?;
        let effect: Effect = self.entry.surface().actions[self.action].effect;
        if !effect_allows(effect, action.effect) {
            let (own, other) = (effect.as_str(), action.effect.as_str());
            let reason =
                format_args!("a {own} action may not call `{target}.{}`, which is {other}", action.name);
            let failure = denied(reason);
            return Err(Failure { details: Some(json!({ "effect": other })), ..failure });
        }
        Ok(())
    }
}

/// Refuses parameters that would name another action than the one that was checked.
fn check_params(params: &Object) -> Result<(), Failure> {
    let named = ["action", "cmd", "params"].into_iter().find(|name| params.contains_key(*name));
    let Some(name) = named else { return Ok(()) };
    let message = format!("`{name}` cannot be a parameter of a call that a plugin makes");
    Err(invalid_params(message).hint("Name the action in the request, next to its parameters."))
}
