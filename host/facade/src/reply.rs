//! Successful results of calls.

use serde_json::Value;

use crate::Object;

/// The result of an action.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reply {
    /// The result itself; `null` where there is nothing to say.
    pub data: Value,
    /// A sentence for the model or the person.
    pub message: Option<String>,
    /// Where `data` is a part of a longer list.
    pub page: Option<Page>,
    /// The call that should come next.
    pub next: Option<Next>,
    /// Content besides the JSON: images, audio, resources, text.
    pub content: Vec<Content>,
}

impl Reply {
    /// A reply that is nothing but data.
    pub fn data(data: impl Into<Value>) -> Self {
        Self { data: data.into(), ..Self::default() }
    }
}

/// Position of a list in a longer one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    /// Items in this reply.
    pub count: Option<u64>,
    /// Items there are.
    pub total: Option<u64>,
    /// Opaque; given back to get the next part.
    pub cursor: Option<String>,
}

/// The call that should follow this one.
#[derive(Debug, Clone, PartialEq)]
pub struct Next {
    /// Which facade (an MCP client's tool).
    pub facade: String,
    /// Which of its actions; empty for a tool of another server, which has none.
    pub action: String,
    /// With what parameters.
    pub params: Object,
    /// Why.
    pub reason: Option<String>,
}

/// One MCP content block.
#[derive(Debug, Clone, PartialEq)]
pub struct Content {
    /// The block.
    pub block: Block,
    /// MCP's `annotations` and `_meta`, by name.
    pub extras: Object,
}

/// The kinds of MCP content.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// Text.
    Text(String),
    /// A picture.
    Image {
        /// The bytes, not encoded.
        data: Vec<u8>,
        /// For example `image/png`.
        mime_type: String,
    },
    /// A sound.
    Audio {
        /// The bytes, not encoded.
        data: Vec<u8>,
        /// For example `audio/wav`.
        mime_type: String,
    },
    /// A resource in the reply itself; `text` or `blob`.
    Embedded {
        /// URI.
        uri: String,
        /// MIME type, if known.
        mime_type: Option<String>,
        /// Content, if it is text.
        text: Option<String>,
        /// Content, if it is binary.
        blob: Option<Vec<u8>>,
    },
    /// A resource elsewhere.
    Link {
        /// URI.
        uri: String,
        /// Name.
        name: String,
        /// Description.
        description: Option<String>,
        /// MIME type, if known.
        mime_type: Option<String>,
    },
}
