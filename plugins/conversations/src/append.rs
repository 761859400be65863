//! `append`: messages at the end of a conversation, or of a new one.

use loggia_sdk::prelude::*;

use crate::{
    kept::{self, CONVERSATIONS, Conversation, Message, PREFIX, Role},
    places::NUMBERS,
};

/// Maximum length in characters of a title that is derived from a message.
const TITLE: usize = 60;

/// A message to append.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
pub struct Said {
    pub role: Role,
    #[schemars(length(min = 1, max = 50_000))]
    pub text: String,
    /// Author or tool name.
    #[schemars(length(min = 1, max = 100))]
    pub name: Option<String>,
}

/// Result of `append`.
#[detail]
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub struct Appended {
    #[detail(minimal)]
    pub conversation: String,
    /// Number of messages after the append.
    #[detail(minimal)]
    pub messages: u32,
    /// New title, if it was set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

/// Messages of a call, which passes one or many.
///
/// # Errors
///
/// `invalid_params` if it gives neither or both.
pub fn said(
    messages: Option<Vec<Said>>,
    role: Option<Role>,
    text: Option<String>,
    name: Option<String>,
) -> Result<Vec<Said>> {
    match (messages, role, text) {
        (Some(messages), None, None) if name.is_none() => Ok(messages),
        (None, Some(role), Some(text)) => Ok(vec![Said { role, text, name }]),
        (None, None, Some(_)) => Err(Failure::invalid_params("`role` is required with `text`")
            .hint("One of user, assistant, system, tool.")),
        (None, _, None) => Err(Failure::invalid_params("`messages` is required, or `role` and `text`")),
        (Some(_), ..) => Err(Failure::invalid_params(
            "`messages` excludes `role`, `text` and `name`, which are for one message",
        )),
    }
}

/// Appends the messages and updates everything derived from them, atomically.
pub fn append(
    conversation: Option<&str>,
    said: &[Said],
    title: Option<&str>,
    detail: Detail,
) -> Result<Reply<Appended>> {
    let at = kept::now();
    let messages: Vec<Message> = said.iter().map(|said| message(said, at)).collect();
    let given = title.map(|title| line(title, 200)).filter(|title| !title.is_empty());
    let count = u32::try_from(messages.len())?;
    let (id, now, titled) = state::transaction(|tx| {
        let conversations = CONVERSATIONS.of(tx);
        let (id, mut now) = match conversation {
            Some(id) => (id.to_owned(), conversations.get(id)?.ok_or_else(|| unknown(id))?),
            None => (conversations.next_id(PREFIX)?, Conversation { created: at, ..Conversation::default() }),
        };
        let before = now.clone();
        let mut numbers = NUMBERS.of(tx).get()?.unwrap_or_default();
        let numbered: Vec<(u32, Message)> =
            messages.iter().map(|message| (numbers.give(message.text.len()), message.clone())).collect();
        NUMBERS.of(tx).set(&numbers)?;
        if before.messages > 0 {
            before.list().of(tx).remove(&before.rank())?;
        }
        now.title = given.clone().or(now.title).or_else(|| title_of(said));
        now.messages += count;
        now.newest = numbered.last().map_or(now.newest, |(number, _)| *number);
        now.updated = at;
        now.list().of(tx).put(&now.rank(), &id)?;
        kept::write(tx, &id, before.messages + 1, &numbered)?;
        conversations.put(&id, &now)?;
        let titled = before.title != now.title;
        Ok((id, now, titled))
    })?;
    let title = (titled || detail == Detail::Full).then(|| now.title().to_owned());
    let reply = Reply::new(Appended { conversation: id.clone(), messages: now.messages, title });
    Ok(if now.archived {
        let out = Next::action("archive").param("conversation", id).param("archived", false);
        reply.message("The conversation is archived, and stays so.").next(out)
    } else {
        reply
    })
}

fn message(said: &Said, at: u64) -> Message {
    let name = said.name.as_deref().map(|name| line(name, 100)).filter(|name| !name.is_empty());
    Message { role: said.role, text: said.text.clone(), name, at }
}

fn unknown(id: &str) -> Failure {
    let failure = kept::missing(id);
    failure.hint("Omit `conversation` to create one; `list` shows the existing ones.")
}

/// Derives a title from the first messages.
fn title_of(said: &[Said]) -> Option<String> {
    let users = said.iter().filter(|said| said.role == Role::User);
    users.map(|said| line(&said.text, TITLE)).find(|title| !title.is_empty())
}

/// Reduces a text to one line of at most this many characters.
fn line(text: &str, characters: usize) -> String {
    let mut line = String::new();
    for word in
        text.split(|char: char| char.is_whitespace() || char.is_control()).filter(|word| !word.is_empty())
    {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.chars().nth(characters).is_some() {
            let mut cut: String = line.chars().take(characters - 1).collect();
            cut.truncate(cut.trim_end().len());
            return cut + "…";
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_one_short_line() {
        let check = |text, expected: &str| assert_eq!(line(text, 12), expected, "{text:?}");
        check("Where is it?", "Where is it?");
        check("  Where\n\tis\r\nit? ", "Where is it?");
        check("Where is it now?", "Where is it…");
        check("Whereisitnowandthen", "Whereisitno…");
        check("Straße ÄÖÜ é", "Straße ÄÖÜ é");
        check("\u{7}", "");
    }
}
