//! Several files in one answer.

use loggia_sdk::{failure::Parts, prelude::*};

use super::{Content, Got, Query, get};
use crate::roots::Roots;

/// Maximum bytes of all contents: as JSON, each may take six, and the host accepts 1 MiB.
const BYTES: u64 = 112 * 1024;

/// Maximum bytes of all paths, which an answer may contain twice.
const PATHS: usize = 16 * 1024;

/// A file, or why it could not be read.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Item {
    File(Content),
    Failed { path: String, code: String, error: String },
}

/// Reads the files in this order, until the answer is full.
pub fn many(roots: &Roots, paths: &[String], query: &Query) -> Result<Reply<Got>> {
    if query.offset > 0 {
        return Err(Failure::invalid_params("`offset` is for one file: pass `path`"));
    }
    if paths.iter().map(String::len).sum::<usize>() > PATHS {
        return Err(Failure::invalid_params(format!("`paths` have more than {} KiB together", PATHS >> 10)));
    }
    let mut left = BYTES;
    let mut items = Vec::with_capacity(paths.len());
    let (mut parts, mut binary) = (0, 0);
    for (at, path) in paths.iter().enumerate() {
        // A part of the first one, or there would be no progress.
        let limit = if at == 0 { query.limit.min(BYTES) } else { query.limit };
        let item = match roots.place(path).and_then(|place| get(&place, &Query { limit, ..query.clone() })) {
            Ok(reply) => {
                parts += usize::from(reply.data.text.is_some() && reply.next.is_some());
                binary += usize::from(reply.data.text.is_none() && reply.data.base64.is_none());
                Item::File(reply.data)
            }
            Err(failure) => {
                let Parts { code, message, .. } = failure.into_parts();
                Item::Failed { path: path.clone(), code, error: message }
            }
        };
        let bytes = item.bytes();
        if bytes > left {
            return Ok(reply(items, parts, binary).next(rest(&paths[at..], query)));
        }
        left -= bytes;
        items.push(item);
    }
    Ok(reply(items, parts, binary))
}

impl Item {
    fn bytes(&self) -> u64 {
        let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        (200 + match self {
            Self::File(content) => text(&content.text) + text(&content.base64),
            Self::Failed { error, .. } => error.len(),
        }) as u64
    }
}

fn reply(items: Vec<Item>, parts: usize, binary: usize) -> Reply<Got> {
    let page = Page::of(items.len());
    let mut messages = Vec::new();
    if parts > 0 {
        messages.push(format!("Only in part: {parts}, see `next_offset` or `lines`; `get` them by `path`."));
    }
    if binary > 0 {
        messages.push(format!("Not UTF-8 text: {binary}; `encoding: \"base64\"` returns their bytes."));
    }
    let mut reply = Reply::new(Got::Many(items)).page(page);
    reply.message = (!messages.is_empty()).then(|| messages.join(" "));
    reply
}

/// The call for the files that did not fit.
fn rest(paths: &[String], query: &Query) -> Next {
    let mut next = Next::action("get").param("paths", paths).reason("they did not fit into this answer");
    if let Some(lines) = &query.lines {
        next = next.param("lines", lines);
    }
    query.again(next)
}
