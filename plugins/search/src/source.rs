//! The searched facades: their requests, and the parsing of their replies.
//!
//! Replies are untrusted: fields may be missing, or have another type. The table names the fields of each source.

use std::time::Duration;

use loggia_sdk::{host::Request, prelude::*};

use crate::pattern;

/// A facade that is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    Memories,
    Knowledge,
    Conversations,
    Files,
}

/// All of them.
pub const SOURCES: [Source; 4] = [Source::Memories, Source::Knowledge, Source::Conversations, Source::Files];

/// Names of the fields in a facade's replies; the first one that is present counts.
struct Fields {
    facade: &'static str,
    id: &'static [&'static str],
    title: &'static [&'static str],
    text: &'static [&'static str],
    /// Fields of the location, each with a prefix.
    place: &'static [(&'static str, &'static str)],
    /// The action that opens it, and its parameters with the fields that give them.
    open: (&'static str, &'static [(&'static str, &'static str)]),
}

const MEMORIES: Fields = Fields {
    facade: "memories",
    id: &["id"],
    title: &["title"],
    text: &["excerpt", "body", "text"],
    place: &[],
    open: ("get", &[("id", "id")]),
};

const KNOWLEDGE: Fields = Fields {
    facade: "knowledge",
    id: &["id", "document"],
    title: &["title"],
    text: &["text", "excerpt"],
    place: &[
        ("", "heading"),
        ("", "headings"),
        ("passage ", "chunk"),
        ("passage ", "position"),
        ("", "source"),
    ],
    open: ("get", &[("id", "id"), ("chunk", "chunk")]),
};

const CONVERSATIONS: Fields = Fields {
    facade: "conversations",
    id: &["conversation", "id"],
    title: &["title"],
    text: &["text", "excerpt"],
    place: &[("message ", "position"), ("", "role")],
    open: ("get", &[("conversation", "conversation"), ("from", "position")]),
};

const FILES: Fields = Fields {
    facade: "files",
    id: &["path"],
    title: &[],
    text: &["text"],
    place: &[("line ", "line")],
    open: ("get", &[("path", "path")]),
};

/// Number of lines requested from files: they come in path order, so the best may be far down. At most this many hits
/// of a source are read.
const LINES: usize = 200;
/// Timeout of a source, so that it does not cost the results of the others.
const PATIENCE: Duration = Duration::from_secs(10);
/// The longest text that is compared, in characters; of a title and of an id.
const TEXT: usize = 2000;
const TITLE: usize = 200;
const ID: usize = 1000;

/// Something that a source has found.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    pub source: Source,
    pub id: String,
    pub title: String,
    pub place: String,
    pub text: String,
    /// The call that opens it.
    pub open: Next,
}

impl Source {
    fn fields(self) -> &'static Fields {
        match self {
            Self::Memories => &MEMORIES,
            Self::Knowledge => &KNOWLEDGE,
            Self::Conversations => &CONVERSATIONS,
            Self::Files => &FILES,
        }
    }

    /// The facade's name.
    pub fn name(self) -> &'static str {
        self.fields().facade
    }

    /// Whether its results are ranked.
    pub fn is_ranked(self) -> bool {
        self != Self::Files
    }

    /// Request for a query; `None` if it contains nothing to search for.
    pub fn request(self, query: &str, limit: usize) -> Option<Request> {
        let request = Request::new(self.name(), "search").timeout(PATIENCE);
        Some(match self {
            Self::Files => {
                request.param("pattern", pattern::of(query)?).param("ignore_case", true).param("limit", LINES)
            }
            _ => request.param("query", query).param("limit", limit),
        })
    }

    /// Results in the source's order. Malformed ones are skipped.
    pub fn read(self, data: &Value) -> Vec<Candidate> {
        let records = match data {
            Value::Array(records) => Some(records),
            // A list with additional members.
            Value::Object(object) => object.values().find_map(Value::as_array),
            _ => None,
        };
        records.into_iter().flatten().take(LINES).filter_map(|record| self.candidate(record)).collect()
    }

    fn candidate(self, record: &Value) -> Option<Candidate> {
        let fields = self.fields();
        let first =
            |names: &[&str]| names.iter().map(|name| said(&record[name])).find(|text| !text.is_empty());
        let id = first(fields.id).filter(|id| id.chars().count() <= ID)?;
        let title = untrusted::short(&first(fields.title).unwrap_or_default(), TITLE);
        let text = untrusted::short(&first(fields.text).unwrap_or_default(), TEXT);
        if title.is_empty() && text.is_empty() {
            return None;
        }
        let place = |(word, name): &(&str, &str)| {
            let value = said(&record[name]);
            (!value.is_empty()).then(|| [word, &*value].concat())
        };
        let places: Vec<String> = fields.place.iter().filter_map(place).collect();
        let (action, params) = fields.open;
        let open = params.iter().fold(Next::of(fields.facade, action), |open, (param, field)| match &record
            [field]
        {
            Value::Null if *field == fields.id[0] => open.param(*param, &id),
            value if (1..=ID).contains(&said(value).chars().count()) => open.param(*param, value),
            _ => open,
        });
        Some(Candidate {
            source: self,
            id,
            title,
            place: untrusted::short(&places.join(", "), TITLE),
            text,
            open,
        })
    }
}

/// Renders a value: texts and numbers as they are, lists joined, others as nothing.
fn said(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Array(items) => items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" > "),
        _ => String::new(),
    }
}
