//! The result as it is shown.

use std::collections::BTreeMap;

use loggia_sdk::prelude::*;

use crate::{profile::Preference, rank::Ranked};

/// Suggested context for a task. Nothing of it is attached: the client attaches what the person picks.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct ContextView {
    /// Best first.
    pub suggested_context: Vec<Suggestion>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub persona: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub preferences: BTreeMap<String, Preference>,
    /// What was found and does not fit into the budget.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// Sources without an answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unavailable: Vec<Unavailable>,
    /// Estimate for this result and its message.
    pub tokens: usize,
}

/// Something that may help with the task.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Suggestion {
    /// For picking: `memories/m_0007`, `knowledge/k_0001#3` (passage), `conversations/c_0004#12` (message).
    pub id: String,
    pub source: &'static str,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// Heading, role, or state.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub place: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// From 0 to 1; comparable within this result.
    pub score: f32,
    /// Ids of items with the same text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
    /// The call that returns the whole.
    pub get: Value,
}

/// Items of a source that do not fit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LeftOut {
    pub source: &'static str,
    pub count: usize,
    /// The best of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ids: Vec<String>,
}

/// A source without an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Unavailable {
    pub source: &'static str,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

impl Suggestion {
    /// A suggestion whose text has at most this many characters: the part that fits the task best.
    pub fn new(ranked: &Ranked, task: &str, characters: usize) -> Self {
        let Ranked { candidate, score, also } = ranked;
        let text =
            if characters == 0 { String::new() } else { ranking::excerpt(&candidate.text, task, characters) };
        Self {
            id: candidate.id.clone(),
            source: candidate.source.name(),
            title: candidate.title.clone(),
            place: candidate.place.clone(),
            text,
            // More digits would only cost tokens.
            score: (score * 1000.0).round() / 1000.0,
            also: also.clone(),
            get: candidate.get.clone(),
        }
    }
}
