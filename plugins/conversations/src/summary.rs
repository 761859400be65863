//! A conversation as lists show it.

use loggia_sdk::prelude::*;

use crate::kept::{Conversation, moment};

/// A conversation, without its messages.
#[detail]
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub struct Summary {
    #[detail(minimal)]
    pub conversation: String,
    #[detail(minimal)]
    pub title: String,
    /// Number of messages.
    pub messages: u32,
    /// Time of the newest message.
    pub updated: String,
    #[detail(full)]
    pub created: String,
    #[detail(full)]
    pub archived: bool,
}

impl Summary {
    pub fn new(id: String, conversation: &Conversation) -> Self {
        Self {
            conversation: id,
            title: conversation.title().to_owned(),
            messages: conversation.messages,
            updated: moment(conversation.updated),
            created: moment(conversation.created),
            archived: conversation.archived,
        }
    }
}
