//! `list`: facades, and the actions of one.

use loggia_sdk::{host::Peer, prelude::*};

use crate::{
    call_name::{CallName, effect_word},
    unknown::unknown_facade,
};

/// Lists the facades, or the actions of one.
pub fn list(facade: Option<&str>, limit: usize, cursor: Option<&str>) -> Result<Reply<Vec<Value>>> {
    let start = match cursor {
        Some(cursor) => cursor.parse().map_err(|_| stale_cursor(cursor))?,
        None => 0,
    };
    let peers = host::facades()?;
    let items: Vec<Value> = match facade {
        None => peers.iter().map(summarise_facade).collect(),
        Some(name) => {
            let peer = find_facade(&peers, name).ok_or_else(|| unknown_facade(name, &peers))?;
            let action = |action: &host::PeerAction| {
                json!({
                    "call": CallName::new(&peer.name, &action.name).to_string(),
                    "effect": effect_word(action.effect),
                    "summary": action.summary,
                })
            };
            peer.actions.iter().map(action).collect()
        }
    };
    let total = items.len();
    let shown: Vec<Value> = items.into_iter().skip(start).take(limit).collect();
    let end = start + shown.len();
    let page = Page::of(shown.len()).total(total);
    let page = if end < total { page.cursor(end.to_string()) } else { page };
    let reply = Reply::new(shown).page(page);
    Ok(if peers.is_empty() { reply.message("No facade can be called.") } else { reply })
}

/// Finds a facade by name, ignoring case.
pub fn find_facade<'a>(peers: &'a [Peer], name: &str) -> Option<&'a Peer> {
    peers.iter().find(|peer| peer.name.eq_ignore_ascii_case(name.trim()))
}

fn summarise_facade(peer: &Peer) -> Value {
    json!({"facade": peer.name, "summary": peer.summary, "actions": peer.actions.len()})
}

fn stale_cursor(cursor: &str) -> Failure {
    Failure::invalid_params(format!("`cursor` is not one of this list's (got {cursor:?})"))
        .hint("Omit `cursor` to start at the first page.")
}
