//! `list`: facades, and the actions of one.

use loggia_sdk::{host::Peer, prelude::*};

use crate::{
    call_name::{CallName, effect_word},
    unknown::unknown_facade,
};

/// Characters of a summary in a list. `get` shows all of it.
pub const SUMMARY: usize = 160;

/// Entries above which a list recommends `search`.
const LONG: usize = 200;

/// Lists the facades, or the actions of one.
pub fn list(facade: Option<&str>, limit: usize, cursor: Option<&str>) -> Result<Reply<Vec<Value>>> {
    let start = match cursor {
        Some(cursor) => cursor.parse().map_err(|_| stale_cursor(cursor))?,
        None => 0,
    };
    let peers = host::facades()?;
    let (total, shown): (usize, Vec<Value>) = match facade {
        None => (peers.len(), peers.iter().skip(start).take(limit).map(summarise_facade).collect()),
        Some(name) => {
            let peer = find_facade(&peers, name).ok_or_else(|| unknown_facade(name, &peers))?;
            let action = |action: &host::PeerAction| {
                json!({
                    "call": CallName::new(&peer.name, &action.name).to_string(),
                    "effect": effect_word(action.effect),
                    "summary": cut(&action.summary, SUMMARY),
                })
            };
            (peer.actions.len(), peer.actions.iter().skip(start).take(limit).map(action).collect())
        }
    };
    let end = start + shown.len();
    let page = Page::of(shown.len()).total(total);
    let page = if end < total { page.cursor(end.to_string()) } else { page };
    let reply = Reply::new(shown).page(page);
    Ok(if peers.is_empty() {
        reply.message("No facade can be called.")
    } else if end < total && total > LONG {
        reply.message("`search` finds actions by words.")
    } else {
        reply
    })
}

/// Finds a facade by name, ignoring case.
pub fn find_facade<'a>(peers: &'a [Peer], name: &str) -> Option<&'a Peer> {
    peers.iter().find(|peer| peer.name.eq_ignore_ascii_case(name.trim()))
}

/// Cuts a text to this many characters.
pub fn cut(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

fn summarise_facade(peer: &Peer) -> Value {
    json!({"facade": peer.name, "summary": peer.summary, "actions": peer.actions.len()})
}

fn stale_cursor(cursor: &str) -> Failure {
    Failure::invalid_params(format!("`cursor` is not one of this list's (got {cursor:?})"))
        .hint("Omit `cursor` to start at the first page.")
}
