//! Questions to an operator, where the client cannot ask its user: an approval is opened outside of the client, and the call
//! waits for it as a run.

use std::{sync::Arc, sync::atomic::Ordering, time::Duration};

use data_encoding::HEXLOWER;
use loggia_facade::{Answer, Failure, Object, Question};
use loggia_schema::QuestionForm;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{
    audit::{self, AuditedApproval},
    frame::CallFrame,
};
use crate::{
    access::Caller,
    approval::{
        ApprovalContent, ApprovalDecision, ApprovalDesk, ApprovalEnd, ApprovalRecord, ApprovalState,
        ApprovalSubject,
    },
    catalog::CatalogSlot,
    failures::{denied, invalid_params, timed_out, unavailable},
    journal::JournalError,
    plan::PlannedCall,
    run::{CallState, RunApproval},
};

/// What an operator is asked.
struct OperatorQuestion<'a> {
    /// Text on one line.
    text: String,
    content: ApprovalContent,
    /// Parameters of a call that needs consent, with secrets; nothing for a form.
    params: &'a Object,
    /// Name of the form, if the facade gave it one.
    name: Option<&'a str>,
    open_for: Duration,
}

impl CallFrame {
    /// The desk at which an operator answers the facade's own questions: those of workflows, which operators have written, if the
    /// client cannot ask its user.
    pub(super) fn desk_for_questions(&self) -> Option<Arc<ApprovalDesk>> {
        let desk = self.gate.approvals.as_ref()?;
        (!self.state.can_ask && self.entry.facade.is_durable()).then(|| Arc::clone(desk))
    }

    /// Asks an operator for consent to a call.
    pub(super) async fn ask_operator_consent(
        &self,
        desk: &ApprovalDesk,
        text: String,
        planned: &PlannedCall,
    ) -> Result<(), Failure> {
        let question = OperatorQuestion {
            text,
            content: ApprovalContent::Call(planned.inputs.clone()),
            params: &planned.params,
            name: None,
            open_for: desk.open_for(),
        };
        let action = &planned.action().name;
        let decision = self.ask_operator(desk, question, &format!("`{action}`")).await?;
        if !decision.accepted {
            let failure = denied(format_args!("an operator denied `{action}`"));
            return Err(failure.hint("do not try again unless the person asks for it"));
        }
        // The decision was about this version under this policy.
        match self.gate.catalog.slot(self.name()) {
            Some(CatalogSlot::Serving(current)) if Arc::ptr_eq(&current, &self.entry) => Ok(()),
            _ => {
                let failure = unavailable(format_args!(
                    "`{}` was changed while `{action}` waited for approval, which is void now",
                    self.name()
                ));
                Err(failure.hint("make the call again"))
            }
        }
    }

    /// Asks an operator to fill a form of a workflow.
    pub(super) async fn ask_operator_form(
        &self,
        desk: Arc<ApprovalDesk>,
        text: &str,
        schema: &Object,
        question: &Question,
    ) -> Result<Answer, Failure> {
        let form = QuestionForm::new(schema)
            .map_err(|reason| invalid_params(format!("the question's form cannot be shown: {reason}")))?;
        let none = Object::new();
        let asked = OperatorQuestion {
            text: text.to_owned(),
            content: ApprovalContent::Form(form.schema().clone()),
            params: &none,
            name: question.name.as_deref(),
            open_for: question.timeout.map_or(desk.open_for(), |asked| asked.min(self.question_limit())),
        };
        let decision = self.ask_operator(&desk, asked, &format!("“{text}”")).await?;
        Ok(match decision.accepted {
            true => Answer::Accepted(decision.answer.unwrap_or_else(|| Value::Object(Object::new()))),
            false => Answer::Declined,
        })
    }

