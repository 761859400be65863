//! An agent's long-term memory, as a Loggia plugin. See the README.

mod embed;
mod find;
mod keep;
mod memory;

use loggia_sdk::prelude::*;

use embed::Embedded;
use find::Filter;
use memory::{Listed, MEMORIES, Memory};
use ranking::Mode;

/// The facade.
#[derive(Debug, Clone, Copy)]
pub struct Memories;

/// Things to remember: facts, preferences, decisions.
///
/// `search` before you `add`: `update` an existing memory instead of repeating it. One fact per memory, stated in its
/// title.
#[facade(
    needs("store", "to store them"),
    wants("http: an embeddings endpoint", "to find memories by meaning")
)]
impl Memories {
    /// Remember something.
    #[action(
        write,
        open_world,
        example = r#"{"title": "Prefers tea", "body": "Green, without sugar.", "tags": ["taste"]}"#
    )]
    fn add(
        &self,
        /// The fact in one line.
        #[param(length = 1..=200)]
        title: String,
        /// Further details.
        #[param(default = "", length = 0..=32_768)]
        body: String,
        #[param(default, length = 0..=20, hint = "reuse tags that `list` shows")] tags: Vec<String>,
    ) -> Result<Reply<Listed>> {
        Ok(followed(keep::add(&title, &body, &tidy(tags)?)?))
    }

    /// Read a whole memory.
    #[action(read, example = r#"{"id": "m_1"}"#)]
    fn get(&self, #[param(length = 1..=32)] id: String) -> Result<Memory> {
        MEMORIES.get(&id)?.ok_or_else(|| memory::missing(&id))
    }

    /// List memories: the pinned ones, then the newest.
    #[action(read)]
    fn list(
        &self,
        call: &Call,
        /// Only those with this tag.
        #[param(length = 1..=64)]
        tag: Option<String>,
        /// Only the pinned ones.
        #[param(default)]
        pinned: bool,
        /// The archived ones instead.
        #[param(default)]
        archived: bool,
        #[param(default = 20, range = 1..=200)] limit: u32,
        /// From the last answer, for the next part.
        cursor: Option<String>,
    ) -> Result<Reply<Vec<Listed>>> {
        find::list(&Filter { tag, pinned, archived }, limit, cursor.as_deref(), call.detail())
    }

    /// Find memories by words and by meaning, best first.
    #[action(read, open_world, example = r#"{"query": "what does she drink"}"#)]
    #[allow(clippy::too_many_arguments)]
    fn search(
        &self,
        call: &Call,
        #[param(length = 1..=1000)] query: String,
        /// Search method.
        #[param(default)]
        mode: Mode,
        /// Only those with this tag.
        #[param(length = 1..=64)]
        tag: Option<String>,
        /// The archived ones instead.
        #[param(default)]
        archived: bool,
        #[param(default = 10, range = 1..=100)] limit: u32,
    ) -> Result<Reply<Vec<Listed>>> {
        let filter = Filter { tag, pinned: false, archived };
        find::search(&query, mode, &filter, limit as usize, call.detail())
    }

    /// Change a memory: only the given fields.
    #[action(write, idempotent, open_world, example = r#"{"id": "m_1", "body": "Black, with milk."}"#)]
    fn update(
        &self,
        #[param(length = 1..=32)] id: String,
        #[param(length = 1..=200)] title: Option<String>,
        #[param(length = 0..=32_768)] body: Option<String>,
        #[param(length = 0..=20)] tags: Option<Vec<String>>,
    ) -> Result<Reply<Listed>> {
        if title.is_none() && body.is_none() && tags.is_none() {
            let failure = Failure::invalid_params("nothing to change: pass `title`, `body` or `tags`");
            return Err(failure.hint("`pin`, `archive` and `link` are separate actions."));
        }
        let tags = tags.map(tidy).transpose()?;
        Ok(followed(keep::update(&id, title.as_deref(), body.as_deref(), tags.as_deref())?))
    }

    /// Delete a memory permanently.
    #[action(destructive, example = r#"{"id": "m_1"}"#)]
    fn delete(&self, #[param(length = 1..=32)] id: String) -> Result<Listed> {
        Ok(keep::delete(&id)?.changed())
    }

    /// Put a memory first in every list, or back.
    #[action(write, idempotent, example = r#"{"id": "m_1"}"#)]
    fn pin(
        &self,
        #[param(length = 1..=32)] id: String,
        #[param(default = true)] pinned: bool,
    ) -> Result<Listed> {
        Ok(keep::pin(&id, pinned)?.changed())
    }

    /// Hide a memory from lists and searches, or restore it.
    #[action(write, idempotent, example = r#"{"id": "m_1"}"#)]
    fn archive(
        &self,
        #[param(length = 1..=32)] id: String,
        #[param(default = true)] archived: bool,
    ) -> Result<Listed> {
        Ok(keep::archive(&id, archived)?.changed())
    }

    /// Link a memory to another.
    #[action(write, idempotent, example = r#"{"id": "m_1", "to": "m_2", "relation": "contradicts"}"#)]
    fn link(
        &self,
        #[param(length = 1..=32)] id: String,
        /// The other memory.
        #[param(length = 1..=32)]
        to: String,
        #[param(default = "related to", length = 1..=64)] relation: String,
        /// `false` removes the link.
        #[param(default = true)]
        linked: bool,
    ) -> Result<Listed> {
        Ok(keep::link(&id, &to, &relation, linked)?.changed())
    }

    /// Compute missing vectors, so that memories are found by meaning.
    #[action(write, idempotent, open_world, long_running)]
    fn embed(
        &self,
        call: &Call,
        /// Only this one.
        #[param(length = 1..=32)]
        id: Option<String>,
    ) -> Result<Reply<Embedded>> {
        embed::embed(call, id.as_deref())
    }
}

fn followed(memory: Memory) -> Reply<Listed> {
    let message = embed::follow(&memory);
    let mut reply = Reply::new(memory.changed());
    reply.message = message;
    reply
}

/// Normalises tags: trimmed, without duplicates.
fn tidy(tags: Vec<String>) -> Result<Vec<String>> {
    let mut tidy: Vec<String> = Vec::new();
    for tag in tags {
        let tag = tag.trim();
        if tag.is_empty() || tag.chars().count() > 64 {
            return Err(
                Failure::invalid_params("a tag has 1 to 64 characters").hint("Put details into the body.")
            );
        }
        if !tidy.iter().any(|other| other.to_lowercase() == tag.to_lowercase()) {
            tidy.push(tag.to_owned());
        }
    }
    Ok(tidy)
}

loggia_sdk::export!(Memories);

#[cfg(test)]
mod tests;
