//! What is kept, and under which keys.
//!
//! | | under | |
//! |---|---|---|
//! | [`CONVERSATIONS`] | its id, `c_1` | title, times, how many messages |
//! | [`MESSAGES`] | conversation and position, `c_1/12` | a message: a page of them is asked for by keys alone |
//! | [`places`] | 256 numbers a row | where the message of a number stands, for what the index finds |
//! | [`RECENT`], [`ARCHIVED`] | the newest message's number, counted down | a conversation's id: the last active stands first |
//!
//! All messages share one count of numbers. It is the index's way to name them, and, since it only goes up, the order of
//! conversations by their last activity.

use std::time::{Duration, SystemTime};

use loggia_sdk::{
    prelude::*,
    state::{Collection, Transaction},
};
use ranking::Index;

use crate::places::{self, Place};

/// By id.
pub static CONVERSATIONS: Collection<Conversation> = Collection::new("conversations");
/// The words of all messages, by number.
pub static WORDS: Index = Index::new("words");

static MESSAGES: Collection<Message> = Collection::new("messages");
/// Ids of conversations, the last active first.
pub static RECENT: Collection<String> = Collection::new("recent");
/// The same of those in the archive.
pub static ARCHIVED: Collection<String> = Collection::new("archived");

/// Messages that are read at once: of the longest there are, 6 MiB.
const STEP: usize = 20;

/// Who says something.
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
    /// As given, or from the first user message; none before there is one.
    pub title: Option<String>,
    pub messages: u32,
    /// The number of its newest message.
    pub newest: u32,
    pub archived: bool,
    /// Seconds since 1970.
    pub created: u64,
    /// When the newest message came: seconds since 1970.
    pub updated: u64,
}

impl Conversation {
    pub fn title(&self) -> &str {
        self.title.as_deref().unwrap_or("(untitled)")
    }

    /// Where it stands among those of its kind. All keys have one length, so their order is that of the numbers.
    pub fn rank(&self) -> String {
        format!("{:010}", u32::MAX - self.newest)
    }

    /// The list that it is in.
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

/// The number in a conversation's id.
pub fn number(id: &str) -> Option<u32> {
    id.strip_prefix("c_")?.parse().ok()
}

/// There is no such conversation.
pub fn missing(id: &str) -> Failure {
    Failure::not_found(format!("not found: there is no conversation `{id}`"))
        .hint("`list` shows those there are, `search` finds messages.")
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

/// Writes messages, each with its number, from this position on, where they stand, and their words.
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

/// The messages at these positions, in their order, for as long as they are taken.
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

/// How much a message adds to an answer, roughly: its head, marks before each line, escapes in JSON, which may be escaped
/// once more.
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
