//! `export`: a conversation as one text, in parts if it is long.

use loggia_sdk::{prelude::*, serde_json};

use crate::kept::{self, Conversation, Message, Role, moment};

/// Maximum size of a part: the host accepts 1 MiB, and JSON may double a text.
const PART: usize = 400 * 1024;

/// Output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    #[default]
    Markdown,
    Json,
}

impl Format {
    fn mime(self) -> &'static str {
        match self {
            Self::Markdown => "text/markdown",
            Self::Json => "application/json",
        }
    }

    fn extension(self) -> &'static str {
        match self {
            Self::Markdown => "md",
            Self::Json => "json",
        }
    }
}

/// Result of `export`; the text itself is a separate resource.
#[detail]
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub struct Exported {
    #[detail(minimal)]
    pub conversation: String,
    #[detail(minimal)]
    pub title: String,
    /// URI of the resource.
    pub uri: String,
    pub mime: &'static str,
    /// Positions of the first and the last message in this part.
    pub from: u32,
    pub to: u32,
    #[detail(full)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// A conversation as JSON. `append` accepts its `messages`.
#[derive(Serialize)]
struct Document<'a> {
    conversation: &'a str,
    title: &'a str,
    archived: bool,
    created: String,
    updated: String,
    /// In the whole conversation.
    total: u32,
    messages: Vec<Entry>,
}

#[derive(Serialize)]
struct Entry {
    position: u32,
    at: String,
    role: Role,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    text: String,
}

/// Exports a conversation, or its next part.
pub fn export(id: &str, format: Format, cursor: Option<&str>, detail: Detail) -> Result<Reply<Exported>> {
    let conversation = kept::conversation(id)?;
    let all = conversation.messages;
    let from = match cursor {
        None => 1,
        Some(cursor) => cursor
            .parse()
            .ok()
            .filter(|from| (2..=all).contains(from))
            .ok_or_else(|| Failure::invalid_params("`cursor` is not from `export`"))?,
    };
    let mut messages = Vec::new();
    let mut bytes = 0;
    kept::messages(id, from..=all, |position, message| {
        bytes += kept::size(&message.text);
        let fits = messages.is_empty() || bytes <= PART;
        if fits {
            messages.push((position, message));
        }
        fits
    })?;
    let to = messages.last().map_or(from, |(position, _)| *position);
    let text = match format {
        Format::Markdown => markdown(id, &conversation, &messages),
        Format::Json => json(id, &conversation, &messages)?,
    };
    let uri = match (from, to == all) {
        (1, true) => format!("conversations://{id}.{}", format.extension()),
        _ => format!("conversations://{id}.{from}-{to}.{}", format.extension()),
    };
    let mut page = Page::of(messages.len()).total(all as usize);
    let mut said = None;
    if to < all {
        page = page.cursor((to + 1).to_string());
        said = Some(format!("Messages {from} to {to} of {all}: `cursor` gives the next part."));
    }
    let title = conversation.title().to_owned();
    let mut exported = Exported {
        conversation: id.to_owned(),
        title,
        uri: uri.clone(),
        mime: format.mime(),
        from,
        to,
        text: None,
    };
    let mut content = None;
    if detail == Detail::Full {
        exported.text = Some(text);
    } else {
        content = Some(Content::resource(uri, text).mime_type(format.mime()));
    }
    let mut reply = Reply::new(exported).page(page);
    reply.message = said;
    reply.content.extend(content);
    Ok(reply)
}

/// Every line of a message is in a quotation, so no message can pose as another one's header, whatever headings and
/// fences it contains.
fn markdown(id: &str, conversation: &Conversation, messages: &[(u32, Message)]) -> String {
    let mut text = String::new();
    if messages.first().is_none_or(|(position, _)| *position == 1) {
        let (title, count) = (conversation.title(), conversation.messages);
        let messages = kept::count(count);
        let begun = moment(conversation.created);
        text.push_str(&format!("# {title}\n\nConversation {id}, {messages}, begun {begun}.\n"));
    }
    for (position, Message { role, text: said, name, at }) in messages {
        let name = name.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
        text.push_str(&format!("\n## {position}. {}{name}, {}\n\n", role.name(), moment(*at)));
        for line in lines(said) {
            text.push_str(if line.is_empty() { ">" } else { "> " });
            text.push_str(line);
            text.push('\n');
        }
    }
    text
}

/// Splits into Markdown's lines: a lone carriage return ends one, too.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').flat_map(|line| line.strip_suffix('\r').unwrap_or(line).split('\r'))
}

fn json(id: &str, conversation: &Conversation, messages: &[(u32, Message)]) -> Result<String> {
    let entry = |(position, message): &'_ (u32, Message)| Entry {
        position: *position,
        at: moment(message.at),
        role: message.role,
        name: message.name.clone(),
        text: message.text.clone(),
    };
    let document = Document {
        conversation: id,
        title: conversation.title(),
        archived: conversation.archived,
        created: moment(conversation.created),
        updated: moment(conversation.updated),
        total: conversation.messages,
        messages: messages.iter().map(entry).collect(),
    };
    Ok(serde_json::to_string_pretty(&document)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_line_end_ends_a_line() {
        let check =
            |text: &str, expected: &[&str]| assert_eq!(lines(text).collect::<Vec<_>>(), expected, "{text:?}");
        check("", &[""]);
        check("a\nb\r\nc\rd", &["a", "b", "c", "d"]);
        check("a\n\n", &["a", "", ""]);
        check("\r", &[""]);
        check("\r\r", &["", ""]);
    }
}
