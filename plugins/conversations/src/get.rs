//! `get`: a page of messages.

use loggia_sdk::prelude::*;

use crate::kept::{self, Message, Role};

/// At detail `standard`, a longer text is cut: characters.
const EXCERPT: usize = 1000;
/// Maximum size of a page's texts as JSON, regardless of the limit: the host accepts 1 MiB.
const BYTES: usize = 600 * 1024;

/// A page of a conversation.
#[detail]
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub struct Transcript {
    #[detail(minimal)]
    pub conversation: String,
    #[detail(minimal)]
    pub title: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub archived: bool,
    /// In their order.
    #[detail(minimal)]
    pub messages: Vec<Line>,
}

/// A message.
#[detail]
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub struct Line {
    /// From 1.
    #[detail(minimal)]
    pub position: u32,
    #[detail(minimal)]
    pub role: Role,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    pub text: String,
    /// Length of the whole text, if it is truncated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub characters: Option<usize>,
    #[detail(full)]
    pub at: String,
}

impl Line {
    fn new(position: u32, message: Message, detail: Detail) -> Self {
        let Message { role, text, name, at } = message;
        let (text, characters) = match detail {
            Detail::Full => (text, None),
            Detail::Standard => excerpt(text),
            _ => (String::new(), None),
        };
        Self { position, role, name, text, characters, at: kept::moment(at) }
    }

    fn bytes(&self) -> usize {
        kept::size(&self.text)
    }
}

/// Selection of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// The newest.
    Newest,
    /// The ones directly before a position.
    Before(u32),
    /// The ones from a position on.
    From(u32),
}

impl Wanted {
    /// # Errors
    ///
    /// `invalid_params` for an invalid cursor.
    pub fn new(from: Option<u32>, cursor: Option<&str>) -> Result<Self> {
        let Some(cursor) = cursor else { return Ok(from.map_or(Self::Newest, Self::From)) };
        let parsed = match cursor.split_at_checked(1) {
            Some(("<", position)) => position.parse().ok().filter(|position| *position > 1).map(Self::Before),
            Some((">", position)) => position.parse().ok().filter(|position| *position > 0).map(Self::From),
            _ => None,
        };
        parsed.ok_or_else(|| Failure::invalid_params("`cursor` is not from `get`"))
    }
}

/// Reads a page of a conversation.
pub fn get(id: &str, wanted: Wanted, limit: u32, detail: Detail) -> Result<Reply<Transcript>> {
    let conversation = kept::conversation(id)?;
    let all = conversation.messages;
    let mut lines = Vec::new();
    let mut bytes = 0;
    let take = |position, message| {
        let line = Line::new(position, message, detail);
        bytes += line.bytes();
        let fits = lines.is_empty() || bytes <= BYTES;
        if fits {
            lines.push(line);
        }
        fits
    };
    let cursor = match wanted {
        Wanted::From(from) => {
            if from > all {
                let failure = Failure::invalid_params(format!(
                    "`from` is beyond the end: the conversation has {}",
                    kept::count(all)
                ));
                return Err(failure.hint("Without `from`, the newest are returned."));
            }
            kept::messages(id, from..=all.min(from.saturating_add(limit - 1)), take)?;
            lines
                .last()
                .map(|line| line.position + 1)
                .filter(|next| *next <= all)
                .map(|next| format!(">{next}"))
        }
        Wanted::Newest | Wanted::Before(_) => {
            let last = if let Wanted::Before(position) = wanted { all.min(position - 1) } else { all };
            kept::messages(id, (last.saturating_sub(limit) + 1..=last).rev(), take)?;
            lines.reverse();
            lines
                .first()
                .map(|line| line.position)
                .filter(|first| *first > 1)
                .map(|first| format!("<{first}"))
        }
    };
    let mut page = Page::of(lines.len()).total(all as usize);
    page.cursor = cursor;
    let cut = lines.iter().find(|line| line.characters.is_some()).map(|line| line.position);
    let transcript = Transcript {
        conversation: id.to_owned(),
        title: conversation.title().to_owned(),
        archived: conversation.archived,
        messages: lines,
    };
    let reply = Reply::new(transcript).page(page);
    Ok(match cut {
        Some(position) => reply.message(format!(
            "Long texts are truncated, such as that of message {position}: use detail `full`."
        )),
        None => reply,
    })
}

/// Truncates a long text; also returns its length.
fn excerpt(mut text: String) -> (String, Option<usize>) {
    let Some((end, _)) = text.char_indices().nth(EXCERPT) else { return (text, None) };
    let characters = text.chars().count();
    text.truncate(end);
    text.push('…');
    (text, Some(characters))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_continues_a_page() {
        let check = |cursor, expected| assert_eq!(Wanted::new(None, Some(cursor)).ok(), expected, "{cursor}");
        check("<21", Some(Wanted::Before(21)));
        check(">21", Some(Wanted::From(21)));
        for none in ["", "21", "<", "<1", ">0", "<-1", "é", ">21x"] {
            check(none, None);
        }
        assert_eq!(Wanted::new(Some(3), None), Ok(Wanted::From(3)));
        assert_eq!(Wanted::new(None, None), Ok(Wanted::Newest));
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        assert_eq!(excerpt("é".repeat(1000)), ("é".repeat(1000), None));
        assert_eq!(excerpt("é".repeat(1001)), ("é".repeat(1000) + "…", Some(1001)));
    }
}
