//! Content of a reply besides its data: MCP's content blocks.

use crate::{Object, Value};

/// One MCP content block.
///
/// ```
/// # use loggia_sdk::prelude::*;
/// fn chart(png: Vec<u8>) -> Result<Reply<u32>> {
///     let chart = Content::image(png, "image/png").audience(Audience::User).priority(1.0);
///     let table = Content::resource("notes://n_0001/table", "a,b\n1,2").mime_type("text/csv").audience(Audience::Assistant);
///     Ok(Reply::new(7).content(chart).content(table))
/// }
/// # let reply = chart(vec![1]).unwrap();
/// # assert_eq!(reply.content[0].extras, [("annotations".to_owned(), json!({"audience": ["user"], "priority": 1.0}))]);
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Content {
    /// The block.
    pub block: Block,
    /// MCP's `annotations` and `_meta`, by name.
    pub extras: Vec<(String, Value)>,
}

impl Content {
    /// Creates a text block.
    pub fn text(text: impl Into<String>) -> Self {
        Block::Text(text.into()).into()
    }

    /// A picture: its bytes, not encoded, and its type, for example `image/png`.
    pub fn image(data: impl Into<Vec<u8>>, mime_type: impl Into<String>) -> Self {
        Block::Image { data: data.into(), mime_type: mime_type.into() }.into()
    }

    /// A sound: its bytes, not encoded, and its type, for example `audio/wav`.
    pub fn audio(data: impl Into<Vec<u8>>, mime_type: impl Into<String>) -> Self {
        Block::Audio { data: data.into(), mime_type: mime_type.into() }.into()
    }

    /// A resource elsewhere: its address and its name.
    pub fn link(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Block::Link { uri: uri.into(), name: name.into(), description: None, mime_type: None }.into()
    }

    /// A resource in the reply itself: its address, and its text (`&str`, `String`) or its bytes (`Vec<u8>`).
    pub fn resource(uri: impl Into<String>, body: impl Into<Body>) -> Self {
        let (text, blob) = match body.into() {
            Body::Text(text) => (Some(text), None),
            Body::Bytes(bytes) => (None, Some(bytes)),
        };
        Block::Embedded { uri: uri.into(), mime_type: None, text, blob }.into()
    }

    /// Sets the block's MIME type. Text has none.
    #[must_use]
    pub fn mime_type(mut self, given: impl Into<String>) -> Self {
        match &mut self.block {
            Block::Text(_) => {}
            Block::Image { mime_type, .. } | Block::Audio { mime_type, .. } => *mime_type = given.into(),
            Block::Embedded { mime_type, .. } | Block::Link { mime_type, .. } => {
                *mime_type = Some(given.into());
            }
        }
        self
    }

    /// Describes the target of a link. Other blocks ignore it.
    #[must_use]
    pub fn description(mut self, given: impl Into<String>) -> Self {
        if let Block::Link { description, .. } = &mut self.block {
            *description = Some(given.into());
        }
        self
    }

    /// Sets the audience: `Audience::User`, or both as `[Audience::User, Audience::Assistant]`.
    #[must_use]
    pub fn audience(self, audience: impl AsRef<[Audience]>) -> Self {
        let names = audience.as_ref().iter().map(|one| match one {
            Audience::User => "user".into(),
            Audience::Assistant => "assistant".into(),
        });
        self.annotation("audience", Value::Array(names.collect()))
    }

    /// Sets the block's importance, from 0.0 (optional) to 1.0 (required). Values outside are clamped; NaN is ignored.
    #[must_use]
    pub fn priority(self, priority: f64) -> Self {
        if priority.is_nan() {
            return self;
        }
        self.annotation("priority", priority.clamp(0.0, 1.0).into())
    }

    /// Adds MCP's `annotations` or `_meta` as they are.
    #[must_use]
    pub fn extra(mut self, name: impl Into<String>, value: Value) -> Self {
        self.extras.push((name.into(), value));
        self
    }

    fn annotation(mut self, name: &str, value: Value) -> Self {
        let given = self.extras.iter_mut().find_map(|(name, value)| match value {
            Value::Object(annotations) if name == "annotations" => Some(annotations),
            _ => None,
        });
        match given {
            Some(annotations) => {
                annotations.insert(name.into(), value);
                self
            }
            None => {
                let annotations = Object::from_iter([(name.to_owned(), value)]);
                self.extra("annotations", annotations.into())
            }
        }
    }
}

impl From<Block> for Content {
    fn from(block: Block) -> Self {
        Self { block, extras: Vec::new() }
    }
}

/// Audience of a content block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Audience {
    /// The person.
    User,
    /// The model.
    Assistant,
}

impl AsRef<[Audience]> for Audience {
    fn as_ref(&self) -> &[Audience] {
        std::slice::from_ref(self)
    }
}

/// Content of an embedded resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// Text.
    Text(String),
    /// Anything else.
    Bytes(Vec<u8>),
}

impl From<&str> for Body {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Body {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Vec<u8>> for Body {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Bytes(bytes)
    }
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
