//! A guest's reply.

use loggia_facade::{Block, Content, Object, Page, Reply, ReplyData};

use super::{
    extras::{PART_OVERHEAD, RawExtras, extras_size, text_size},
    malformed::{MalformedAnswer, malformed, parse_json},
    next::{RawNext, parse_next},
};

/// A reply as a guest returns it.
pub(crate) struct RawReply {
    /// JSON.
    pub data: String,
    pub message: Option<String>,
    pub page: Option<Page>,
    pub next: Option<RawNext>,
    pub content: Vec<RawContent>,
    pub extras: RawExtras,
}

/// A content block whose extras are JSON texts.
pub(crate) struct RawContent {
    pub block: Block,
    pub extras: RawExtras,
}

impl RawReply {
    /// Bytes that it takes up, as the limit of a result counts them: all of its strings, `next` as often as MCP repeats
    /// it, and an overhead for each part.
    pub(crate) fn size(&self) -> usize {
        self.data.len()
            + text_size(self.message.as_ref())
            + self.page.as_ref().map_or(0, |page| text_size(page.cursor.as_ref()))
            + self.next.as_ref().map_or(0, RawNext::size)
            + self.content.iter().map(RawContent::size).sum::<usize>()
            + extras_size(&self.extras)
    }

    /// Parses the JSON texts in it, but for its data if that can be passed on as it is, and checks its content.
    pub(crate) fn parse(self) -> Result<Reply, MalformedAnswer> {
        let next = parse_next(self.next, &self.extras);
        let content = self.content.into_iter().map(RawContent::parse).collect::<Result<_, _>>()?;
        let data = ReplyData::from_text(self.data).map_err(|error| malformed("the reply's data", error))?;
        Ok(Reply { data, message: self.message, page: self.page, next, content })
    }
}

impl RawContent {
    fn size(&self) -> usize {
        let own = match &self.block {
            Block::Text(text) => text.len(),
            Block::Image { data, mime_type } | Block::Audio { data, mime_type } => {
                data.len() + mime_type.len()
            }
            Block::Embedded { uri, mime_type, text, blob } => {
                let blob = blob.as_ref().map_or(0, Vec::len);
                uri.len() + text_size(mime_type.as_ref()) + text_size(text.as_ref()) + blob
            }
            Block::Link { uri, name, description, mime_type } => {
                uri.len() + name.len() + text_size(description.as_ref()) + text_size(mime_type.as_ref())
            }
        };
        PART_OVERHEAD + own + extras_size(&self.extras)
    }

    fn parse(self) -> Result<Content, MalformedAnswer> {
        let mut extras = Object::new();
        for (name, text) in self.extras {
            extras.insert(name, parse_json("a content block's extra", &text)?);
        }
        match &self.block {
            Block::Image { mime_type, .. } => check_media_type("a picture", "image/", mime_type)?,
            Block::Audio { mime_type, .. } => check_media_type("a sound", "audio/", mime_type)?,
            Block::Text(_) | Block::Embedded { .. } | Block::Link { .. } => {}
        }
        Ok(Content { block: self.block, extras })
    }
}

/// Checks a media type. Clients make addresses and documents of it: a picture that claims to be a page must not become
/// one.
pub(super) fn check_media_type(what: &'static str, prefix: &str, given: &str) -> Result<(), MalformedAnswer> {
    let kind = given.get(..prefix.len()).filter(|start| start.eq_ignore_ascii_case(prefix));
    let is_plain = |c: u8| c.is_ascii_alphanumeric() || b".+-_".contains(&c);
    let subtype = given.get(prefix.len()..).filter(|own| !own.is_empty() && own.bytes().all(is_plain));
    match kind.and(subtype) {
        Some(_) => Ok(()),
        None => Err(MalformedAnswer::MediaType { what, given: given.to_owned() }),
    }
}
