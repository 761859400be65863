//! Displayed form of documents and passages.

use loggia_sdk::prelude::*;

use crate::document::{Document, Passage};

/// A document.
#[detail]
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Shown {
    #[detail(minimal)]
    pub id: String,
    #[detail(minimal)]
    pub title: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub source: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Number of passages.
    pub chunks: u32,
    /// `get`, and lists with detail `full`.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub format: &'static str,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub added: String,
    /// When the text was last replaced.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub changed: String,
    #[detail(full)]
    pub characters: u32,
    /// Maximum size of a passage.
    #[detail(full)]
    pub size: u32,
    #[detail(full)]
    pub overlap: u32,
    /// `get`: its sections, each with its first passage: `3 Guide > Install`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outline: Vec<String>,
    /// `get`: its beginning, or the text, or a part of it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// `get`: the passage at which the text continues.
    #[serde(skip_serializing_if = "is_zero")]
    pub next_chunk: u32,
}

impl Shown {
    /// For a list.
    pub fn listed(document: Document) -> Self {
        Self { format: "", added: String::new(), changed: String::new(), ..document.into() }
    }

    /// Identifying fields, for callers that know the rest.
    pub fn named(document: Document) -> Self {
        Self { source: String::new(), tags: Vec::new(), ..Self::listed(document) }
    }
}

impl From<Document> for Shown {
    fn from(document: Document) -> Self {
        Self {
            id: document.id,
            title: document.title,
            source: document.source.unwrap_or_default(),
            tags: document.tags,
            chunks: document.count,
            format: document.format.name(),
            added: document.added,
            changed: document.changed,
            characters: document.characters,
            size: document.size,
            overlap: document.overlap,
            ..Self::default()
        }
    }
}

/// A passage.
#[detail]
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Part {
    /// Id of the document, unless it is known.
    #[detail(minimal)]
    #[serde(skip_serializing_if = "String::is_empty")]
    pub id: String,
    #[detail(minimal)]
    #[serde(skip_serializing_if = "String::is_empty")]
    pub title: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// Number of the passage, from 1.
    #[detail(minimal)]
    pub chunk: u32,
    /// Number of the document's passages.
    pub of: u32,
    /// Headings above it: `Guide > Install`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub heading: String,
    /// First and last line in the document's text.
    pub lines: [u32; 2],
    /// `search`: only comparable within one reply.
    #[serde(skip_serializing_if = "is_none")]
    pub score: f64,
    /// An excerpt, or all of it.
    pub text: String,
    /// `get`: previous text, with its location.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub before: String,
    /// `get`: following text, with its location.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub after: String,
}

impl Part {
    /// The passage at that position, counted from 0, without words on its document.
    pub fn of(document: &Document, at: u32, passage: &Passage, text: String) -> Self {
        Self {
            chunk: at + 1,
            of: document.count,
            heading: passage.heading(),
            lines: passage.lines,
            text,
            ..Self::default()
        }
    }

    /// Adds the document.
    #[must_use]
    pub fn named(self, document: &Document) -> Self {
        let Document { id, title, source, .. } = document;
        Self { id: id.clone(), title: title.clone(), source: source.clone().unwrap_or_default(), ..self }
    }
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

fn is_none(score: &f64) -> bool {
    *score == 0.0
}

/// One line of the beginning of a text.
pub fn beginning(text: &str, characters: usize) -> String {
    ranking::excerpt(text, "", characters)
}
