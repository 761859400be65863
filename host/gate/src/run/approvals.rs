//! The approvals of a call, as its caller sees them: those for which it waits, and the latest that have ended. Who decided is not
//! among it.

use std::{
    collections::{BTreeMap, VecDeque},
    mem::size_of,
};

use loggia_facade::Object;
use serde::Serialize;

use super::weight;
use crate::approval::{ApprovalContent, ApprovalRecord, ApprovalState};

/// Ended approvals that a call keeps: a page that a client shows has mostly seen the others.
const MAX_ENDED: usize = 4;

/// An approval for which a run waits or has waited.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunApproval {
    /// Its id, which operators type.
    pub id: String,
    /// Whether it waits for a decision, or how it ended.
    pub state: ApprovalState,
    /// The question, on one line.
    pub question: String,
    /// Facade.
    pub facade: String,
    /// Action.
    pub action: String,
    /// Effect of the action: `read`, `write` or `destructive`.
    pub effect: String,
    /// The calls that led to this one, the caller's own first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub through: Vec<String>,
    /// Arguments of the call, secrets redacted. `None` for a form, and once it has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Object>,
    /// Time at which it was opened, in milliseconds since 1970.
    pub opened_ms: u64,
    /// Time from which it cannot be decided any more.
    pub expires_ms: u64,
}

impl RunApproval {
    /// Takes of an open approval what its caller may know.
    pub(crate) fn new(record: &ApprovalRecord) -> Self {
        let ApprovalRecord { id, facade, action, effect, through, question, content, .. } = record;
        let arguments = match content {
            ApprovalContent::Call(arguments) => Some(arguments.clone()),
            ApprovalContent::Form(_) => None,
        };
        Self {
            id: id.clone(),
            state: ApprovalState::Open,
            question: question.clone(),
            facade: facade.clone(),
            action: action.clone(),
            effect: effect.clone(),
            through: through.clone(),
            arguments,
            opened_ms: record.opened_ms,
            expires_ms: record.expires_ms,
        }
    }
}

/// The approvals of one call.
#[derive(Default)]
pub(super) struct RunApprovals {
    /// Open ones by their ids, with their texts for the run's status.
    open: BTreeMap<String, (RunApproval, String)>,
    /// The latest that ended, the last one at the end.
    ended: VecDeque<RunApproval>,
}

impl RunApprovals {
    /// Adds one for which the call waits.
    pub(super) fn open(&mut self, approval: RunApproval, text: String) {
        self.open.insert(approval.id.clone(), (approval, text));
    }

    /// Ends one.
    pub(super) fn end(&mut self, id: &str, state: ApprovalState) {
        let Some((approval, _)) = self.open.remove(id) else { return };
        if self.ended.len() >= MAX_ENDED {
            self.ended.pop_front();
        }
        // The arguments may be long, and a run is kept for a long time.
        self.ended.push_back(RunApproval { state, arguments: None, ..approval });
    }

    /// Returns true if the call waits for one.
    pub(super) fn are_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Texts of the open ones.
    pub(super) fn texts(&self) -> impl Iterator<Item = String> {
        self.open.values().map(|(_, text)| text.clone())
    }

    /// Heap use of those that ended, which are kept with the run.
    pub(super) fn weight(&self) -> usize {
        let own = |approval: &RunApproval| {
            let RunApproval { id, question, facade, action, effect, through, .. } = approval;
            let texts = [id, question, facade, action, effect];
            let own = texts.into_iter().chain(through).map(weight::text).sum::<usize>();
            size_of::<RunApproval>() + own + through.len() * size_of::<String>()
        };
        self.ended.iter().map(own).sum()
    }

    /// Lists those that ended, and then the open ones.
    pub(super) fn list(&self) -> Vec<RunApproval> {
        self.ended.iter().chain(self.open.values().map(|(approval, _)| approval)).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::approval::suite::record;

    #[test]
    fn ended_approvals_are_few_and_short() {
        let mut approvals = RunApprovals::default();
        let ids: Vec<String> = (0..MAX_ENDED + 2)
            .map(|_| {
                let approval = RunApproval::new(&record("a", 1, 2));
                let id = approval.id.clone();
                assert!(approval.arguments.is_some());
                approvals.open(approval, format!("text of {id}"));
                id
            })
            .collect();
        assert!(approvals.are_open());
        assert_eq!(approvals.texts().count(), ids.len());
        for id in &ids[1..] {
            approvals.end(id, ApprovalState::Denied);
            // It ends once.
            approvals.end(id, ApprovalState::Approved);
        }
        let listed: Vec<(String, ApprovalState, bool)> = approvals
            .list()
            .into_iter()
            .map(|approval| (approval.id, approval.state, approval.arguments.is_some()))
            .collect();
        let ended = ids[2..].iter().map(|id| (id.clone(), ApprovalState::Denied, false));
        let open = (ids[0].clone(), ApprovalState::Open, true);
        assert_eq!(listed, ended.chain([open]).collect::<Vec<_>>());
    }
}
