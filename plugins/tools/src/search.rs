//! `search`: actions by words.

use loggia_sdk::{
    host::{Peer, PeerAction},
    prelude::*,
};

use crate::{
    call_name::{CallName, effect_word},
    list::{SUMMARY, cut, find_facade},
    unknown::unknown_facade,
};

/// Actions of a facade whose parameters are searched. The host reads the schemas of a larger facade one by one, at first
/// use, so its actions are found by their names and summaries.
const SMALL: usize = 64;
/// Actions whose parameters are searched, in all facades together, the smallest facades first.
const LOOKUPS: usize = 1000;
/// Bytes of an action's text that are searched.
const TEXT: usize = 2000;
/// Characters of a signature that are shown.
const SIGNATURE: usize = 400;
/// Repetitions of a name, which is the best description of an action.
const NAME_WEIGHT: usize = 3;

/// An action that was found.
#[derive(Serialize, JsonSchema)]
pub struct Match {
    call: String,
    effect: &'static str,
    summary: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    signature: Option<String>,
}

/// Ranks the actions of all facades, or of one.
pub fn search(query: &str, facade: Option<&str>, limit: usize) -> Result<Reply<Vec<Match>>> {
    let peers = host::facades()?;
    let mut searched: Vec<&Peer> = match facade {
        Some(name) => vec![find_facade(&peers, name).ok_or_else(|| unknown_facade(name, &peers))?],
        None => peers.iter().collect(),
    };
    searched.sort_by_key(|peer| peer.actions.len());
    let mut actions: Vec<(&Peer, &PeerAction)> = Vec::new();
    let mut texts = Vec::new();
    for peer in searched {
        let reads_parameters = peer.actions.len() <= SMALL.min(LOOKUPS.saturating_sub(actions.len()));
        for action in &peer.actions {
            let mut text = action_text(peer, action);
            if reads_parameters && let Ok(found) = host::lookup(&peer.name, &action.name) {
                append_parameters(&mut text, &found.params);
            }
            text.truncate(text.floor_char_boundary(TEXT));
            texts.push(text);
            actions.push((peer, action));
        }
    }
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let scores = ranking::rank(&split_words(query), &texts);
    let mut ranked: Vec<(f32, (&Peer, &PeerAction))> =
        scores.into_iter().zip(actions).filter(|(score, _)| *score > 0.0).collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    let total = ranked.len();
    let shown: Vec<Match> =
        ranked.into_iter().take(limit).map(|(_, (peer, action))| Match::new(peer, action)).collect();
    let page = Page::of(shown.len()).total(total);
    let reply = Reply::new(shown).page(page);
    Ok(if total == 0 { reply.message("No action has these words. `list` shows all.") } else { reply })
}

impl Match {
    fn new(peer: &Peer, action: &PeerAction) -> Self {
        let signature = host::lookup(&peer.name, &action.name).ok().and_then(|found| found.signature);
        Self {
            call: CallName::new(&peer.name, &action.name).to_string(),
            effect: effect_word(action.effect),
            summary: cut(&action.summary, SUMMARY),
            signature: signature.map(|signature| cut(&signature, SIGNATURE)),
        }
    }
}

/// Returns the searched text of an action, without its parameters.
fn action_text(peer: &Peer, action: &PeerAction) -> String {
    let name = split_words(&format!("{} {} ", peer.name, action.name));
    name.repeat(NAME_WEIGHT) + &action.aliases.join(" ") + " " + &action.summary
}

/// Adds names and descriptions of parameters.
fn append_parameters(text: &mut String, schema: &Value) {
    for (name, parameter) in schema["properties"].as_object().into_iter().flatten() {
        text.push(' ');
        text.push_str(&split_words(name));
        if let Some(description) = parameter["description"].as_str() {
            text.push(' ');
            text.push_str(description);
        }
    }
}

/// Separates the words of a name: `getUserName` → `get User Name`. Other marks separate words already.
fn split_words(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 8);
    let mut was_lower = false;
    for c in name.chars() {
        if was_lower && c.is_uppercase() {
            out.push(' ');
        }
        was_lower = c.is_lowercase();
        out.push(c);
    }
    out
}
