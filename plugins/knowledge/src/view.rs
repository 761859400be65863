//! What a caller is shown of documents and passages.

use loggia_sdk::prelude::*;

use crate::{
    convert::Format,
    document::{Document, Passage},
};

/// A document of a list, and what `add` and `delete` answer.
#[detail]
#[derive(Debug, Serialize, JsonSchema)]
pub struct Listed {
    #[detail(minimal)]
    pub id: String,
    #[detail(minimal)]
    pub title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// How many passages it has.
    pub chunks: u32,
    #[detail(full)]
    pub format: Format,
    #[detail(full)]
    pub added: String,
    #[detail(full)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed: Option<String>,
    #[detail(full)]
    pub characters: u32,
}

impl From<Document> for Listed {
    fn from(document: Document) -> Self {
        let Document { id, title, source, tags, count, format, added, changed, characters, .. } = document;
        Self { id, title, source, tags, chunks: count, format, added, changed, characters }
    }
}

/// What `add` and `delete` say of the document.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Named {
    pub id: String,
    pub title: String,
    /// How many passages it has.
    pub chunks: u32,
}

impl From<Document> for Named {
    fn from(document: Document) -> Self {
        Self { id: document.id, title: document.title, chunks: document.count }
    }
}

/// Where a passage stands in its document.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Place {
    /// Counted from 1.
    pub chunk: u32,
    /// The headings it stands under: `Guide > Install`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub heading: String,
    /// First and last line in the document's text.
    pub lines: [u32; 2],
}

impl Place {
    /// Of the passage at that position, counted from 0.
    pub fn of(at: u32, passage: &Passage) -> Self {
        Self { chunk: at + 1, heading: passage.heading(), lines: passage.lines }
    }
}

/// A passage of a document that was cut anew.
#[detail]
#[derive(Debug, Serialize, JsonSchema)]
pub struct Piece {
    #[detail(minimal)]
    pub chunk: u32,
    #[detail(minimal)]
    #[serde(skip_serializing_if = "String::is_empty")]
    pub heading: String,
    pub lines: [u32; 2],
    pub characters: u32,
    #[detail(full)]
    pub text: String,
}

/// One line of the beginning of a text.
pub fn beginning(text: &str, characters: usize) -> String {
    ranking::excerpt(text, "", characters)
}
