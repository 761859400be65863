//! Guards of a call: asked before it runs, and before anyone sees its outcome. Whatever a guard does wrong, nothing passes.

use std::sync::{Arc, atomic::Ordering};

use loggia_facade::{
    CallGuard, Effect, Failure, Fault, GuardVerdict, GuardedCall, Object, Reply, json, render_outcome,
    replace_outcome,
};
use loggia_text::printable;
use serde_json::json;
use tokio::task::yield_now;

use super::{
    audit::{self, AuditedGuard, GuardMoment},
    call_span,
    frame::CallFrame,
    timeout::NestedCallGuard,
};
use crate::{
    failures::unavailable,
    guard::{GuardLook, GuardPost},
    plan::{PlannedCall, replace_params},
};

impl CallFrame {
    /// Guards of the facade. Empty for most.
    fn guards(&self) -> &[Arc<GuardPost>] {
        self.entry.guards(self.gate.guards.as_deref())
    }

    /// Whether a guard looks at the outcome of this call, or of one that made it. Other texts of it are then withheld: they reach
    /// clients without a guard.
    pub(super) fn withholds_texts(&self) -> bool {
        self.frames().any(|frame| frame.guards().iter().any(|post| post.rule.after))
    }

    /// Asks the guards about a call, and changes its parameters as they demand. Returns the call as they see its outcome; `None` if
    /// the facade has none.
    pub(super) async fn guard_call(&self, planned: &mut PlannedCall) -> Result<Option<GuardedCall>, Failure> {
        if self.guards().is_empty() {
            return Ok(None);
        }
        Box::pin(self.ask_before(planned)).await.map(Some)
    }

    /// Asks the guards about an outcome.
    pub(super) async fn guard_outcome(
        &self,
        call: GuardedCall,
        outcome: Result<Reply, Failure>,
    ) -> Result<Reply, Failure> {
        Box::pin(self.ask_after(call, outcome)).await
    }

    async fn ask_before(&self, planned: &mut PlannedCall) -> Result<GuardedCall, Failure> {
        self.leave_io_for_guards().await;
        let action = planned.action();
        let mut call = GuardedCall {
            facade: self.name().to_owned(),
            action: action.name.clone(),
            effect: action.effect,
            params: json::object_text(&planned.params),
            detail: planned.detail,
            scope: None,
        };
        let mut replaced = false;
        for post in self.guards() {
            // Also one that looks at outcomes alone: what has run cannot be taken back.
            let guard = self.find_guard(post, GuardMoment::Before).await?;
            if !post.rule.before {
                continue;
            }
            let mut audited = AuditedGuard::new(post, &*guard, GuardMoment::Before);
            let seen = Arc::new(GuardedCall { scope: post.scope_of(&self.state.caller), ..call.clone() });
            match self.ask(&audited, Arc::clone(&guard).before(seen)).await {
                Ok(GuardVerdict::Allow) => audit::record_guard(self, &audited, GuardLook::Allowed),
                Ok(GuardVerdict::Refuse(failure)) => {
                    return Err(self.refuse(&audited, failure));
                }
                Ok(GuardVerdict::Replace(text)) => {
                    let accepted = parse_params(&text).and_then(|params| {
                        replace_params(planned, params).map_err(|failure| failure.message)
                    });
                    if let Err(reason) = accepted {
                        return Err(self.fail(&audited, &format!("gave wrong parameters: {reason}")));
                    }
                    replaced = true;
                    call.params = json::object_text(&planned.params);
                    audited.params = Some(&planned.params);
                    audit::record_guard(self, &audited, GuardLook::Replaced);
                }
                Err(fault) => return Err(self.fail_by(&audited, &fault)),
            }
        }
        if replaced {
            self.note_inputs(planned);
        }
        Ok(call)
    }

    async fn ask_after(&self, call: GuardedCall, outcome: Result<Reply, Failure>) -> Result<Reply, Failure> {
        self.leave_io_for_guards().await;
        let mut outcome = outcome;
        for post in self.guards().iter().filter(|post| post.rule.after) {
            let guard = self.find_guard(post, GuardMoment::After).await?;
            let audited = AuditedGuard::new(post, &*guard, GuardMoment::After);
            let seen = Arc::new(GuardedCall { scope: post.scope_of(&self.state.caller), ..call.clone() });
            match self.ask(&audited, Arc::clone(&guard).after(seen, render_outcome(&outcome))).await {
                Ok(GuardVerdict::Allow) => audit::record_guard(self, &audited, GuardLook::Allowed),
                Ok(GuardVerdict::Refuse(failure)) => return Err(self.refuse(&audited, failure)),
                Ok(GuardVerdict::Replace(text)) => match replace_outcome(outcome, &text) {
                    Ok(replaced) => {
                        outcome = replaced;
                        audit::record_guard(self, &audited, GuardLook::Replaced);
                    }
                    Err(error) => return Err(self.fail(&audited, &error.to_string())),
                },
                Err(fault) => return Err(self.fail_by(&audited, &fault)),
            }
        }
        outcome
    }

