//! `get`: a file, a part of one, or several.

mod by_line;
mod many;

use std::{
    fs::File,
    io::{Read, Seek, SeekFrom},
    str,
};

use base64::{Engine, engine::general_purpose::STANDARD};
use loggia_sdk::prelude::*;

pub use many::many;

use many::Item;

use crate::{lines::Lines, mime, put::Encoding, roots::Place, version};

/// Maximum size of a picture or sound that is returned as a block of its own.
const MEDIUM: u64 = 512 * 1024;

/// A file's content, or a part of it.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub struct Content {
    pub path: String,
    /// Bytes of the whole file.
    pub size: u64,
    pub mime: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base64: Option<String>,
    /// Offset of the next part; absent at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<u64>,
    /// The lines in `text`: first and last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<String>,
    /// Lines of the whole file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_lines: Option<u64>,
    /// Given with a whole file or lines; `put`, `edit` and `move` ask for it before they replace it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// One file or several.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Got {
    One(Content),
    Many(Vec<Item>),
}

/// Part of a file that is wanted.
#[derive(Debug, Clone)]
pub struct Query {
    pub lines: Option<String>,
    pub offset: u64,
    pub limit: u64,
    /// Without it, text as it is, and other files are only described; with `text` they are refused.
    pub encoding: Option<Encoding>,
    /// Each line after its number.
    pub numbered: bool,
}

impl Query {
    /// Adds what the next part is to have, too.
    fn again(&self, mut next: Next) -> Next {
        if let Some(encoding) = self.encoding {
            next = next.param("encoding", encoding);
        }
        if self.numbered { next.param("numbered", true) } else { next }
    }
}

impl Content {
    /// A file of which nothing is known yet.
    fn of(path: String) -> Self {
        Self {
            path,
            size: 0,
            mime: "",
            text: None,
            base64: None,
            next_offset: None,
            lines: None,
            total_lines: None,
            version: None,
        }
    }
}

/// Reads one file.
pub fn one(place: &Place, query: &Query) -> Result<Reply<Got>> {
    let found = get(place, query)?;
    let mut reply = Reply::new(Got::One(found.data));
    (reply.message, reply.next, reply.content) = (found.message, found.next, found.content);
    Ok(reply)
}

/// Reads a file, or the wanted part of it.
fn get(place: &Place, query: &Query) -> Result<Reply<Content>> {
    let lines = query.lines.as_deref().map(Lines::parse).transpose()?;
    match lines.or(query.numbered.then_some(Lines::Range(1, None))) {
        Some(lines) => by_line::get(place, lines, query),
        None => bytes(place, query),
    }
}

/// Reads `limit` bytes from `offset` on.
fn bytes(place: &Place, query: &Query) -> Result<Reply<Content>> {
    let (path, offset) = (place.path(), query.offset);
    let (file, size) = open(place)?;
    if offset > size {
        return Err(Failure::invalid_params(format!(
            "`offset` {offset} is past the end: {path} has {size} bytes"
        )));
    }
    let bytes = part(file, offset, query.limit).map_err(|error| place.failed(error))?;
    let mime = mime::guess(&path, if offset == 0 { &bytes } else { &[] });
    let mut content = Content { size, mime, ..Content::of(path) };
    if offset == 0 && bytes.len() as u64 == size {
        content.version = Some(version::of(&bytes));
    }
    let end = |len: usize| Some(offset + len as u64).filter(|end| *end < size);
    let text = match query.encoding {
        Some(Encoding::Base64) => None,
        _ => text(&bytes, offset, end(bytes.len()).is_some()),
    };
    match (query.encoding, text) {
        (Some(Encoding::Base64), _) => {
            content.base64 = Some(STANDARD.encode(&bytes));
            content.next_offset = end(bytes.len());
        }
        (_, Some(text)) => {
            content.next_offset = end(text.len() + skipped(&bytes, offset));
            content.text = Some(text.to_owned());
        }
        (None, None) => return binary(place, content),
        (Some(Encoding::Text), None) => {
            return Err(Failure::conflict(format!("it is not UTF-8 text: {}", place.path()))
                .hint("`encoding: \"base64\"` returns the bytes"));
        }
    }
    Ok(to_reply(content, query))
}

