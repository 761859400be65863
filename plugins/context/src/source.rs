//! The facades that are asked: their requests, and the parsing of their replies.
//!
//! Replies are untrusted: fields may be missing, or have another type.

use std::time::Duration;

use loggia_sdk::{host::Request, prelude::*};

use crate::text::{LONG, short};

/// A facade that is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    Memories,
    Knowledge,
    Conversations,
    Projects,
}

/// All of them.
pub const SOURCES: [Source; 4] =
    [Source::Memories, Source::Knowledge, Source::Conversations, Source::Projects];

/// Number of hits that are requested of a source, and of rows of `projects`.
const HITS: usize = 20;
const ROWS: usize = 200;
/// Timeout of a source, so that it does not cost the results of the others.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum length of a title or place, and of an id, in characters.
const TITLE: usize = 200;
const ID: usize = 64;

/// Something that a source has found.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    pub source: Source,
    /// Unique among all sources: `memories/m_0007`.
    pub id: String,
    pub title: String,
    /// Location within the item, or the state of a task.
    pub place: String,
    pub text: String,
    /// Call that returns the whole item.
    pub get: Value,
}

impl Source {
    /// The facade's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Memories => "memories",
            Self::Knowledge => "knowledge",
            Self::Conversations => "conversations",
            Self::Projects => "projects",
        }
    }

    /// The grant that its requests need.
    pub fn grant(self) -> String {
        let action = if self.is_ranked() { "search" } else { "list" };
        format!("\"{}:{action}\"", self.name())
    }

    /// Whether its results match the query, best first. `projects` has no search: its rows are compared here.
    pub fn is_ranked(self) -> bool {
        self != Self::Projects
    }

    /// Requests for a query.
    pub fn requests(self, query: &str) -> Vec<Request> {
        if self.is_ranked() {
            let request = Request::new(self.name(), "search").timeout(TIMEOUT);
            return vec![request.param("query", query).param("limit", HITS)];
        }
        let list = |kind| {
            Request::new(self.name(), "list").timeout(TIMEOUT).param("kind", kind).param("limit", ROWS)
        };
        ["epic", "feature", "task"].map(list).into()
    }

    /// Candidates in the source's order. Malformed ones are skipped.
    pub fn read(self, data: &Value) -> Vec<Candidate> {
        let records = data.as_array().into_iter().flatten().take(ROWS);
        records.filter_map(|record| self.candidate(record)).collect()
    }

    fn candidate(self, record: &Value) -> Option<Candidate> {
        let field = |name: &str| word(&record[name]);
        let key = if self == Self::Conversations { "conversation" } else { "id" };
        let id = field(key).filter(|id| id.chars().count() <= ID)?;
        let number = |name: &str| record[name].as_u64();
        let (part, place, get) = match self {
            Self::Memories => (None, None, json!({"action": "get", "id": id})),
            Self::Knowledge => {
                let chunk = number("chunk");
                let mut get = json!({"action": "get", "id": id});
                if let Some(chunk) = chunk {
                    get["chunk"] = chunk.into();
                }
                (chunk, field("heading"), get)
            }
            Self::Conversations => {
                let position = number("position");
                let mut get = json!({"action": "get", "conversation": id});
                if let Some(position) = position {
                    get["from"] = position.into();
                }
                (position, field("role"), get)
            }
            Self::Projects => (None, field("state"), json!({"action": "get", "id": id})),
        };
        let text = ["excerpt", "text", "body"].iter().find_map(|name| field(name)).unwrap_or_default();
        let (title, text) = (short(&field("title").unwrap_or_default(), TITLE), short(&text, LONG));
        if title.is_empty() && text.is_empty() {
            return None;
        }
        let part = part.map(|part| format!("#{part}")).unwrap_or_default();
        Some(Candidate {
            source: self,
            id: short(&format!("{}/{id}{part}", self.name()), TITLE),
            title,
            place: short(&place.unwrap_or_default(), TITLE),
            text,
            get: json!({"tool": self.name(), "arguments": get}),
        })
    }
}

/// A text that is not empty.
fn word(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}
