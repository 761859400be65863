//! What a facade may know of others, and may call: the rights of the caller from whom it all comes, its own grant, the
//! target's policy, and the effect of the action that it is answering, at every hop.

use std::borrow::Cow;

use loggia_facade::{Action, Effect, Failure, Input, Object, Request, Surface, code};
use loggia_schema::ToolView;
use loggia_text::printable;
use serde_json::json;

use super::frame::Line;
use crate::{
    catalog::{Entry, Slot},
    flow::DEPTH,
    plan::{Plan, Planned, effect_allows, is_long, plan},
    schedule::aside,
};

/// What is asked of another facade: a call of it, or an answer that needs none.
pub enum Asked {
    Answered(Box<loggia_facade::Envelope>),
    Call(Box<Planned>),
}

impl Line {
    /// The facades that this one may call now, each with the actions that it may call.
    pub(super) fn facades(&self) -> Result<Vec<Surface>, Failure> {
        if self.entry.rules.invoke.is_empty() {
            let said = format!("access denied: the policy does not let `{}` call other facades", self.name());
            return Err(
                Failure::new(code::DENIED, said).hint("the operator can name actions in `grants.invoke`")
            );
        }
        let snapshot = self.shared.catalog.snapshot();
        let others = snapshot.serving().filter(|entry| entry.surface().name != self.name());
        let seen = others.filter_map(|entry| {
            let surface = entry.surface();
            let actions: Vec<Action> = self.callable(entry).cloned().collect();
            let is_told = |default: &String| actions.iter().any(|action| action.name == *default);
            let default_action = surface.default_action.clone().filter(is_told);
            (!actions.is_empty()).then(|| Surface { actions, default_action, ..Surface::clone(surface) })
        });
        Ok(seen.collect())
    }

    /// One action of another facade that this one may call.
    pub(super) fn lookup(&self, facade: &str, action: &str) -> Result<Action, Failure> {
        self.may_reach(facade)?;
        let snapshot = self.shared.catalog.snapshot();
        if let Some(Slot::Serving(entry)) = snapshot.slots.get(facade) {
            self.may_ask_of(entry, action)?;
            let view = self.view_of(entry)?;
            return entry.contract.action_in_view(entry.meant(action), &view).cloned();
        }
        snapshot.lookup(facade, action)
    }

    /// Whether a call would be made: everything but the call itself.
    pub(super) fn check(&self, request: Request) -> Result<(), Failure> {
        match self.plan(request)? {
            Asked::Answered(envelope) => envelope.outcome.map(drop),
            Asked::Call(_) => Ok(()),
        }
    }

    /// Looks a call up, validates it, and makes sure that this call may make it.
    pub(super) fn plan(&self, request: Request) -> Result<Asked, Failure> {
        self.may_reach(&request.facade)?;
        let snapshot = self.shared.catalog.snapshot();
        let facade = request.facade.as_str();
        // Told here rather than by the plan, which names all facades that there are.
        let entry = match snapshot.slots.get(facade) {
            Some(Slot::Serving(entry)) => entry,
            Some(Slot::Unavailable(reason)) => {
                let said = format!("`{facade}` is unavailable: {reason}");
                return Err(Failure::new(code::UNAVAILABLE, said));
            }
            None if !self.shared.catalog.is_admitted() => {
                let said = format!("`{facade:.80}` is unavailable: plugins are still being loaded");
                return Err(Failure::new(code::UNAVAILABLE, said).hint("try again in some seconds"));
            }
            None => {
                let said = format!("not found: there is no facade `{facade:.80}`");
                return Err(Failure::new(code::NOT_FOUND, said));
            }
        };
        match &request.input {
            Input::Action { action, params, .. } => {
                self.may_ask_of(entry, action)?;
                one_action(params)?;
            }
            // Nobody makes these from within a call; what names its action elsewhere was not looked at.
            Input::Arguments(_) => {
                return Err(Failure::new(code::INVALID_PARAMS, "a call from within a call names its action"));
            }
        }
        let view = self.view_of(entry)?;
        let planned = aside(is_long(&request.input), || plan(&snapshot, request, &view, &self.run.rights));
        match planned {
            Plan::Answer(envelope) => Ok(Asked::Answered(envelope)),
            Plan::Run(planned) => {
                self.may_call(&planned)?;
                Ok(Asked::Call(planned))
            }
            Plan::AboutRun(_) | Plan::Batch(_) => {
                let said = "access denied: a facade may call only another's own actions";
                Err(Failure::new(code::DENIED, said))
            }
        }
    }

    /// The actions of another facade that this one may call, by policy of both and by the caller's rights. Which of them
    /// a call may make, its own action's effect decides as well.
    fn callable<'a>(&'a self, entry: &'a Entry) -> impl Iterator<Item = &'a Action> {
        let surface = entry.surface();
        surface.actions.iter().filter(move |action| {
            self.entry.rules.may_invoke(&surface.name, &action.name)
                && self.run.rights.allow(&surface.name, &action.name)
                && entry.contract.offers(&action.name, &ToolView::all_actions()).is_some()
        })
    }

