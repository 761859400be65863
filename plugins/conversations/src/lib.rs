//! Conversations, stored verbatim, as a Loggia plugin. See the README.

mod append;
mod archive;
mod export;
mod get;
mod kept;
mod list;
mod places;
mod search;
mod summary;

use loggia_sdk::prelude::*;

use append::{Appended, Said};
use export::{Exported, Format};
use get::Transcript;
use kept::Role;
use search::Passage;
use summary::Summary;

/// The facade.
pub struct Conversations;

/// Conversations, stored verbatim.
#[facade(needs("store", "to store them"))]
impl Conversations {
    /// Add one message (`role`, `text`) or many (`messages`), to a conversation or to a new one.
    #[action(
        write,
        alias = "add",
        example = r#"{"messages": [{"role": "user", "text": "Where is the Etna?"}, {"role": "assistant", "text": "On Sicily."}]}"#
    )]
    #[allow(clippy::too_many_arguments)]
    fn append(
        &self,
        call: &Call,
        /// Id; without it a new one is created.
        #[param(length = 1..=16, example = "c_0001")]
        conversation: Option<String>,
        #[param(length = 1..=100)] messages: Option<Vec<Said>>,
        role: Option<Role>,
        #[param(length = 1..=50_000)] text: Option<String>,
        /// Author or tool name.
        #[param(length = 1..=100)]
        name: Option<String>,
        /// Title of the conversation; default: its first user message.
        #[param(length = 1..=200)]
        title: Option<String>,
    ) -> Result<Reply<Appended>> {
        let said = append::said(messages, role, text, name)?;
        append::append(conversation.as_deref(), &said, title.as_deref(), call.detail())
    }

    /// List conversations, most recently active first.
    #[action(read, alias = "ls")]
    fn list(
        &self,
        /// Archived ones instead.
        #[param(default)]
        archived: bool,
        #[param(default = 20, range = 1..=200)] limit: u32,
        /// From the last answer, for the next part.
        cursor: Option<String>,
    ) -> Result<Reply<Vec<Summary>>> {
        list::list(archived, limit, cursor.as_deref())
    }

    /// Read messages: the newest, or from a position on.
    ///
    /// With detail `minimal` no texts, `standard` the first 1,000 characters of each, `full` all.
    #[action(read, details, alias = "read", example = r#"{"conversation": "c_0001", "from": 1}"#)]
    fn get(
        &self,
        call: &Call,
        #[param(length = 1..=16)] conversation: String,
        /// First position; positions count from 1.
        #[param(range = 1..=1_000_000_000)]
        from: Option<u32>,
        #[param(default = 20, range = 1..=200)] limit: u32,
        /// From the last answer: the previous page, or with `from` the next.
        cursor: Option<String>,
    ) -> Result<Reply<Transcript>> {
        get::get(&conversation, get::Wanted::new(from, cursor.as_deref())?, limit, call.detail())
    }

    /// Find messages by words, best first.
    #[action(read, alias = "find", example = r#"{"query": "volcano sicily", "role": "user"}"#)]
    #[allow(clippy::too_many_arguments)]
    fn search(
        &self,
        call: &Call,
        #[param(length = 1..=1000)] query: String,
        #[param(default = 10, range = 1..=50)] limit: u32,
        /// Only this conversation.
        #[param(length = 1..=16)]
        conversation: Option<String>,
        role: Option<Role>,
        /// `true`: only archived ones; `false`: only others.
        archived: Option<bool>,
    ) -> Result<Reply<Vec<Passage>>> {
        let query = search::Query { query, limit: limit as usize, conversation, role, archived };
        search::search(&query, call.detail())
    }

    /// Archive a conversation, or restore it.
    #[action(write, idempotent, example = r#"{"conversation": "c_0001"}"#)]
    fn archive(
        &self,
        #[param(length = 1..=16)] conversation: String,
        /// `false` restores it.
        #[param(default = true)]
        archived: bool,
    ) -> Result<Reply<Summary>> {
        archive::archive(&conversation, archived)
    }

    /// Return a whole conversation as Markdown or JSON, in parts if it is long.
    ///
    /// The text is a resource; with detail `full` it is in the data instead.
    #[action(read, details, example = r#"{"conversation": "c_0001", "format": "json"}"#)]
    fn export(
        &self,
        call: &Call,
        #[param(length = 1..=16)] conversation: String,
        #[param(default)] format: Format,
        /// From the last answer, for the next part.
        cursor: Option<String>,
    ) -> Result<Reply<Exported>> {
        export::export(&conversation, format, cursor.as_deref(), call.detail())
    }
}

loggia_sdk::export!(Conversations);

#[cfg(test)]
mod tests;
