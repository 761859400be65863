//! `list`: conversations by their last activity.

use loggia_sdk::prelude::*;

use crate::{
    kept::{ARCHIVED, CONVERSATIONS, RECENT},
    summary::Summary,
};

/// A page of conversations, the last active first.
pub fn list(archived: bool, limit: u32, cursor: Option<&str>) -> Result<Reply<Vec<Summary>>> {
    if cursor.is_some_and(|cursor| cursor.len() != 10 || cursor.parse::<u32>().is_err()) {
        return Err(Failure::invalid_params("`cursor` is not from `list`"));
    }
    let part = if archived { &ARCHIVED } else { &RECENT }.page(cursor, limit)?;
    let ids: Vec<String> = part.items.into_iter().map(|item| item.value).collect();
    let rows = if ids.is_empty() { Vec::new() } else { CONVERSATIONS.get_many(&ids)? };
    let summaries: Vec<Summary> =
        ids.into_iter().zip(rows).filter_map(|(id, row)| Some(Summary::new(id, &row?))).collect();
    let mut page = Page::of(summaries.len());
    page.cursor = part.cursor;
    let said = match (summaries.is_empty() && cursor.is_none(), archived) {
        (false, _) => None,
        (true, true) => Some("The archive is empty."),
        (true, false) => Some("There is no conversation yet: `append` creates one."),
    };
    let reply = Reply::new(summaries).page(page);
    Ok(match said {
        Some(said) => reply.message(said),
        None => reply,
    })
}
