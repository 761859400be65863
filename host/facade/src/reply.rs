//! Successful results of calls.

use std::io;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Object, ReplyData};

/// The result of an action.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// The result itself; `null` where there is nothing to say.
    pub data: ReplyData,
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
    pub fn data(data: impl Into<ReplyData>) -> Self {
        Self { data: data.into(), ..Self::default() }
    }

    /// Counts the bytes of its data, as JSON, and of its content.
    pub fn size(&self) -> usize {
        let message = self.message.as_ref().map_or(0, String::len);
        let data = self.data.clean_text().map_or_else(|| json_size(&self.data), str::len);
        data + message + self.content.iter().map(Content::size).sum::<usize>()
    }
}

impl Content {
    /// Counts the bytes of its block.
    pub fn size(&self) -> usize {
        let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        match &self.block {
            Block::Text(text) => text.len(),
            Block::Image { data, mime_type } | Block::Audio { data, mime_type } => {
                data.len() + mime_type.len()
            }
            Block::Embedded { uri, mime_type, text: content, blob } => {
                uri.len() + text(mime_type) + text(content) + blob.as_ref().map_or(0, Vec::len)
            }
            Block::Link { uri, name, description, mime_type } => {
                uri.len() + name.len() + text(description) + text(mime_type)
            }
        }
    }
}

/// Counts the bytes of a value as JSON, without building the text.
fn json_size(value: &Value) -> usize {
    struct ByteCount(usize);

    impl io::Write for ByteCount {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    let mut count = ByteCount(0);
    // Neither a value nor the counter can fail.
    let _ = serde_json::to_writer(&mut count, value);
    count.0
}

/// Position of a list in a longer one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page {
    /// Items in this reply.
    pub count: Option<u64>,
    /// Items there are.
    pub total: Option<u64>,
    /// Opaque; given back to get the next part.
    pub cursor: Option<String>,
}

/// The call that should follow this one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Content {
    /// The block.
    pub block: Block,
    /// MCP's `annotations` and `_meta`, by name.
    pub extras: Object,
}

/// The kinds of MCP content.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_size_counts_data_and_content() {
        let mut reply = Reply::data(json!({"a": "äb"}));
        assert_eq!(reply.size(), r#"{"a":"äb"}"#.len());
        let block = Block::Image { data: vec![0; 100], mime_type: "image/png".into() };
        reply.content.push(Content { block, extras: Object::default() });
        assert_eq!(reply.size(), r#"{"a":"äb"}"#.len() + 109);
    }
}
