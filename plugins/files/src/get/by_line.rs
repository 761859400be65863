//! Lines of a text file, with their numbers on request.

use std::{fs::File, io::Seek};

use loggia_sdk::prelude::*;

use super::{Content, Query, open, text};
use crate::{
    edit,
    lines::{self, Lines, Piece},
    mime,
    put::Encoding,
    roots::Place,
    version,
};

/// Larger files are read by bytes: a call counts all lines, which takes a tenth of its CPU time at this size.
const FILE: u64 = 32 * 1024 * 1024;

/// Bytes by which a line's number lengthens an answer.
const NUMBER: u64 = 8;

/// Reads lines, as many as fit into the limit.
pub fn get(place: &Place, lines: Lines, query: &Query) -> Result<Reply<Content>> {
    if query.offset > 0 || query.encoding == Some(Encoding::Base64) {
        return Err(Failure::invalid_params("`lines` and `numbered` exclude `offset` and `base64`")
            .hint("Lines are of text. Read bytes by `offset` and `limit` alone."));
    }
    let (mut file, size) = open(place)?;
    let path = place.path();
    if size > FILE {
        let end = Next::action("get").param("path", &path).param("offset", size.saturating_sub(query.limit));
        return Err(Failure::invalid_params(format!(
            "too large to count its lines: {path} has {size} bytes"
        ))
        .hint("Read a part by `offset`; the next call reads the end.")
        .next(end));
    }
    let numbered = query.numbered;
    let failed = |error| place.failed(error);
    // Hashed first: if the file changes in between, an edit of this version is refused.
    let version = if size <= edit::FILE { Some(hash(&mut file).map_err(failed)?) } else { None };
    let piece = lines::read(&file, lines, query.limit, if numbered { NUMBER } else { 0 });
    let piece = piece.map_err(failed)?;
    if piece.first > piece.last && piece.total > 0 {
        let what = if piece.first > piece.total { "is past the end" } else { "is an empty range" };
        return Err(Failure::invalid_params(format!(
            "line {} {what}: {path} has {} lines",
            piece.first, piece.total
        )));
    }
    let Some(text) = text(&piece.bytes, 0, piece.cut) else {
        return Err(Failure::conflict(format!("it is not UTF-8 text: {path}"))
            .hint("`encoding: \"base64\"` without `lines` returns the bytes."));
    };
    let content = Content {
        size,
        mime: mime::guess(&path, text.as_bytes()),
        text: Some(if numbered { lines::numbered(text, piece.first) } else { text.to_owned() }),
        lines: Some(format!("{}-{}", piece.first, piece.last)),
        total_lines: Some(piece.total),
        version,
        ..Content::of(path)
    };
    Ok(reply(content, &piece, lines, query))
}

fn hash(file: &mut File) -> std::io::Result<String> {
    let version = version::read(&*file)?;
    file.rewind()?;
    Ok(version)
}

/// Adds a message if the limit was reached.
fn reply(content: Content, piece: &Piece, lines: Lines, query: &Query) -> Reply<Content> {
    let Piece { last, next, cut, .. } = piece;
    let next = next.map(|first| {
        let (_, last) = lines.within(piece.total);
        let next = Next::action("get").param("path", &content.path).param("lines", format!("{first}-{last}"));
        query.again(next)
    });
    let mut messages = Vec::new();
    if *cut {
        messages.push(format!("Line {last} is longer than `limit`, and cut."));
    }
    if next.is_some() {
        messages.push(format!("The limit is reached at line {last}."));
    }
    let mut reply = Reply::new(content);
    reply.message = (!messages.is_empty()).then(|| messages.join(" "));
    reply.next = next;
    reply
}
