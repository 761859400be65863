//! `archive`: out of the list, and back.

use loggia_sdk::prelude::*;

use crate::{
    kept::{CONVERSATIONS, missing},
    summary::Summary,
};

/// Archives a conversation or restores it.
pub fn archive(id: &str, archived: bool) -> Result<Reply<Summary>> {
    let (now, moved) = state::transaction(|tx| {
        let conversations = CONVERSATIONS.of(tx);
        let before = conversations.get(id)?.ok_or_else(|| missing(id))?;
        let moved = before.archived != archived;
        let mut now = before.clone();
        now.archived = archived;
        if moved {
            before.list().of(tx).remove(&before.rank())?;
            now.list().of(tx).put(&now.rank(), &id.to_owned())?;
            conversations.put(id, &now)?;
        }
        Ok((now, moved))
    })?;
    let said = match (moved, archived) {
        (true, true) => "In the archive: `list` shows it with `archived: true` only.",
        (true, false) => "Out of the archive.",
        (false, true) => "It was in the archive already.",
        (false, false) => "It was not in the archive.",
    };
    Ok(Reply::new(Summary::new(id.to_owned(), &now)).message(said))
}
