//! Stored data and their keys.
//!
//! | | under | |
//! |---|---|---|
//! | [`CONVERSATIONS`] | its id, `c_0001` | title, times, number of messages |
//! | [`MESSAGES`] | conversation and position, `c_0001/12` | a message: a page is read by computed keys |
//! | [`places`] | 256 numbers a row | location of a message by its number, for hits of the index |
//! | [`RECENT`], [`ARCHIVED`] | the newest message's number, counted down | a conversation's id: the most recently active first |
//!
//! All messages share one sequence of numbers. The index uses it to identify them, and since it only increases, it
//! orders conversations by their last activity.

use std::time::{Duration, SystemTime};

use loggia_sdk::{
    prelude::*,
    state::{Collection, Transaction, number_in_id},
};
use ranking::Index;

use crate::places::{self, Place};

/// Conversations by id.
pub static CONVERSATIONS: Collection<Conversation> = Collection::new("conversations");
/// The words of all messages, by number.
pub static WORDS: Index = Index::new("words");

static MESSAGES: Collection<Message> = Collection::new("messages");
/// Ids of conversations, the last active first.
pub static RECENT: Collection<String> = Collection::new("recent");
/// Like [`RECENT`], for archived conversations.
pub static ARCHIVED: Collection<String> = Collection::new("archived");

/// Number of messages per read: at their maximum size, 6 MiB.
const STEP: usize = 20;

/// Role of a message's author.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    User,
    Assistant,
    System,
    Tool,
}

impl Role {
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::System => "system",
            Self::Tool => "tool",
        }
    }
}

/// A conversation, without its messages.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Conversation {
    /// Given, or derived from the first user message; `None` before there is one.
    pub title: Option<String>,
    pub messages: u32,
    /// The number of its newest message.
    pub newest: u32,
    pub archived: bool,
    /// Seconds since 1970.
    pub created: u64,
    /// Time of the newest message: seconds since 1970.
    pub updated: u64,
}

impl Conversation {
    pub fn title(&self) -> &str {
        self.title.as_deref().unwrap_or("(untitled)")
    }

    /// Sort key within its list. All keys have the same length, so they sort like the numbers.
    pub fn rank(&self) -> String {
        format!("{:010}", u32::MAX - self.newest)
    }

    /// List of the conversation: recent or archived.
    pub fn list(&self) -> &'static Collection<String> {
        if self.archived { &ARCHIVED } else { &RECENT }
    }
}

/// A message.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Message {
    pub role: Role,
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// When it was appended: seconds since 1970.
    pub at: u64,
}

/// Prefix of ids.
pub const PREFIX: &str = "c_";

/// The number in a conversation's id.
pub fn number(id: &str) -> Option<u32> {
    number_in_id(PREFIX, id)?.try_into().ok()
}

/// Failure for an unknown conversation.
pub fn missing(id: &str) -> Failure {
    Failure::not_found(format!("not found: there is no conversation `{id}`"))
        .hint("`list` shows conversations, `search` finds messages.")
        .next(Next::action("list"))
}

/// The conversation of this id.
///
/// # Errors
///
/// `not_found`.
pub fn conversation(id: &str) -> Result<Conversation> {
    CONVERSATIONS.get(id)?.ok_or_else(|| missing(id))
}

fn key(id: &str, position: u32) -> String {
    format!("{id}/{position}")
}

/// Writes messages with their numbers, from this position on, their locations, and their words.
///
/// # Errors
///
/// The host's.
pub fn write(tx: &Transaction, id: &str, position: u32, messages: &[(u32, Message)]) -> Result<()> {
    let talk = number(id).ok_or_else(|| missing(id))?;
    let mut places = Vec::with_capacity(messages.len());
    let mut texts = Vec::with_capacity(messages.len());
    for (position, (number, message)) in (position..).zip(messages) {
        MESSAGES.of(tx).put(&key(id, position), message)?;
        places.push((*number, Place(talk, position, message.role)));
        texts.push((*number, message.text.as_str()));
    }
    places::write(tx, &places)?;
    WORDS.add(tx, &texts)
}

/// Reads the messages at these positions, in order, until `take` returns false.
///
/// # Errors
///
/// The host's.
pub fn messages(
    id: &str,
    positions: impl Iterator<Item = u32>,
    mut take: impl FnMut(u32, Message) -> bool,
) -> Result<()> {
    let positions: Vec<u32> = positions.collect();
    for part in positions.chunks(STEP) {
        let keys: Vec<String> = part.iter().map(|position| key(id, *position)).collect();
        for (position, message) in part.iter().zip(MESSAGES.get_many(&keys)?) {
            if message.is_some_and(|message| !take(*position, message)) {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Messages at places anywhere, in the places' order.
///
/// # Errors
///
/// The host's.
pub fn at(places: &[Place]) -> Result<Vec<Option<Message>>> {
    let mut found = Vec::with_capacity(places.len());
    for part in places.chunks(STEP) {
        let keys: Vec<String> = part.iter().map(|place| key(&place.conversation(), place.1)).collect();
        found.append(&mut MESSAGES.get_many(&keys)?);
    }
    Ok(found)
}

/// Estimated size of a message in a reply: header, quotation marks of lines, and escapes in JSON, possibly twice.
pub fn size(text: &str) -> usize {
    let escaped = text.matches(['\n', '\r', '\t', '"', '\\']).count();
    let control = text.matches(char::is_control).count();
    300 + text.len() + 2 * escaped + 5 * control
}

/// `1 message`, `2 messages`.
pub fn count(messages: u32) -> String {
    format!("{messages} message{}", if messages == 1 { "" } else { "s" })
}

/// Now, in seconds since 1970.
pub fn now() -> u64 {
    SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default().as_secs()
}

/// A moment in words: RFC 3339, UTC.
pub fn moment(seconds: u64) -> String {
    humantime::format_rfc3339_seconds(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).to_string()
}
