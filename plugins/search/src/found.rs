//! Results in one common form.

use loggia_sdk::prelude::*;

use crate::source::{Candidate, Source};

/// Length of an excerpt in characters.
const EXCERPT: usize = 300;

/// Something that was found.
#[detail]
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub struct Found {
    #[detail(minimal)]
    pub source: Source,
    /// Id or path in its source.
    #[detail(minimal)]
    pub id: String,
    #[detail(minimal)]
    #[serde(skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// Location within it.
    #[detail(minimal)]
    #[serde(skip_serializing_if = "String::is_empty")]
    pub place: String,
    pub text: String,
    /// From 0 to 1; comparable within this list.
    pub score: f32,
    /// Other locations of the same text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
    /// The call that opens it.
    #[detail(full)]
    pub open: Value,
}

impl Found {
    pub fn new(candidate: &Candidate, also: Vec<String>, score: f32, query: &str, detail: Detail) -> Self {
        let text = if detail == Detail::Full {
            candidate.text.clone()
        } else {
            ranking::excerpt(&candidate.text, query, EXCERPT)
        };
        let open = json!({
            "tool": candidate.open.facade,
            "action": candidate.open.action,
            "params": candidate.open.params,
        });
        Self {
            source: candidate.source,
            id: candidate.id.clone(),
            title: candidate.title.clone(),
            place: candidate.place.clone(),
            text,
            score: (score * 1000.0).round() / 1000.0,
            also,
            open,
        }
    }
}
