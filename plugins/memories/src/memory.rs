//! A memory as it is stored and listed.

use std::time::SystemTime;

use humantime::format_rfc3339_seconds;
use loggia_sdk::{
    prelude::*,
    state::{Collection, number_in_id},
};
use ranking::excerpt;

/// All of them, under `m_0001`, `m_0002`, …
pub static MEMORIES: Collection<Memory> = Collection::new("memories");

/// Prefix of ids.
pub const PREFIX: &str = "m_";

/// Memories per read: at their maximum size below the host's limit of 8 MiB.
pub const PART: usize = 20;

/// Length of a body's excerpt in lists, in characters.
const EXCERPT: usize = 200;

/// A memory, as stored and as `get` shows it. New fields need a default.
#[detail]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Memory {
    #[detail(minimal)]
    pub id: String,
    #[detail(minimal)]
    pub title: String,
    #[detail(minimal)]
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kind: String,
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

/// What the caller says of a new memory.
#[derive(Debug, Clone, Default)]
pub struct Text {
    pub title: String,
    pub kind: String,
    pub body: String,
    pub tags: Vec<String>,
}

/// Link to another memory. Both store it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Link {
    /// Id of the other memory.
    pub id: String,
    pub relation: String,
    /// The relation is from the other one to this one.
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
    #[detail(minimal)]
    #[serde(skip_serializing_if = "String::is_empty")]
    kind: String,
    /// Relevance to the query, relative to the others of this reply.
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
    pub fn new(id: &str, text: &Text) -> Self {
        let created = now();
        Self {
            id: id.to_owned(),
            title: text.title.clone(),
            kind: text.kind.clone(),
            body: text.body.clone(),
            tags: text.tags.clone(),
            pinned: false,
            archived: false,
            links: Vec::new(),
            updated: created.clone(),
            created,
        }
    }

    /// Indexed text.
    pub fn text(&self) -> String {
        let text = [&self.title, "\n", &self.body, "\n", &self.tags.join(" ")].concat();
        // Memories without a kind keep the text under which they were indexed before there were kinds.
        if self.kind.is_empty() { text } else { [&text, "\n", &self.kind].concat() }
    }

    /// Tests whether it is of this kind; true for `None`.
    pub fn is_a(&self, kind: Option<&str>) -> bool {
        kind.is_none_or(|kind| self.kind == kind)
    }

    /// Tests whether it has the tag, ignoring case; true for `None`.
    pub fn has(&self, tag: Option<&str>) -> bool {
        tag.is_none_or(|tag| self.tags.iter().any(|other| other.to_lowercase() == tag.to_lowercase()))
    }

    /// List entry at a detail level: the excerpt shows the match.
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

    /// Reply after a change, without the text, which the caller knows.
    pub fn changed(self) -> Listed {
        let Self { id, title, kind, body, tags, pinned, archived, links, updated, created } = self;
        let (score, excerpt) = (None, String::new());
        Listed { id, title, kind, score, excerpt, tags, pinned, archived, links, body, created, updated }
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
    let number = number_in_id(PREFIX, id).and_then(|number| number.try_into().ok());
    number.ok_or_else(|| missing(id))
}

/// Failure for an unknown memory.
pub fn missing(id: &str) -> Failure {
    Failure::not_found(format!("not found: there is no memory `{id}`"))
        .hint("`search` and `list` show memories.")
        .next(Next::action("list"))
}

/// Current time in the stored format.
pub fn now() -> String {
    format_rfc3339_seconds(SystemTime::now()).to_string()
}

fn is_not(said: &bool) -> bool {
    !said
}
