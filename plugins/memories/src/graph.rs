//! `graph`: memories and the relations between them.

use std::collections::BTreeSet;

use loggia_sdk::{prelude::*, serde_json, state::id_with_number};
use ranking::{Mode, excerpt};

use crate::{
    keep::{INDEX, VECTORS},
    memory::{MEMORIES, Memory, PREFIX, missing, read},
};

/// Maximum bytes of all nodes, from which on they are only named.
const BYTES: usize = 400 * 1024;
/// Maximum number of relations.
const EDGES: usize = 1000;
/// Memories from which the graph of a query begins.
const STARTS: usize = 10;
/// Characters of a body that are shown.
const EXCERPT: usize = 200;

/// Where the graph begins.
pub enum Start {
    Id(String),
    Query(String),
    /// With the newest memories.
    Newest,
}

/// Memories, and the relations between them.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub struct Graph {
    /// Nearest first.
    nodes: Vec<Node>,
    edges: Vec<Edge>,
}

/// A memory.
#[detail]
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
struct Node {
    #[detail(minimal)]
    id: String,
    #[detail(minimal)]
    title: String,
    #[detail(minimal)]
    #[serde(skip_serializing_if = "String::is_empty")]
    kind: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    excerpt: String,
    #[detail(full)]
    #[serde(skip_serializing_if = "String::is_empty")]
    body: String,
}

/// A relation.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
struct Edge {
    from: String,
    relation: String,
    to: String,
}

/// Reads the memories up to `depth` links away from the start, at most `limit`.
pub fn graph(start: &Start, depth: u32, limit: usize, detail: Detail) -> Result<Reply<Graph>> {
    let mut walk = Walk { limit, found: Vec::new(), seen: BTreeSet::new(), left: 0 };
    let query = if let Start::Query(query) = start { query.as_str() } else { "" };
    let mut open = match start {
        Start::Id(id) => {
            let memory = MEMORIES.get(id)?.ok_or_else(|| missing(id))?;
            walk.take(vec![Some(memory)])
        }
        Start::Query(query) => {
            let hits = ranking::find(&INDEX, &VECTORS, query, Mode::Hybrid)?.hits;
            let ids: Vec<String> = hits.iter().map(|hit| id_with_number(PREFIX, hit.number.into())).collect();
            let found = read(&ids[..ids.len().min(3 * STARTS)])?;
            walk.take(found.into_iter().filter(visible).take(STARTS).collect())
        }
        Start::Newest => {
            let page = MEMORIES.newest(PREFIX, None, u32::try_from(limit)?, |memory| !memory.archived)?;
            walk.left = usize::from(page.cursor.is_some());
            walk.take(page.items.into_iter().map(|item| Some(item.value)).collect())
        }
    };
    for _ in 0..depth {
        let ids: Vec<String> = open.into_iter().filter(|id| walk.seen.insert(id.clone())).collect();
        let room = walk.limit - walk.found.len();
        walk.left += ids.len().saturating_sub(room);
        open = walk.take(read(&ids[..ids.len().min(room)])?.into_iter().filter(visible).collect());
    }
    let beyond = open.iter().filter(|id| !walk.seen.contains(*id)).collect::<BTreeSet<_>>().len();
    Ok(walk.reply(query, beyond, detail))
}

fn visible(memory: &Option<Memory>) -> bool {
    memory.as_ref().is_some_and(|memory| !memory.archived)
}

struct Walk {
    limit: usize,
    found: Vec<Memory>,
    /// Ids that were found or looked at.
    seen: BTreeSet<String>,
    /// Memories that are near enough, but too many.
    left: usize,
}

impl Walk {
    /// Adds memories; returns the ids that they are linked to, nearest first.
    fn take(&mut self, memories: Vec<Option<Memory>>) -> Vec<String> {
        let mut open = Vec::new();
        for memory in memories.into_iter().flatten().take(self.limit - self.found.len()) {
            self.seen.insert(memory.id.clone());
            open.extend(memory.links.iter().map(|link| link.id.clone()));
            self.found.push(memory);
        }
        open
    }

    fn reply(self, query: &str, beyond: usize, detail: Detail) -> Reply<Graph> {
        let shown: BTreeSet<&str> = self.found.iter().map(|memory| memory.id.as_str()).collect();
        let links = self.found.iter().flat_map(|memory| memory.links.iter().map(move |link| (memory, link)));
        let edges = links.filter(|(_, link)| !link.inverse && shown.contains(link.id.as_str()));
        let edge = |(memory, link): (&Memory, &crate::memory::Link)| Edge {
            from: memory.id.clone(),
            relation: link.relation.clone(),
            to: link.id.clone(),
        };
        let mut edges: Vec<Edge> = edges.map(edge).collect();
        let more = edges.len().saturating_sub(EDGES);
        edges.truncate(EDGES);
        let (mut nodes, mut bytes, mut named) = (Vec::with_capacity(self.found.len()), 0, 0);
        for memory in self.found {
            let Memory { id, title, kind, body, .. } = memory;
            let (excerpt, body) = match detail {
                Detail::Full => (String::new(), body),
                _ => (excerpt(&body, query, EXCERPT), String::new()),
            };
            let mut node = Node { id, title, kind, excerpt, body };
            bytes += serde_json::to_vec(&node).map_or(0, |json| json.len());
            if bytes > BYTES {
                (node.excerpt, node.body) = Default::default();
                named += 1;
            }
            nodes.push(node);
        }
        let mut messages = Vec::new();
        if nodes.is_empty() {
            messages.push("No memory matches.".to_owned());
        }
        if self.left > 0 {
            messages.push("There are more memories than `limit`.".to_owned());
        }
        if beyond > 0 {
            messages.push(format!("Linked to {beyond} more, beyond `depth`."));
        }
        if more > 0 {
            messages.push(format!("{more} relations are left out: begin at one memory."));
        }
        if named > 0 && detail > Detail::Minimal {
            messages
                .push(format!("Too much for one answer: {named} only with their title. `get` reads them."));
        }
        let mut reply = Reply::new(Graph { nodes, edges });
        reply.message = (!messages.is_empty()).then(|| messages.join(" "));
        reply
    }
}
