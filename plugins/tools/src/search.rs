//! `search`: actions by words.

use loggia_sdk::{host::Peer, prelude::*};

use crate::{
    call_name::{CallName, effect_word},
    list::find_facade,
    unknown::unknown_facade,
};

/// Actions whose parameters are searched too. Those of the others are found by their names and summaries.
const LOOKUPS: usize = 1000;
/// Names count this many times: they say most about an action.
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
    let searched: Vec<&Peer> = match facade {
        Some(name) => vec![find_facade(&peers, name).ok_or_else(|| unknown_facade(name, &peers))?],
        None => peers.iter().collect(),
    };
    let mut matches = Vec::new();
    let mut texts = Vec::new();
    for peer in searched {
        for action in &peer.actions {
            let found =
                (matches.len() < LOOKUPS).then(|| host::lookup(&peer.name, &action.name).ok()).flatten();
            let name = split_words(&format!("{} {} ", peer.name, action.name));
            let mut text = name.repeat(NAME_WEIGHT) + &action.aliases.join(" ") + " " + &action.summary;
            if let Some(found) = &found {
                append_parameters(&mut text, &found.params);
            }
            texts.push(text);
            matches.push(Match {
                call: CallName::new(&peer.name, &action.name).to_string(),
                effect: effect_word(action.effect),
                summary: action.summary.clone(),
                signature: found.and_then(|found| found.signature),
            });
        }
    }
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let scores = ranking::rank(&split_words(query), &texts);
    let mut ranked: Vec<(f32, Match)> =
        scores.into_iter().zip(matches).filter(|(score, _)| *score > 0.0).collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    let total = ranked.len();
    let shown: Vec<Match> = ranked.into_iter().take(limit).map(|(_, found)| found).collect();
    let page = Page::of(shown.len()).total(total);
    let reply = Reply::new(shown).page(page);
    Ok(if total == 0 { reply.message("No action has these words. `list` shows all.") } else { reply })
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
