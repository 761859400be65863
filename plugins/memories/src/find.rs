//! Reading: lists, and searches by words, by meaning and by both.

use loggia_sdk::{prelude::*, serde_json, state::id_with_number};
use ranking::{Found, Mode};

use crate::{
    keep::{INDEX, PINNED, VECTORS},
    memory::{Listed, MEMORIES, Memory, PART, PREFIX, read},
};

/// Bytes of an answer from which on memories are only named: the host takes 1 MiB.
const BYTES: usize = 600 * 1024;

/// Filter for memories.
pub struct Filter {
    pub tag: Option<String>,
    pub kind: Option<String>,
    pub pinned: bool,
    pub archived: bool,
}

impl Filter {
    fn takes(&self, memory: &Memory) -> bool {
        memory.has(self.tag.as_deref())
            && memory.is_a(self.kind.as_deref())
            && memory.archived == self.archived
            && (memory.pinned || !self.pinned)
    }
}

/// Displayed memories, within the host's size limit.
struct Shown<'q> {
    query: &'q str,
    detail: Detail,
    listed: Vec<Listed>,
    bytes: usize,
    named: usize,
}

impl<'q> Shown<'q> {
    fn new(query: &'q str, detail: Detail) -> Self {
        Self { query, detail, listed: Vec::new(), bytes: 0, named: 0 }
    }

    fn push(&mut self, memory: Memory, score: Option<f32>) -> Result<()> {
        let mut listed = memory.listed(self.query, score, self.detail);
        if self.detail > Detail::Minimal {
            let bytes = serde_json::to_vec(&listed)?.len();
            if self.bytes + bytes > BYTES {
                listed = listed.named();
                self.named += 1;
            } else {
                self.bytes += bytes;
            }
        }
        self.listed.push(listed);
        Ok(())
    }

    fn reply(self, message: Option<String>) -> Reply<Vec<Listed>> {
        let named =
            format!("Too much for one answer: {} only with their title. `get` reads them.", self.named);
        let said: Vec<String> = message.into_iter().chain((self.named > 0).then_some(named)).collect();
        let mut reply = Reply::new(self.listed);
        reply.message = (!said.is_empty()).then(|| said.join(" "));
        reply
    }
}

/// The pinned ones first, then the newest.
pub fn list(filter: &Filter, limit: u32, cursor: Option<&str>, detail: Detail) -> Result<Reply<Vec<Listed>>> {
    let mut shown = Shown::new("", detail);
    if cursor.is_none() {
        for ids in PINNED.get()?.unwrap_or_default().chunks(PART) {
            for memory in read(ids)?.into_iter().flatten().filter(|memory| filter.takes(memory)) {
                shown.push(memory, None)?;
            }
        }
    }
    if filter.pinned {
        return Ok(shown.reply(None));
    }
    let (mut cursor, mut left) = (cursor.map(str::to_owned), limit);
    loop {
        let part = left.min(PART as u32);
        let takes = |memory: &Memory| !memory.pinned && filter.takes(memory);
        let page = MEMORIES.newest(PREFIX, cursor.as_deref(), part, takes)?;
        cursor = page.cursor;
        left -= part;
        for item in page.items {
            shown.push(item.value, None)?;
        }
        if left == 0 || cursor.is_none() {
            break;
        }
    }
    let mut page = Page::of(shown.listed.len());
    page.cursor = cursor;
    Ok(shown.reply(None).page(page))
}

/// The best first.
pub fn search(
    query: &str,
    mode: Mode,
    filter: &Filter,
    limit: usize,
    detail: Detail,
) -> Result<Reply<Vec<Listed>>> {
    let Found { hits, guessed, lacking, failure } = ranking::find(&INDEX, &VECTORS, query, mode)?;
    let message = match failure {
        Some(failure) => Some(format!("By words only: {}.", failure.message)),
        None if lacking > 0 => Some(format!("Without a vector: {lacking}. `embed` computes it.")),
        None => guessed.then(|| "No memory has these words: these are the nearest in meaning.".to_owned()),
    };
    let mut shown = Shown::new(query, detail);
    for hits in hits.chunks(PART) {
        let ids: Vec<String> = hits.iter().map(|hit| id_with_number(PREFIX, hit.number.into())).collect();
        for (hit, memory) in hits.iter().zip(read(&ids)?) {
            let Some(memory) = memory.filter(|memory| filter.takes(memory)) else { continue };
            shown.push(memory, Some(rounded(hit.score)))?;
            if shown.listed.len() == limit {
                return Ok(shown.reply(message));
            }
        }
    }
    let nothing = shown.listed.is_empty() && message.is_none();
    let message = if nothing { Some(why_nothing(!hits.is_empty())?) } else { message };
    Ok(shown.reply(message))
}

/// Message for a search without results, so that its caller neither retries nor takes it for a failure.
fn why_nothing(matches: bool) -> Result<String> {
    let said = match matches {
        true => {
            "Memories match, but none of those asked for: try without `tag` or `kind`, or the other `archived`."
        }
        false if INDEX.count()? == 0 => "There are no memories yet: `add` one.",
        false => "No memory has these words or their meaning: try others.",
    };
    Ok(said.to_owned())
}

/// More digits would only cost tokens.
fn rounded(score: f32) -> f32 {
    (score * 1000.0).round() / 1000.0
}
