//! An approval, as operators see it and stores keep it.

use loggia_facade::Object;
use loggia_schema::QuestionForm;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Prefix of the ids of approvals.
const ID_PREFIX: &str = "ap_";

/// What a person is to decide.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ApprovalRecord {
    /// Id, which operators type: `ap_` and 16 letters and digits.
    pub id: String,
    /// Digest of caller, call, arguments, artifact and policy. A decision is valid for it alone.
    pub subject: String,
    /// The caller, as the audit names it.
    pub caller: String,
    /// Address that its request came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Facade.
    pub facade: String,
    /// Action.
    pub action: String,
    /// Effect of the action: `read`, `write` or `destructive`.
    pub effect: String,
    /// The calls that led to this one, the caller's own first: `brief.run`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub through: Vec<String>,
    /// Artifact that answers.
    pub artifact: String,
    /// The question, on one line.
    pub question: String,
    /// What is asked for.
    pub content: ApprovalContent,
    /// Time at which it was opened, in milliseconds since 1970.
    pub opened_ms: u64,
    /// Time from which it cannot be decided any more.
    pub expires_ms: u64,
}

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ApprovalContent {
    /// Consent to a call with these arguments, secrets redacted.
    Call(Object),
    /// A form of a workflow: its JSON Schema.
    Form(Object),
}

impl ApprovalRecord {
    /// Creates an id.
    pub(crate) fn random_id() -> String {
        let mut bits = [0; 16];
        // Cannot fail after boot; decisions must not be mixed up.
        getrandom::fill(&mut bits)
            .unwrap_or_else(|error| unreachable!("the kernel gave no random bits: {error}"));
        // Five bits per letter, without the letters that people confuse.
        const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
        let letters = bits.iter().map(|byte| char::from(LETTERS[usize::from(byte % 32)]));
        ID_PREFIX.chars().chain(letters).collect()
    }

    /// Checks that a decision can be made about this approval.
    ///
    /// # Errors
    ///
    /// If a form is accepted without an answer that fits it, or consent has one.
    pub fn check(&self, decision: &ApprovalDecision) -> Result<(), DecisionProblem> {
        let problem = |reason: String| Err(DecisionProblem(reason));
        match (&self.content, decision.accepted, &decision.answer) {
            (_, false, Some(_)) => problem("a denied approval takes no answer".to_owned()),
            (_, false, None) | (ApprovalContent::Call(_), true, None) => Ok(()),
            (ApprovalContent::Call(_), true, Some(_)) => {
                problem("it asks for consent to a call, and takes no answer".to_owned())
            }
            (ApprovalContent::Form(schema), true, answer) => {
                let form = QuestionForm::new(schema)
                    .map_err(|reason| DecisionProblem(format!("its form cannot be used: {reason}")))?;
                let empty = Value::Object(Object::new());
                form.check(answer.as_ref().unwrap_or(&empty))
                    .map_err(|reason| DecisionProblem(format!("the answer does not fit its form: {reason}")))
            }
        }
    }
}

/// Reason for which a decision cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct DecisionProblem(pub String);

/// A person's decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ApprovalDecision {
    /// True for approved.
    pub accepted: bool,
    /// Answer to a form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Value>,
    /// Who decided, and by which way: `command line: ada`.
    pub by: String,
    /// Time in milliseconds since 1970.
    pub at_ms: u64,
}

/// An approval with its decision.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredApproval {
    /// What is to be decided.
    pub record: ApprovalRecord,
    /// The decision, if there is one.
    pub decision: Option<ApprovalDecision>,
    /// Why it is closed, if it is.
    pub closed: Option<ApprovalClosing>,
}

/// Why an approval is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApprovalClosing {
    /// Its call has taken the decision.
    Used,
    /// It was not decided in time.
    Expired,
    /// Its call has ended.
    Withdrawn,
}

impl ApprovalClosing {
    const ALL: [Self; 3] = [Self::Used, Self::Expired, Self::Withdrawn];

    /// Its name in a store.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Used => "used",
            Self::Expired => "expired",
            Self::Withdrawn => "withdrawn",
        }
    }

    /// Parses a name of a store.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|closing| closing.as_str() == name)
    }
}

/// State of an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ApprovalState {
    /// It waits for a decision.
    Open,
    /// Approved. The call goes on.
    Approved,
    /// Denied.
    Denied,
    /// It was not decided in time.
    Expired,
    /// Its call ended before it was decided.
    Withdrawn,
}

impl ApprovalState {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Approved => "approved",
            Self::Denied => "denied",
            Self::Expired => "expired",
            Self::Withdrawn => "withdrawn",
        }
    }
}

impl StoredApproval {
    /// State at this time, in milliseconds since 1970.
    pub fn state(&self, now_ms: u64) -> ApprovalState {
        match (&self.decision, self.closed) {
            (_, Some(ApprovalClosing::Withdrawn)) => ApprovalState::Withdrawn,
            (Some(ApprovalDecision { accepted: true, .. }), _) => ApprovalState::Approved,
            (Some(_), _) => ApprovalState::Denied,
            (None, Some(_)) => ApprovalState::Expired,
            (None, None) if now_ms >= self.record.expires_ms => ApprovalState::Expired,
            (None, None) => ApprovalState::Open,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Object {
        value.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn decisions_fit_what_is_asked() {
        let form = object(json!({"type": "object", "properties": {"name": {"type": "string"}},
            "required": ["name"]}));
        let call = || ApprovalContent::Call(Object::new());
        for (content, accepted, answer, expected) in [
            (call(), true, None, None),
            (call(), false, None, None),
            (call(), true, Some(json!({"confirm": true})), Some("takes no answer")),
            (ApprovalContent::Form(form.clone()), true, Some(json!({"name": "x"})), None),
            (ApprovalContent::Form(form.clone()), true, Some(json!({"name": 1})), Some("does not fit")),
            (ApprovalContent::Form(form.clone()), true, None, Some("does not fit")),
            (ApprovalContent::Form(form), false, Some(json!({"name": "x"})), Some("takes no answer")),
        ] {
            let record = ApprovalRecord { content, ..super::super::suite::record("a", 0, 1) };
            let decision = ApprovalDecision { accepted, answer, by: "x".into(), at_ms: 0 };
            let problem = record.check(&decision).err().map(|problem| problem.to_string());
            match expected {
                None => assert_eq!(problem, None, "{decision:?}"),
                Some(part) => assert!(problem.is_some_and(|text| text.contains(part)), "{decision:?}"),
            }
        }
    }

    #[test]
    fn ids_are_easy_to_type() {
        let id = ApprovalRecord::random_id();
        assert_eq!(id.len(), 19);
        assert!(!id[3..].contains(['l', 'o', '0', '1']), "{id}");
        assert_ne!(id, ApprovalRecord::random_id());
    }
}
