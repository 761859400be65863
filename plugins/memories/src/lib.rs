//! An agent's long-term memory, as a Loggia plugin. See the README.

mod body;
mod embed;
mod find;
mod graph;
mod import;
mod keep;
mod memory;
mod words;

use loggia_sdk::prelude::*;

use embed::Embedded;
use find::Filter;
use graph::{Graph, Start};
use import::Imported;
use keep::Update;
use memory::{Listed, MEMORIES, Memory, Text};
use ranking::Mode;

/// The facade.
#[derive(Debug, Clone, Copy)]
pub struct Memories;

/// Facts to remember, and relations.
///
/// `search` before you `add`: `update` an existing memory instead of repeating it. One fact per memory, stated in its
/// title; or one memory per person, project or other entity, with its name as the title, its `kind`, one observation
/// per line of the body, and relations to others (`link`, `graph`).
#[facade(
    needs("store", "to store them"),
    wants("http: an embeddings endpoint", "for better meaning, and in other languages than English"),
    wants("invoke: files:get", "to import files")
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
        /// `person`, `project`, …
        #[param(length = 1..=64)]
        kind: Option<String>,
    ) -> Result<Reply<Listed>> {
        let kind = kind.as_deref().map(words::kind).unwrap_or_default();
        Ok(followed(keep::add(&Text { title, kind, body, tags: words::tags(tags)? })?))
    }

    /// Read a whole memory.
    #[action(
        read,
        resource("memories://memory/{id}", items = "list", state = "memories/{id}"),
        example = r#"{"id": "m_0001"}"#
    )]
    fn get(&self, #[param(length = 1..=32)] id: String) -> Result<Memory> {
        MEMORIES.get(&id)?.ok_or_else(|| memory::missing(&id))
    }

    /// List memories: the pinned ones, then the newest.
    #[action(read)]
    #[allow(clippy::too_many_arguments)]
    fn list(
        &self,
        call: &Call,
        /// Only those with this tag.
        #[param(length = 1..=64)]
        tag: Option<String>,
        /// Only of this kind.
        #[param(length = 1..=64)]
        kind: Option<String>,
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
        let kind = kind.as_deref().map(words::kind);
        find::list(&Filter { tag, kind, pinned, archived }, limit, cursor.as_deref(), call.detail())
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
        /// Only of this kind.
        #[param(length = 1..=64)]
        kind: Option<String>,
        /// The archived ones instead.
        #[param(default)]
        archived: bool,
        #[param(default = 10, range = 1..=100)] limit: u32,
    ) -> Result<Reply<Vec<Listed>>> {
        let kind = kind.as_deref().map(words::kind);
        let filter = Filter { tag, kind, pinned: false, archived };
        find::search(&query, mode, &filter, limit as usize, call.detail())
    }

    /// Change a memory: only the given fields.
    #[action(write, idempotent, open_world, example = r#"{"id": "m_0001", "body": "Black, with milk."}"#)]
    #[allow(clippy::too_many_arguments)]
    fn update(
        &self,
        #[param(length = 1..=32)] id: String,
        #[param(length = 1..=200)] title: Option<String>,
        #[param(length = 0..=32_768)] body: Option<String>,
        #[param(length = 0..=20)] tags: Option<Vec<String>>,
        #[param(length = 0..=64)] kind: Option<String>,
        /// A line to add to the body, unless it has it.
        #[param(length = 1..=4000)]
        append: Option<String>,
        /// A line to remove from the body.
        #[param(length = 1..=4000)]
        remove: Option<String>,
    ) -> Result<Reply<Listed>> {
        if [&title, &body, &kind, &append, &remove].into_iter().all(Option::is_none) && tags.is_none() {
            let failure = Failure::invalid_params(
                "nothing to change: pass `title`, `body`, `append`, `remove`, `kind` or `tags`",
            );
            return Err(failure.hint("`pin`, `archive` and `link` are separate actions."));
        }
        if body.is_some() && (append.is_some() || remove.is_some()) {
            return Err(Failure::invalid_params(
                "`body` excludes `append` and `remove`, which change its lines",
            ));
        }
        let tags = tags.map(words::tags).transpose()?;
        let kind = kind.as_deref().map(words::kind);
        Ok(followed(keep::update(&id, &Update { title, kind, body, append, remove, tags })?))
    }

    /// Delete a memory permanently.
    #[action(destructive, example = r#"{"id": "m_0001"}"#)]
    fn delete(&self, #[param(length = 1..=32)] id: String) -> Result<Listed> {
        Ok(keep::delete(&id)?.changed())
    }

    /// Put a memory first in every list, or back.
    #[action(write, idempotent, example = r#"{"id": "m_0001"}"#)]
    fn pin(
        &self,
        #[param(length = 1..=32)] id: String,
        #[param(default = true)] pinned: bool,
    ) -> Result<Listed> {
        Ok(keep::pin(&id, pinned)?.changed())
    }

    /// Hide a memory from lists and searches, or restore it.
    #[action(write, idempotent, example = r#"{"id": "m_0001"}"#)]
    fn archive(
        &self,
        #[param(length = 1..=32)] id: String,
        #[param(default = true)] archived: bool,
    ) -> Result<Listed> {
        Ok(keep::archive(&id, archived)?.changed())
    }

    /// Link a memory to another.
    #[action(write, idempotent, example = r#"{"id": "m_0001", "to": "m_0002", "relation": "contradicts"}"#)]
    fn link(
        &self,
        #[param(length = 1..=32)] id: String,
        /// The other memory.
        #[param(length = 1..=32)]
        to: String,
        /// In the active voice: `works at`. Default: `related to`.
        #[param(length = 1..=64)]
        relation: Option<String>,
        /// `false` removes the link, or without `relation` all links between the two.
        #[param(default = true)]
        linked: bool,
    ) -> Result<Listed> {
        let relation = relation.as_deref().map(words::relation).filter(|relation| !relation.is_empty());
        Ok(keep::link(&id, &to, relation.as_deref(), linked)?.changed())
    }

    /// Read memories and the relations between them.
    ///
    /// Begins at one memory, at those that match a query, or at the newest.
    #[action(read, open_world, example = r#"{"id": "m_0001", "depth": 2}"#)]
    fn graph(
        &self,
        call: &Call,
        #[param(length = 1..=32)] id: Option<String>,
        #[param(length = 1..=1000)] query: Option<String>,
        /// Relations to follow.
        #[param(default = 1, range = 0..=3)]
        depth: u32,
        #[param(default = 50, range = 1..=200)] limit: u32,
    ) -> Result<Reply<Graph>> {
        let start = match (id, query) {
            (Some(id), None) => Start::Id(id),
            (None, Some(query)) => Start::Query(query),
            (None, None) => Start::Newest,
            (Some(_), Some(_)) => {
                return Err(Failure::invalid_params("`id` and `query` exclude each other"));
            }
        };
        graph::graph(&start, depth, limit as usize, call.detail())
    }

    /// Import a file of MCP's memory server (JSON lines); what is there already stays.
    #[action(
        write,
        idempotent,
        long_running,
        example = r#"{"text": "{\"type\":\"entity\",\"name\":\"Ann\",\"entityType\":\"person\",\"observations\":[\"Likes tea\"]}"}"#
    )]
    fn import(
        &self,
        call: &Call,
        /// The lines.
        #[param(length = 1..=1_000_000)]
        text: Option<String>,
        /// A file of the facade `files`.
        #[param(length = 1..=4096)]
        path: Option<String>,
    ) -> Result<Reply<Imported>> {
        let text = match (text, path) {
            (Some(text), None) => text,
            (None, Some(path)) => import::read(&path)?,
            (None, None) => return Err(Failure::invalid_params("`text` is required, or `path`")),
            (Some(_), Some(_)) => {
                return Err(Failure::invalid_params("`text` and `path` exclude each other"));
            }
        };
        import::import(&text, call)
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

loggia_sdk::export!(Memories);

#[cfg(test)]
mod tests;
