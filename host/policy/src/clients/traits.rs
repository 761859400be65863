//! What is known of one client.

use loggia_schema::SchemaForm;
use serde::{Deserialize, Deserializer, de::Error as _};

use super::content::ContentTraits;

/// Tokens of a result that a chat client is sent, if no limit of its own is known: that of Claude Code.
const USUAL_ANSWER: usize = 25_000;

/// What is known of one client, and how it is served.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientTraits {
    /// Its name on the command line: lower case, without spaces.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// Names by which it introduces itself (`clientInfo.name`). A final `*` stands for any ending.
    pub info: Vec<String>,
    /// Form of the input schemas.
    #[serde(deserialize_with = "read_form")]
    pub form: SchemaForm,
    /// Form of the results.
    pub result: ResultForm,
    /// Its model sees names and instructions only, until a search loads tools.
    #[serde(default)]
    pub deferred: bool,
    /// What else of a result its model gets.
    #[serde(default)]
    pub content: ContentTraits,
    /// It reads the keys `anthropic/*` in a tool's `_meta`.
    #[serde(default)]
    pub meta: bool,
    /// Tokens of a result beyond which it is cut.
    #[serde(default)]
    pub answer: Option<usize>,
    /// Number of tools beyond which it refuses or ranks them badly.
    #[serde(default)]
    pub tools: Option<usize>,
    /// Where these facts stand.
    #[serde(default)]
    pub sources: Vec<String>,
}

/// How often a result is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ResultForm {
    /// Once, as text.
    Text,
    /// As text and as `structuredContent`.
    Both,
}

impl ResultForm {
    /// The name in the table.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Both => "both",
        }
    }
}

impl ClientTraits {
    /// A client of which nothing is known: it gets what all accept.
    pub fn unknown() -> Self {
        Self {
            name: "other".into(),
            title: "All others".into(),
            info: Vec::new(),
            form: SchemaForm::Flat,
            result: ResultForm::Both,
            deferred: false,
            content: ContentTraits::UNKNOWN,
            meta: false,
            answer: None,
            tools: None,
            sources: Vec::new(),
        }
    }

    /// Tokens of a result that the client is sent at most. Programs get all of it, and so do clients of which nothing is known,
    /// since most of these are libraries.
    pub fn answer_budget(&self) -> Option<usize> {
        (!self.info.is_empty()).then(|| self.answer.unwrap_or(USUAL_ANSWER))
    }
}

fn read_form<'de, D: Deserializer<'de>>(input: D) -> Result<SchemaForm, D::Error> {
    let name = String::deserialize(input)?;
    SchemaForm::parse(&name).ok_or_else(|| D::Error::custom(format!("unknown form {name:?}")))
}
