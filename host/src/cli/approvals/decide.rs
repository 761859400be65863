//! `loggia approvals approve` and `deny`.

use std::process::ExitCode;

use loggia_gate::approval::{ApprovalDecision, ApprovalState, DecisionOutcome, StoredApproval};
use loggia_serve::approvals::now_ms;
use loggia_text::printable;
use serde_json::Value;

use super::show::{load, report_missing};
use crate::cli::{
    common::UsageError,
    exit,
    records::{RunRecords, own_name},
    term,
};

/// Approve a call, or answer the question of a workflow.
///
/// The call goes on within a second.
#[derive(clap::Args)]
pub struct ApproveCommand {
    /// Id of the approval
    id: String,
    /// Answer to the form of a workflow (`loggia approvals show` prints it): a JSON object
    #[arg(long, value_name = "JSON")]
    answer: Option<String>,
}

/// Deny a call, or decline the question of a workflow.
#[derive(clap::Args)]
pub struct DenyCommand {
    /// Id of the approval
    id: String,
}

impl ApproveCommand {
    pub fn run(self, records: &RunRecords) -> anyhow::Result<ExitCode> {
        let answer = self.answer.as_deref().map(serde_json::from_str::<Value>).transpose();
        let answer = answer.map_err(|error| UsageError(format!("--answer is not JSON: {error}")))?;
        decide(records, &self.id, true, answer)
    }
}

impl DenyCommand {
    pub fn run(self, records: &RunRecords) -> anyhow::Result<ExitCode> {
        decide(records, &self.id, false, None)
    }
}

fn decide(records: &RunRecords, id: &str, accepted: bool, answer: Option<Value>) -> anyhow::Result<ExitCode> {
    let Some(stored) = load(records, id)? else { return Ok(report_missing(records, id)) };
    let decision = ApprovalDecision { accepted, answer, by: own_name(), at_ms: now_ms() };
    stored.record.check(&decision).map_err(|problem| UsageError(problem.to_string()))?;
    let subject = stored.record.subject.clone();
    let outcome = records
        .read(DecisionOutcome::Unknown, |store| store.decide_approval(id.to_owned(), subject, decision))?;
    match outcome {
        DecisionOutcome::Recorded => {
            let word = if accepted { "approved" } else { "denied" };
            let record = &stored.record;
            let (call, caller) = (format!("{}.{}", record.facade, record.action), printable(&record.caller));
            term::note(&format!("{word}: {call} of {caller}"));
            Ok(ExitCode::SUCCESS)
        }
        DecisionOutcome::Refused(stored) => {
            term::note(&format!("`{id}` cannot be decided: {}", explain(&stored)));
            Ok(ExitCode::from(exit::FAILED))
        }
        DecisionOutcome::Unknown => Ok(report_missing(records, id)),
    }
}

fn explain(stored: &StoredApproval) -> String {
    let by = stored.decision.as_ref().map_or("?".into(), |decision| printable(&decision.by));
    match stored.state(now_ms()) {
        ApprovalState::Open => "it was changed".to_owned(),
        ApprovalState::Approved => format!("it was approved already ({by})"),
        ApprovalState::Denied => format!("it was denied already ({by})"),
        ApprovalState::Expired => "it has expired; the call must be made again".to_owned(),
        ApprovalState::Withdrawn => "its call has ended".to_owned(),
    }
}