    /// Waits for a guard's verdict. If the clock of the call runs out meanwhile, its facade is not charged.
    async fn ask(
        &self,
        audited: &AuditedGuard<'_>,
        verdict: impl Future<Output = Result<GuardVerdict, Fault>>,
    ) -> Result<GuardVerdict, Fault> {
        let span = call_span::begin_look(&self.span, audited);
        let charged = NestedCallGuard::new(&self.nested_interrupted);
        let verdict = verdict.await;
        charged.finish();
        call_span::end_look(span, &verdict);
        verdict
    }

    /// Moves a call of a facade that hardly computes to where guards may.
    async fn leave_io_for_guards(&self) {
        if self.entry.facade.is_io_bound() {
            self.state.leaves_io.store(true, Ordering::Relaxed);
            yield_now().await;
        }
    }

    async fn find_guard(&self, post: &GuardPost, moment: GuardMoment) -> Result<Arc<dyn CallGuard>, Failure> {
        match post.guard().await {
            Some(guard) => Ok(guard),
            None => {
                let audited = AuditedGuard { post, origin: None, moment, params: None };
                audit::record_guard(self, &audited, GuardLook::Missing);
                Err(self.blocked(&post.rule.name, moment, "is not loaded"))
            }
        }
    }

    /// Records a refusal, and returns the failure that the guard gave.
    fn refuse(&self, audited: &AuditedGuard<'_>, failure: Failure) -> Failure {
        audit::record_guard(self, audited, GuardLook::Refused);
        let hint = failure.hint.or_else(|| audited.moment.remains(self.effect()).map(str::to_owned));
        let details = failure.details.or_else(|| Some(json!({ "guard": audited.post.rule.name })));
        // A guard neither makes calls nor suggests any.
        Failure { hint, details, next: None, ..failure }
    }

    /// Records a guard that did something wrong. Its own words are for the log alone: they may quote what it is to keep back.
    fn fail(&self, audited: &AuditedGuard<'_>, reason: &str) -> Failure {
        let (name, moment) = (audited.post.rule.name.as_str(), audited.moment);
        let facade = self.name();
        tracing::error!(guard = name, facade, "a guard failed, and nothing passes it: {}", printable(reason));
        audit::record_guard(self, audited, GuardLook::Failed);
        self.blocked(name, moment, "failed")
    }

    /// Records a guard's fault.
    fn fail_by(&self, audited: &AuditedGuard<'_>, fault: &Fault) -> Failure {
        for line in fault.log.iter().flat_map(|log| log.lines()) {
            tracing::debug!(guard = audited.post.rule.name, "{}", printable(line));
        }
        self.fail(audited, &fault.message)
    }

    /// Failure of a call that a guard keeps back by its own failure.
    fn blocked(&self, guard: &str, moment: GuardMoment, reason: &str) -> Failure {
        let (facade, action) = (self.name(), &self.entry.surface().actions[self.action].name);
        let withheld = match moment {
            GuardMoment::Before => "the call was not made",
            GuardMoment::After => "the result is withheld",
        };
        let failure =
            unavailable(format_args!("the guard `{guard}` of `{facade}.{action}` {reason}; {withheld}"));
        let remains =
            moment.remains(self.effect()).map_or_else(String::new, |remains| format!("{remains}; "));
        let failure = failure.hint(format!("{remains}the server's log has the reason for its operator"));
        Failure { details: Some(json!({ "guard": guard })), ..failure }
    }

    fn effect(&self) -> Effect {
        self.entry.surface().actions[self.action].effect
    }

    /// Shows the parameters that the run is made with, in place of those that were sent.
    fn note_inputs(&self, planned: &PlannedCall) {
        // Not those of a batch's items, nor of a call that follows.
        let state = &self.state;
        let is_first =
            self.parent.is_none() && planned.command == state.command && self.name() == state.facade;
        if is_first && !state.inputs().is_empty() {
            self.state.replace_inputs(&planned.inputs);
        }
    }
}

fn parse_params(text: &str) -> Result<Object, String> {
    match json::parse(text).map_err(|error| error.to_string())? {
        serde_json::Value::Object(params) => Ok(params),
        _ => Err("they are not an object".to_owned()),
    }
}
