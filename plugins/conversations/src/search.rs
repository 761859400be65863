//! `search`: messages by their words.

use std::collections::HashMap;

use loggia_sdk::{prelude::*, state::id_with_number};
use ranking::Hit;

use crate::{
    kept::{self, CONVERSATIONS, Conversation, PREFIX, Role, WORDS},
    places::{Place, Places},
};

/// Length of an excerpt in characters.
const EXCERPT: usize = 300;
/// Maximum total size of complete texts at detail `full`, as JSON.
const BYTES: usize = 600 * 1024;
/// Number of hits whose locations are read at once.
const STEP: usize = 2000;

/// Query and filters.
pub struct Query {
    pub query: String,
    pub limit: usize,
    pub conversation: Option<String>,
    pub role: Option<Role>,
    pub archived: Option<bool>,
}

/// A message that was found.
#[detail]
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub struct Passage {
    #[detail(minimal)]
    pub conversation: String,
    #[detail(minimal)]
    pub title: String,
    /// Position of the message, from 1.
    #[detail(minimal)]
    pub position: u32,
    pub role: Role,
    /// The part that fits best; with detail `full` the whole.
    pub text: String,
    pub score: f32,
    #[detail(full)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[detail(full)]
    pub at: String,
}

/// Finds messages, best first.
pub fn search(query: &Query, detail: Detail) -> Result<Reply<Vec<Passage>>> {
    if let Some(id) = &query.conversation {
        kept::conversation(id)?;
    }
    let hits = WORDS.search(&query.query)?;
    let matches = hits.len();
    let chosen = choose(query, &hits)?;
    let places: Vec<Place> = chosen.iter().map(|chosen| chosen.place).collect();
    let mut bytes = 0;
    let mut passages = Vec::new();
    for (chosen, message) in chosen.into_iter().zip(kept::at(&places)?) {
        let Some(message) = message else { continue };
        bytes += kept::size(&message.text);
        let text = if detail == Detail::Full && bytes <= BYTES {
            message.text
        } else {
            ranking::excerpt(&message.text, &query.query, EXCERPT)
        };
        passages.push(Passage {
            conversation: chosen.place.conversation(),
            title: chosen.title,
            position: chosen.place.1,
            role: chosen.place.2,
            text,
            score: (chosen.score * 1000.0).round() / 1000.0,
            name: message.name,
            at: kept::moment(message.at),
        });
    }
    let next = passages.first().map(|first| {
        let around = first.position.saturating_sub(2).max(1);
        Next::action("get").param("conversation", &first.conversation).param("from", around).param("limit", 5)
    });
    let reply = Reply::new(passages);
    Ok(match next {
        Some(next) => reply.next(next.reason("to read the context of the first")),
        None if matches == 0 => reply.message("No message contains any of these words."),
        None => reply.message("Messages contain these words, but none that the filters select."),
    })
}

/// A hit that is wanted.
struct Chosen {
    place: Place,
    title: String,
    score: f32,
}

/// Selects the best hits that pass the filters, up to the limit.
fn choose(query: &Query, hits: &[Hit]) -> Result<Vec<Chosen>> {
    let talk = query.conversation.as_deref().and_then(kept::number);
    let mut chosen = Vec::new();
    let mut places = Places::default();
    let mut known: HashMap<u32, Option<Conversation>> = HashMap::new();
    // A first part that is enough for most, then larger ones.
    let (first, rest) = hits.split_at(hits.len().min(query.limit));
    for part in std::iter::once(first).chain(rest.chunks(STEP)) {
        let numbers: Vec<u32> = part.iter().map(|hit| hit.number).collect();
        let found = places.of(&numbers)?;
        let wanted = |place: &Place| {
            talk.is_none_or(|talk| place.0 == talk) && query.role.is_none_or(|role| place.2 == role)
        };
        let found: Vec<(&Hit, Place)> =
            part.iter().zip(found).filter_map(|(hit, place)| Some((hit, place.filter(wanted)?))).collect();
        learn(&mut known, &found)?;
        for (hit, place) in found {
            let Some(Some(conversation)) = known.get(&place.0) else { continue };
            if query.archived.is_some_and(|archived| conversation.archived != archived) {
                continue;
            }
            chosen.push(Chosen { place, title: conversation.title().to_owned(), score: hit.score });
            if chosen.len() == query.limit {
                return Ok(chosen);
            }
        }
    }
    Ok(chosen)
}

/// Reads the conversations that are not known yet.
fn learn(known: &mut HashMap<u32, Option<Conversation>>, found: &[(&Hit, Place)]) -> Result<()> {
    let mut new: Vec<u32> = found.iter().map(|(_, place)| place.0).collect();
    new.sort_unstable();
    new.dedup();
    new.retain(|talk| !known.contains_key(talk));
    for part in new.chunks(500) {
        let ids: Vec<String> = part.iter().map(|talk| id_with_number(PREFIX, (*talk).into())).collect();
        known.extend(part.iter().copied().zip(CONVERSATIONS.get_many(&ids)?));
    }
    Ok(())
}
