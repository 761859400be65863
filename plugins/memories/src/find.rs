//! What is read: lists, and searches by words, by meaning and by both.

use loggia_sdk::prelude::*;
use ranking::{Embedder, Hit, close, mix};

use crate::{
    keep::{INDEX, PINNED, VECTORS},
    memory::{Listed, MEMORIES, Memory, PREFIX},
};

/// Records that are read at once while hits are looked through.
const PART: usize = 50;

/// How a search finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// By both, where there are vectors.
    #[default]
    Hybrid,
    Words,
    Meaning,
}

/// Which memories are meant.
pub struct Filter {
    pub tag: Option<String>,
    pub pinned: bool,
    pub archived: bool,
}

impl Filter {
    fn takes(&self, memory: &Memory) -> bool {
        memory.has(self.tag.as_deref()) && memory.archived == self.archived && (memory.pinned || !self.pinned)
    }
}

/// The pinned ones first, then the newest.
pub fn list(filter: &Filter, limit: u32, cursor: Option<&str>) -> Result<Reply<Vec<Listed>>> {
    let pinned: Vec<Memory> = match cursor {
        None => MEMORIES.get_many(&PINNED.get()?.unwrap_or_default())?.into_iter().flatten().collect(),
        Some(_) => Vec::new(),
    };
    let mut listed: Vec<Listed> =
        pinned.into_iter().filter(|memory| filter.takes(memory)).map(Memory::listed).collect();
    if filter.pinned {
        return Ok(Reply::new(listed));
    }
    let rest = MEMORIES.newest(PREFIX, cursor, limit, |memory| !memory.pinned && filter.takes(memory))?;
    listed.extend(rest.items.into_iter().map(|item| item.value.listed()));
    let mut page = Page::of(listed.len());
    page.cursor = rest.cursor;
    Ok(Reply::new(listed).page(page))
}

/// What was found, and what the caller should know of it.
struct Hits {
    hits: Vec<Hit>,
    message: Option<String>,
}

impl Hits {
    fn by_words(query: &str) -> Result<Self> {
        Ok(Self { hits: INDEX.search(query)?, message: None })
    }

    fn by_meaning(embedder: &Embedder, query: &str) -> Result<Self> {
        let query = embedder.embed(&[query])?;
        let compared =
            query.first().map_or_else(|| Ok(Vec::new()), |query| VECTORS.nearest(embedder, query))?;
        let lacking = (INDEX.count()? as usize).saturating_sub(compared.len());
        let message = (lacking > 0)
            .then(|| format!("Not found by their meaning yet: {lacking}. `embed` makes them so."));
        Ok(Self { hits: close(compared), message })
    }

    fn by_both(embedder: &Embedder, query: &str) -> Result<Self> {
        let words = Self::by_words(query)?;
        Ok(match Self::by_meaning(embedder, query) {
            Ok(meaning) => Self { hits: mix(&words.hits, &meaning.hits, embedder.weight()), ..meaning },
            // Words are better than nothing.
            Err(failure) => Self { message: Some(format!("By words alone: {}.", failure.message)), ..words },
        })
    }
}

/// The best first.
pub fn search(query: &str, mode: Mode, filter: &Filter, limit: usize) -> Result<Reply<Vec<Listed>>> {
    let Hits { hits, message } = match mode {
        Mode::Words => Hits::by_words(query)?,
        Mode::Meaning => Hits::by_meaning(&Embedder::required()?, query)?,
        Mode::Hybrid => match Embedder::configured()? {
            None => Hits::by_words(query)?,
            Some(embedder) => Hits::by_both(&embedder, query)?,
        },
    };
    let mut found = Vec::new();
    for hits in hits.chunks(PART) {
        let ids: Vec<String> = hits.iter().map(|hit| format!("{PREFIX}{}", hit.number)).collect();
        for (hit, memory) in hits.iter().zip(MEMORIES.get_many(&ids)?) {
            let Some(memory) = memory.filter(|memory| filter.takes(memory)) else { continue };
            found.push(memory.found(query, Some(rounded(hit.score))));
            if found.len() == limit {
                return Ok(told(found, message));
            }
        }
    }
    Ok(told(found, message))
}

fn told(found: Vec<Listed>, message: Option<String>) -> Reply<Vec<Listed>> {
    let mut reply = Reply::new(found);
    reply.message = message;
    reply
}

/// More digits would only cost tokens.
fn rounded(score: f32) -> f32 {
    (score * 1000.0).round() / 1000.0
}