    /// Opens an approval and waits for its decision. Meanwhile the call is parked.
    async fn ask_operator(
        &self,
        desk: &ApprovalDesk,
        question: OperatorQuestion<'_>,
        asked: &str,
    ) -> Result<ApprovalDecision, Failure> {
        let open_for = question.open_for;
        let record = self.to_record(question);
        let waited = self.park_while(async {
            let opened = desk.open(record, open_for).await?;
            audit::record_approval(self, &AuditedApproval { record: &opened, by: None }, "opened");
            let text = format!("an operator must approve {asked} (approval {})", opened.id);
            self.state.show_approval(RunApproval::new(&opened), text);
            // Withdraws the approval however the wait ends; a decision that was taken stays.
            let mut shown = ShownApproval { frame: self, desk, opened: &opened, end: None };
            let end = desk.wait(&opened).await?;
            shown.end = Some(end.state());
            let (outcome, by) = match &end {
                ApprovalEnd::Decided(decision) => {
                    (if decision.accepted { "approved" } else { "denied" }, Some(decision.by.as_str()))
                }
                ApprovalEnd::Expired => ("expired", None),
                ApprovalEnd::Void => ("void", None),
            };
            audit::record_approval(self, &AuditedApproval { record: &opened, by }, outcome);
            Ok::<_, JournalError>(end)
        });
        let end = waited.await?.map_err(|error| {
            tracing::error!("an approval cannot be kept: {error}");
            unavailable("the server cannot keep approvals").hint("try again later, or ask the operator")
        })?;
        match end {
            ApprovalEnd::Decided(decision) => Ok(decision),
            ApprovalEnd::Expired => {
                let failure = timed_out(format_args!("an operator did not approve {asked} in time"));
                Err(failure.hint("make the call again if it is still wanted"))
            }
            ApprovalEnd::Void => {
                let failure = denied(format_args!("the approval of {asked} is not valid for this call"));
                Err(failure.hint("make the call again"))
            }
        }
    }

    fn to_record(&self, question: OperatorQuestion<'_>) -> ApprovalRecord {
        let OperatorQuestion { text, content, params, name, open_for: _ } = question;
        let action = &self.entry.surface().actions[self.action];
        let caller = match &self.state.caller {
            Caller::Local => "(local)".to_owned(),
            Caller::Anonymous => "(anonymous)".to_owned(),
            Caller::Named(name) => name.to_string(),
        };
        let id = ApprovalRecord::random_id();
        // The run that asks goes on after a restart, and finds its approval.
        let recorder = self.state.recorder().filter(|_| self.is_durable());
        let call = match recorder {
            Some(recorder) => {
                let key = self.journal_key().unwrap_or_default();
                format!("{}\n{key}\n{}", recorder.run(), name.unwrap_or_default())
            }
            None => id.clone(),
        };
        // What a workflow may do depends on the facades that are loaded; its questions do not.
        let rules = match &content {
            ApprovalContent::Call(_) => format!("{:?}\n{:?}", self.entry.rules, self.entry.contract.policy()),
            ApprovalContent::Form(_) => String::new(),
        };
        let policy = HEXLOWER.encode(&Sha256::digest(rules.as_bytes()));
        let form = match &content {
            ApprovalContent::Form(schema) => Some((text.as_str(), schema)),
            ApprovalContent::Call(_) => None,
        };
        let subject = ApprovalSubject {
            call: &call,
            caller: &caller,
            facade: self.name(),
            action: &action.name,
            params,
            artifact: &self.entry.origin,
            policy: &policy,
            form,
        };
        let mut through: Vec<String> = self.frames().skip(1).map(Self::call_name).collect();
        through.reverse();
        ApprovalRecord {
            subject: subject.digest(),
            id,
            address: self.state.address.map(|address| address.to_string()),
            facade: self.name().to_owned(),
            action: action.name.clone(),
            effect: action.effect.as_str().to_owned(),
            through,
            artifact: self.entry.origin.clone(),
            question: text,
            content,
            caller,
            opened_ms: 0,
            expires_ms: 0,
        }
    }

    /// Facade and action: `brief.run`.
    fn call_name(&self) -> String {
        let surface = self.entry.surface();
        format!("{}.{}", surface.name, surface.actions[self.action].name)
    }
}

/// Shows an approval in the status of its run. Dropping it withdraws the approval, unless its run goes on after a restart.
struct ShownApproval<'a> {
    frame: &'a CallFrame,
    desk: &'a ApprovalDesk,
    opened: &'a ApprovalRecord,
    /// How it ended; `None` while its call waits.
    end: Option<ApprovalState>,
}

impl Drop for ShownApproval<'_> {
    fn drop(&mut self) {
        let state: &CallState = &self.frame.state;
        state.end_approval(&self.opened.id, self.end.unwrap_or(ApprovalState::Withdrawn));
        let goes_on = self.frame.is_durable() && self.frame.gate.draining.load(Ordering::Relaxed);
        if self.end.is_none() && !goes_on {
            self.desk.withdraw(&self.opened.id);
            audit::record_approval(
                self.frame,
                &AuditedApproval { record: self.opened, by: None },
                "withdrawn",
            );
        }
    }
}
