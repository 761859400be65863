//! `types`: the facades as TypeScript declarations.

mod declare;
mod schema;

use std::slice;

use loggia_sdk::{
    host::{Peer, PeerAction},
    prelude::*,
};

use self::declare::{Declaration, index_line};

/// Repetitions of a name, which is the best description of an action.
const NAME_WEIGHT: usize = 3;
/// Actions that a query considers.
const FOUND: usize = 50;

/// What all programs have.
const HEADER: &str = "\
// Each action f also has f.full(p): Promise<{ data, message?, page?, next? }>.
// A failed call throws CallError { code, message, hint?, details?, next? }.
declare function call(facade: string, action: string, p?: object): Promise<any>;
declare const input: any;
";

/// Declares the facades that may be called: all, the one that the query names, or the actions that have its words.
pub fn types(query: Option<&str>, limit: usize) -> Result<Reply<String>> {
    let mut peers = host::facades()?;
    // So that a large one does not hide the others.
    peers.sort_by_key(|peer| peer.actions.len());
    let Some(query) = query else { return declare_all(&peers, limit, false) };
    match peers.iter().find(|peer| peer.name.eq_ignore_ascii_case(query.trim())) {
        Some(peer) => declare_all(slice::from_ref(peer), limit, true),
        None => declare_found(&peers, query, limit),
    }
}

/// Declares as many actions as fit, the smallest facades first, and names the others. With `documented`, parameters have their
/// descriptions.
fn declare_all(peers: &[Peer], limit: usize, documented: bool) -> Result<Reply<String>> {
    let mut text = HEADER.to_owned();
    let mut is_full = false;
    let mut others = String::new();
    for peer in peers {
        let mut declaration = Declaration::new(peer, documented);
        let mut omitted = Vec::new();
        for action in &peer.actions {
            is_full = is_full || text.len() + declaration.len() + others.len() > limit;
            if is_full {
                omitted.push(action);
            } else {
                declaration.add(action);
            }
        }
        text.push_str(&declaration.finish());
        if !omitted.is_empty() {
            others.push_str(&index_line(peer, &omitted));
        }
    }
    text.push_str(&others);
    let is_cut = text.len() > limit.saturating_mul(2);
    text.truncate(text.floor_char_boundary(limit.saturating_mul(2)));
    let reply = Reply::new(text);
    Ok(if peers.is_empty() {
        reply.message("No facade can be called.")
    } else if is_cut {
        reply.message("Not all actions can even be named. `query` finds actions by words.")
    } else if is_full {
        reply.message("Not all actions fit into `limit`: give `query` or a larger `limit` for the others.")
    } else {
        reply
    })
}

/// Declares the actions that have the words of a query, best first, until the limit.
fn declare_found(peers: &[Peer], query: &str, limit: usize) -> Result<Reply<String>> {
    let actions: Vec<(&Peer, &PeerAction)> =
        peers.iter().flat_map(|peer| peer.actions.iter().map(move |action| (peer, action))).collect();
    let texts: Vec<String> = actions.iter().map(|(peer, action)| words(peer, action)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let scores = ranking::rank(&query.replace(['_', '.'], " "), &texts);
    let mut ranked: Vec<_> = scores.into_iter().zip(actions).filter(|(score, _)| *score > 0.0).collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    let total = ranked.len();
    // By facade, in the order of the best action of each.
    let mut declarations: Vec<Declaration<'_>> = Vec::new();
    let mut shown = 0;
    for (_, (peer, action)) in ranked.into_iter().take(FOUND) {
        let size: usize = HEADER.len() + declarations.iter().map(Declaration::len).sum::<usize>();
        if size > limit {
            break;
        }
        shown += 1;
        match declarations.iter_mut().find(|declaration| declaration.facade() == peer.name) {
            Some(declaration) => declaration.add(action),
            None => {
                let mut declaration = Declaration::new(peer, true);
                declaration.add(action);
                declarations.push(declaration);
            }
        }
    }
    let texts: Vec<String> = declarations.into_iter().map(Declaration::finish).collect();
    let reply = Reply::new(HEADER.to_owned() + &texts.concat());
    Ok(match total {
        0 => reply.message("No action has these words. Without `query`, all are declared."),
        _ if shown < total => {
            reply.message(format!("{shown} of {total} actions; a larger `limit` shows more."))
        }
        _ => reply,
    })
}

/// Returns the searched text of an action.
fn words(peer: &Peer, action: &PeerAction) -> String {
    let name = format!("{} {} ", peer.name, action.name).replace('_', " ");
    name.repeat(NAME_WEIGHT) + &action.aliases.join(" ") + " " + &action.summary
}

/// Renders the type of a schema.
#[cfg(test)]
pub fn render(schema: &Value) -> String {
    schema::render_type(schema, false)
}
