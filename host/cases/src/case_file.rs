//! A cases file as data.

use std::time::Duration;

use loggia_facade::{Answer, Object};
use loggia_workflow::yaml::YamlNode;

/// A file of cases. Its cases run in order, on one state.
#[derive(Debug)]
pub struct CaseFile {
    /// Name of the plugin's file, without its suffix; `None`: by the file's own name, or the only plugin there is.
    pub plugin: Option<String>,
    /// Plugins of the same place that are served beside it.
    pub with: Vec<String>,
    /// What differs from the plugin's policy, by section.
    pub policy: Object,
    /// What answers requests.
    pub http: HttpSource,
    /// Whether the published tools are compared with a snapshot.
    pub surface: bool,
    /// Limits of all cases together.
    pub limits: CaseLimits,
    /// The cases.
    pub cases: Vec<TestCase>,
}

/// What answers the requests of a plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HttpSource {
    /// Nothing: a request fails the case.
    Nothing,
    /// The network.
    Live,
    /// Recordings in this folder, by its path from the file.
    Folder(String),
}

/// Limits of a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CaseLimits {
    /// Tokens of the plugin's tools, as they are published.
    pub tokens: Option<usize>,
    /// Time within which 95 % of the calls answer.
    pub p95: Option<Duration>,
}

/// One call, with what is expected of it.
#[derive(Debug)]
pub struct TestCase {
    /// Name, unique in its file.
    pub name: String,
    /// Line of the case.
    pub line: usize,
    /// Arguments, as an MCP client sends them.
    pub call: Object,
    /// What the person answers, in order; `None`: the client cannot ask.
    pub person: Option<Vec<PersonReply>>,
    /// Expectations of the result.
    pub expect: ExpectedEnvelope,
    /// The state that all callers share.
    pub state: ExpectedStore,
    /// The caller's own state.
    pub own_state: ExpectedStore,
}

/// Expectations of a result.
#[derive(Debug, Default)]
pub struct ExpectedEnvelope {
    /// Whether the call succeeds.
    pub ok: bool,
    /// Members of the envelope, of which more may exist.
    pub members: Vec<(String, YamlNode)>,
    /// The whole data.
    pub exactly: Option<YamlNode>,
    /// Whether the envelope is compared with a snapshot.
    pub snapshot: bool,
}

/// State before and after a call. Keys map to JSON values.
#[derive(Debug, Default)]
pub struct ExpectedStore {
    /// All that is there before; `None`: what the earlier cases left.
    pub before: Option<Object>,
    /// Keys that are there afterwards, or absent if null.
    pub after: Option<YamlNode>,
    /// All keys that are there afterwards.
    pub exactly: Option<YamlNode>,
}

/// Reply of the person to a question.
#[derive(Debug)]
pub struct PersonReply {
    /// Text of the question.
    pub asks: Option<YamlNode>,
    /// The answer.
    pub answer: Answer,
}

/// Turns a case's name into a part of a file name.
pub fn to_slug(name: &str) -> String {
    let letters = name.chars().map(|c| if c.is_alphanumeric() { c.to_ascii_lowercase() } else { '-' });
    let slug: String = letters.collect();
    slug.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
}