    /// Before anything is looked up: what is there is not this facade's to know.
    fn may_reach(&self, target: &str) -> Result<(), Failure> {
        if self.entry.rules.may_reach(target) {
            return if self.run.rights.reach(target) { Ok(()) } else { Err(self.unreached(target)) };
        }
        let said = format!("the policy does not let `{}` call `{target:.80}`", self.name());
        let failure = Failure::new(code::DENIED, format!("access denied: {said}"));
        Err(failure.hint("the operator can name its actions in `grants.invoke`"))
    }

    /// What another facade is for this one, in a call of this caller: what neither may call is not there.
    fn view_of(&self, entry: &Entry) -> Result<ToolView, Failure> {
        let facade = &entry.surface().name;
        let granted = |action: &str| self.entry.rules.may_invoke(facade, action);
        let view = entry.contract.narrow(&ToolView::all_actions(), granted);
        let view = view.as_ref().and_then(|view| self.run.rights.narrow(&entry.contract, view));
        view.map(Cow::into_owned).ok_or_else(|| self.unreached(facade))
    }

    /// Whether an action of another facade may be called, as far as that is known before its parameters are looked at.
    pub(super) fn may_ask(&self, facade: &str, action: &str) -> Result<(), Failure> {
        self.may_reach(facade)?;
        match self.shared.catalog.snapshot().slots.get(facade) {
            Some(Slot::Serving(entry)) => self.may_ask_of(entry, action),
            _ => Ok(()),
        }
    }

    /// Without its name: what the caller does not reach, it should not learn of by way of another.
    fn unreached(&self, target: &str) -> Failure {
        let target = printable(target);
        tracing::info!(
            facade = self.name(),
            "it may not call `{target:.80}`: its caller's scopes do not reach that"
        );
        let said = "access denied: the caller's scopes do not allow all that this calls";
        let failure = Failure::new(code::DENIED, said)
            .hint("the token needs another scope: which, the operator finds in the server's log");
        Failure { details: Some(json!({ "scope": null })), ..failure }
    }

    /// Before an action is looked up: whoever may call some of a facade's actions is told of these alone, neither of the
    /// others' names nor, by what is wrong with a request, of what they take.
    fn may_ask_of(&self, entry: &Entry, action: &str) -> Result<(), Failure> {
        let facade = &entry.surface().name;
        if self.entry.rules.may_invoke_all(facade) {
            return Ok(());
        }
        let name = entry.meant(action);
        match entry.contract.action(name) {
            Ok(action) => self.may_invoke(facade, action),
            Err(_) => {
                let said = format!("the policy does not let `{}` call `{facade}.{name:.80}`", self.name());
                let failure = Failure::new(code::DENIED, format!("access denied: {said}"));
                Err(failure
                    .hint(format!("the operator can grant all of it by \"{facade}:*\" in `grants.invoke`")))
            }
        }
    }

    fn may_invoke(&self, target: &str, action: &Action) -> Result<(), Failure> {
        if self.entry.rules.may_invoke(target, &action.name) {
            return Ok(());
        }
        let said = format!("access denied: the policy does not let `{}` call `{target}`", self.name());
        let hint = format!("the operator can add \"{target}:{}\" to `grants.invoke`", action.name);
        Err(Failure::new(code::DENIED, said).hint(hint))
    }

    /// Whether this call may make that one: by depth, by who waits already, by policy, by effect.
    fn may_call(&self, planned: &Planned) -> Result<(), Failure> {
        let (target, action) = (&planned.entry.surface().name, planned.action());
        let denied = |said: String| Err(Failure::new(code::DENIED, format!("access denied: {said}")));
        if self.depth() >= DEPTH {
            return denied(format!("calls nest at most {DEPTH} deep"));
        }
        if self.chain().any(|line| line.name() == target) {
            return denied(format!("`{target}` is already waiting for this call"));
        }
        self.may_invoke(target, action)?;
        let effect: Effect = self.entry.surface().actions[self.action].effect;
        if !effect_allows(effect, action.effect) {
            let (own, other) = (effect.as_str(), action.effect.as_str());
            return denied(format!(
                "a {own} action may not call `{target}.{}`, which is {other}",
                action.name
            ));
        }
        Ok(())
    }
}

/// The action that was looked at must be the one that is called: the parameters name no other.
fn one_action(params: &Object) -> Result<(), Failure> {
    let named = ["action", "cmd", "params"].into_iter().find(|name| params.contains_key(*name));
    let Some(name) = named else { return Ok(()) };
    let said = format!("`{name}` cannot be a parameter of a call that a plugin makes");
    Err(Failure::new(code::INVALID_PARAMS, said)
        .hint("Name the action in the request, beside its parameters."))
}