fn open(place: &Place) -> Result<(File, u64)> {
    let real = place.followed()?;
    let metadata = std::fs::metadata(&real).map_err(|error| place.failed(error))?;
    if metadata.is_dir() {
        let failure = Failure::invalid_params(format!("it is a directory: {}", place.path()));
        return Err(failure.next(Next::action("list").param("path", place.path())));
    }
    if !metadata.is_file() {
        return Err(Failure::invalid_params(format!("neither a file nor a directory: {}", place.path())));
    }
    let file = File::open(real).map_err(|error| place.failed(error))?;
    Ok((file, metadata.len()))
}

fn part(mut file: File, offset: u64, limit: u64) -> std::io::Result<Vec<u8>> {
    if offset > 0 {
        file.seek(SeekFrom::Start(offset))?;
    }
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Decodes the part as text, without partial characters at its ends. `None` if it is not text.
fn text(bytes: &[u8], offset: u64, more: bool) -> Option<&str> {
    if bytes.contains(&0) {
        return None;
    }
    let bytes = &bytes[skipped(bytes, offset)..];
    match str::from_utf8(bytes) {
        Ok(text) => Some(text),
        // Truncated within a character, and at least one whole character precedes it.
        Err(error) if more && error.error_len().is_none() && error.valid_up_to() > 0 => {
            str::from_utf8(&bytes[..error.valid_up_to()]).ok()
        }
        Err(_) => None,
    }
}

/// Number of bytes at the start that belong to a character before it.
fn skipped(bytes: &[u8], offset: u64) -> usize {
    if offset == 0 { 0 } else { bytes.iter().take(3).take_while(|byte| **byte & 0xc0 == 0x80).count() }
}

/// Replies for a binary file if no encoding is asked for: a picture or sound as such, others with a description.
fn binary(place: &Place, content: Content) -> Result<Reply<Content>> {
    let (mime, size) = (content.mime, content.size);
    let (is_picture, is_sound) = (mime.starts_with("image/"), mime.starts_with("audio/"));
    if (is_picture || is_sound) && size <= MEDIUM {
        let (file, _) = open(place)?;
        let data = part(file, 0, MEDIUM).map_err(|error| place.failed(error))?;
        let mime_type = mime.to_owned();
        let (message, block) = if is_picture {
            ("A picture.", Block::Image { data, mime_type })
        } else {
            ("A sound.", Block::Audio { data, mime_type })
        };
        return Ok(Reply::new(content).message(message).content(block));
    }
    let again = Next::action("get").param("path", place.path()).param("encoding", Encoding::Base64);
    let message = format!("Not UTF-8 text: {mime}, {size} bytes. `encoding: \"base64\"` returns the bytes.");
    Ok(Reply::new(content).message(message).next(again))
}

/// Adds a message if there is more.
fn to_reply(content: Content, query: &Query) -> Reply<Content> {
    let Some(end) = content.next_offset else { return Reply::new(content) };
    let message = format!(
        "Bytes {} to {end} of {}. Call again with `offset` {end} for the next part.",
        query.offset, content.size
    );
    let next = Next::action("get").param("path", &content.path).param("offset", end);
    Reply::new(content).message(message).next(query.again(next))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_text_end_at_character_boundaries() {
        let check = |bytes: &[u8], offset, more, expected| {
            assert_eq!(text(bytes, offset, more), expected, "{bytes:?}")
        };
        let e = "é".as_bytes();
        check(b"abc", 0, false, Some("abc"));
        check(b"", 0, false, Some(""));
        check(&[b'a', e[0]], 0, true, Some("a"));
        check(&[b'a', e[0]], 0, false, None);
        check(&[e[1], b'a'], 5, false, Some("a"));
        check(&[e[1], b'a'], 0, false, None);
        check(b"a\0b", 0, false, None);
        check(&[0xff, b'a'], 0, false, None);
    }
}
