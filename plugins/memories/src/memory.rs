//! A memory: as it is kept, and as lists show it.

use std::time::SystemTime;

use humantime::format_rfc3339_seconds;
use loggia_sdk::{prelude::*, state::Collection};
use ranking::excerpt;

/// All of them, under `m_1`, `m_2`, …
pub static MEMORIES: Collection<Memory> = Collection::new("memories");

/// What stands before the number in an id.
pub const PREFIX: &str = "m_";

/// Memories that are read at once: with all that one may hold less than the host gives, 8 MiB.
pub const PART: usize = 20;

/// What a list shows of a body, in characters.
const EXCERPT: usize = 200;

/// A memory, as it is kept and as `get` shows it. A field that comes later needs a default.
#[detail]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Memory {
    #[detail(minimal)]
    pub id: String,
    #[detail(minimal)]
    pub title: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub body: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    #[serde(default, skip_serializing_if = "is_not")]
    pub pinned: bool,
    #[serde(default, skip_serializing_if = "is_not")]
    pub archived: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<Link>,
    pub updated: String,
    #[detail(full)]
    pub created: String,
}

/// What a memory has to do with another one. Both hold it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Link {
    /// The other memory.
    pub id: String,
    pub relation: String,
    /// It is the other one's relation to this.
    #[serde(default, skip_serializing_if = "is_not")]
    pub inverse: bool,
}

/// A memory in a list, or one that was changed.
#[detail]
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub struct Listed {
    #[detail(minimal)]
    id: String,
    #[detail(minimal)]
    title: String,
    /// How well it fits the query, beside the others of this answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f32>,
    #[serde(skip_serializing_if = "String::is_empty")]
    excerpt: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    #[serde(skip_serializing_if = "is_not")]
    pinned: bool,
    #[serde(skip_serializing_if = "is_not")]
    archived: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    links: Vec<Link>,
    #[detail(full)]
    #[serde(skip_serializing_if = "String::is_empty")]
    body: String,
    #[detail(full)]
    created: String,
    #[detail(full)]
    updated: String,
}

impl Memory {
    /// A new one.
    pub fn new(id: &str, title: &str, body: &str, tags: &[String]) -> Self {
        let created = now();
        Self {
            id: id.to_owned(),
            title: title.to_owned(),
            body: body.to_owned(),
            tags: tags.to_vec(),
            pinned: false,
            archived: false,
            links: Vec::new(),
            updated: created.clone(),
            created,
        }
    }

    /// What it is found by.
    pub fn text(&self) -> String {
        [&self.title, "\n", &self.body, "\n", &self.tags.join(" ")].concat()
    }

    /// Whether it has the tag, in any case; every memory has no tag.
    pub fn has(&self, tag: Option<&str>) -> bool {
        tag.is_none_or(|tag| self.tags.iter().any(|other| other.to_lowercase() == tag.to_lowercase()))
    }

    /// In a list, with what this detail shows: the excerpt says why it was found.
    pub fn listed(self, query: &str, score: Option<f32>, detail: Detail) -> Listed {
        let excerpt = match detail {
            Detail::Minimal => String::new(),
            _ => excerpt(&self.body, query, EXCERPT),
        };
        let mut listed = Listed { score, excerpt, ..self.changed() };
        if detail < Detail::Full {
            listed.body.clear();
        }
        listed
    }

    /// After a change: who made it knows what it says.
    pub fn changed(self) -> Listed {
        let Self { id, title, body, tags, pinned, archived, links, updated, created } = self;
        let (score, excerpt) = (None, String::new());
        Listed { id, title, score, excerpt, tags, pinned, archived, links, body, created, updated }
    }
}

impl Listed {
    /// Without all that can be long.
    pub fn named(self) -> Self {
        let (excerpt, body) = Default::default();
        Self { excerpt, body, tags: Vec::new(), links: Vec::new(), ..self }
    }
}

/// The memories of these ids, in their order.
///
/// # Errors
///
/// The state's.
pub fn read(ids: &[String]) -> Result<Vec<Option<Memory>>> {
    let mut memories = Vec::with_capacity(ids.len());
    for ids in ids.chunks(PART) {
        memories.append(&mut MEMORIES.get_many(ids)?);
    }
    Ok(memories)
}

/// The number in an id.
///
/// # Errors
///
/// `not_found`: an id without one was never given.
pub fn number(id: &str) -> Result<u32> {
    let number = id.strip_prefix(PREFIX).and_then(|number| number.parse().ok());
    number.ok_or_else(|| missing(id))
}

/// There is no such memory.
pub fn missing(id: &str) -> Failure {
    Failure::not_found(format!("not found: there is no memory `{id}`"))
        .hint("`search` and `list` show the memories there are.")
        .next(Next::action("list"))
}

/// The time, as memories tell it.
pub fn now() -> String {
    format_rfc3339_seconds(SystemTime::now()).to_string()
}

fn is_not(said: &bool) -> bool {
    !said
}
