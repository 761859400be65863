//! Queues, breakers and runs at one moment, for metrics. Collected on request, so calls pay nothing for it.

use loggia_facade::Usage;

use super::gate_state::GateState;
use crate::{
    guard::{GuardLook, GuardPost, GuardReach, GuardState},
    run::RunStatus,
};

/// State of a gate at one moment.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GateSnapshot {
    /// Facades that answer calls, by name.
    pub facades: Vec<(String, FacadeStatus)>,
    /// Guards, in the order in which they look.
    pub guards: Vec<GuardStatus>,
    /// Names that answer `unavailable`.
    pub unavailable: usize,
    /// Runs that are computing or waiting for I/O.
    pub running: usize,
    /// Runs that wait for a person.
    pub waiting: usize,
    /// Ended runs whose outcome is kept.
    pub ended: usize,
}

/// State of one facade at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct FacadeStatus {
    /// Calls that wait for a permit.
    pub queued: usize,
    /// State of its breaker. 0: closed. 1: half-open, one call is tried. 2: open.
    pub breaker: u64,
    /// Resources that its calls used since this version was loaded.
    pub usage: Usage,
}

/// State of one guard at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct GuardStatus {
    /// Its name.
    pub name: String,
    /// True if it looks at the calls of all facades.
    pub is_everywhere: bool,
    /// Facades that it names.
    pub facades: Vec<String>,
    /// Whether calls pass it.
    pub condition: GuardCondition,
    /// Looks since the start, by their end.
    pub looks: Vec<(GuardLook, u64)>,
}

/// Whether calls pass a guard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GuardCondition {
    /// It is loaded for the first time; calls wait.
    Loading,
    /// It looks at calls, in this version: the digest of its file.
    Ready(String),
    /// It cannot be used, and no call passes.
    Failed,
}

impl GuardStatus {
    pub(super) fn capture_all(gate: &GateState) -> Vec<Self> {
        let guards = gate.guards.iter().flat_map(|roster| roster.posts());
        guards.map(|post| Self::capture(post)).collect()
    }

    fn capture(post: &GuardPost) -> Self {
        Self {
            name: post.rule.name.clone(),
            is_everywhere: post.rule.facades == GuardReach::All,
            facades: match &post.rule.facades {
                GuardReach::All => Vec::new(),
                GuardReach::Named(names) => names.iter().cloned().collect(),
            },
            condition: match post.state() {
                GuardState::Loading => GuardCondition::Loading,
                GuardState::Ready(guard) => GuardCondition::Ready(guard.origin().to_owned()),
                GuardState::Failed => GuardCondition::Failed,
            },
            looks: post.looks().collect(),
        }
    }
}

impl GateSnapshot {
    pub(super) fn capture(gate: &GateState) -> Self {
        let snapshot = gate.catalog.snapshot();
        let facades = snapshot.serving().map(|entry| {
            let status = FacadeStatus {
                queued: entry.flow.queued(),
                breaker: entry.breaker.state_code(),
                usage: entry.facade.usage(),
            };
            (entry.surface().name.clone(), status)
        });
        let mut captured = Self { facades: facades.collect(), ..Self::default() };
        captured.unavailable = snapshot.slots.len() - captured.facades.len();
        captured.guards = GuardStatus::capture_all(gate);
        for status in gate.runs.statuses() {
            match status {
                RunStatus::Running => captured.running += 1,
                RunStatus::Waiting => captured.waiting += 1,
                _ => captured.ended += 1,
            }
        }
        captured
    }
}
