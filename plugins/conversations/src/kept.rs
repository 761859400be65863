//! What is kept, and under which keys.
//!
//! | | under | |
//! |---|---|---|
//! | [`CONVERSATIONS`] | its id, `c_1` | title, times, how many messages |
//! | [`MESSAGES`] | conversation and position, `c_1/12` | a message: a page of them is asked for by keys alone |
//! | [`PLACES`] | 256 numbers a row | where the message of a number stands, for what the index finds |
//! | [`RECENT`], [`ARCHIVED`] | the newest message's number, counted down | a conversation's id: the last active stands first |
//!
//! All messages share one count of numbers. It is the index's way to name them, and, since it only goes up, the order of
//! conversations by their last activity.

use std::{
    collections::BTreeMap,
    time::{Duration, SystemTime},
};

use loggia_sdk::{
    prelude::*,
    state::{Cell, Collection, Transaction},
};
use ranking::Index;

/// By id.
pub static CONVERSATIONS: Collection<Conversation> = Collection::new("conversations");
/// Which numbers are given out.
pub static NUMBERS: Cell<Numbers> = Cell::new("numbers");
/// The words of all messages, by number.
pub static WORDS: Index = Index::new("words");

static MESSAGES: Collection<Message> = Collection::new("messages");
static PLACES: Collection<Vec<Place>> = Collection::new("places");
/// Ids of conversations, the last active first.
pub static RECENT: Collection<String> = Collection::new("recent");
/// The same of those in the archive.
pub static ARCHIVED: Collection<String> = Collection::new("archived");

/// Numbers whose places share a row, and whose words share rows of the index.
const BLOCK: u32 = 256;
/// Texts of a block have so many bytes together, or one of them has: each append writes the rows of its block anew.
const FULL: usize = 256 * 1024;
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

/// The numbers that were given out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Numbers {
    /// The newest message's.
    newest: u32,
    /// Of the texts in its block.
    bytes: usize,
}

impl Numbers {
    /// A number for a text of so many bytes. Where the block is full, the rest of its numbers is passed over.
    pub fn give(&mut self, bytes: usize) -> u32 {
        let next = self.newest + 1;
        let full = self.bytes > 0 && self.bytes + bytes > FULL;
        self.newest = if full { next.next_multiple_of(BLOCK) } else { next };
        self.bytes = if self.newest.is_multiple_of(BLOCK) { bytes } else { self.bytes + bytes };
        self.newest
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

/// Where the message of a number stands: the number in its conversation's id, its position, who said it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place(pub u32, pub u32, pub Role);

impl Place {
    pub fn conversation(self) -> String {
        format!("c_{}", self.0)
    }
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

/// Writes messages, each with its number, from this position on, and where they stand.
///
/// # Errors
///
/// The host's.
pub fn write(tx: &Transaction, id: &str, position: u32, messages: &[(u32, Message)]) -> Result<()> {
    let talk = number(id).ok_or_else(|| missing(id))?;
    let mut blocks: BTreeMap<u32, Vec<Place>> = BTreeMap::new();
    for (position, (number, message)) in (position..).zip(messages) {
        MESSAGES.of(tx).put(&key(id, position), message)?;
        blocks.entry(number / BLOCK).or_default().push(Place(talk, position, message.role));
    }
    for (block, mut new) in blocks {
        let block = block.to_string();
        let mut places = PLACES.of(tx).get(&block)?.unwrap_or_default();
        places.append(&mut new);
        PLACES.of(tx).put(&block, &places)?;
    }
    Ok(())
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

/// Finds where messages stand, by their numbers; keeps what it has read.
#[derive(Default)]
pub struct Places(BTreeMap<u32, Vec<Place>>);

impl Places {
    /// Where these messages stand; none for a number that there is not.
    ///
    /// # Errors
    ///
    /// The host's.
    pub fn of(&mut self, numbers: &[u32]) -> Result<Vec<Option<Place>>> {
        let mut wanted: Vec<u32> = numbers.iter().map(|number| number / BLOCK).collect();
        wanted.sort_unstable();
        wanted.dedup();
        wanted.retain(|block| !self.0.contains_key(block));
        let keys: Vec<String> = wanted.iter().map(u32::to_string).collect();
        if !keys.is_empty() {
            let rows = PLACES.get_many(&keys)?;
            self.0.extend(wanted.into_iter().zip(rows.into_iter().map(Option::unwrap_or_default)));
        }
        Ok(numbers.iter().map(|number| self.find(*number)).collect())
    }

    fn find(&self, number: u32) -> Option<Place> {
        // Numbers have no gaps but at the end of a block, and there is no 0.
        let at = number % BLOCK - u32::from(number < BLOCK);
        self.0.get(&(number / BLOCK))?.get(at as usize).copied()
    }
}

/// Now, in seconds since 1970.
pub fn now() -> u64 {
    SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default().as_secs()
}

/// A moment in words: RFC 3339, UTC.
pub fn moment(seconds: u64) -> String {
    humantime::format_rfc3339_seconds(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_up_and_pass_over_the_rest_of_a_full_block() {
        let check = |texts: &[usize], expected: &[u32]| {
            let mut numbers = Numbers::default();
            let given: Vec<u32> = texts.iter().map(|bytes| numbers.give(*bytes)).collect();
            assert_eq!(given, expected, "{texts:?}");
        };
        check(&[10, 10, 10], &[1, 2, 3]);
        check(&[FULL, 1, 1], &[1, 256, 257]);
        check(&[FULL + 7, FULL + 7, 1], &[1, 256, 512]);
        check(&[FULL - 10, 10, 1], &[1, 2, 256]);
        let mut numbers = Numbers::default();
        let last = (0..600).map(|_| numbers.give(1)).last();
        assert_eq!((last, numbers.bytes), (Some(600), 600 - 512 + 1));
    }
}
