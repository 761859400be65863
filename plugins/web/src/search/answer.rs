//! Response of a search server: parsed defensively, since strangers wrote its content.

use loggia_sdk::prelude::*;

use untrusted::{plain, web_address};

/// Length of a page's excerpt in characters; `fetch` reads all of it.
const EXCERPT: usize = 300;
/// Length of titles, names and the like.
const SHORT: usize = 200;
/// Maximum number of answers, infoboxes, suggestions and engines.
const FEW: usize = 5;

/// Pages, and the server's own answers.
#[derive(Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Pages {
    pub results: Vec<Found>,
    /// Direct answers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<Said>,
    /// Summaries of encyclopedias.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub infoboxes: Vec<Said>,
    /// Suggested queries.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<String>,
}

/// A page.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub struct Found {
    pub title: String,
    pub url: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub published: String,
}

/// An answer of the server itself.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub struct Said {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub title: String,
    pub text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

impl Pages {
    /// The first pages up to the limit, and the number of further ones. Pages without a URL are skipped.
    pub fn read(answer: &Value, limit: usize) -> (Self, usize) {
        let mut results: Vec<Found> = list(&answer["results"]).filter_map(Found::read).collect();
        let more = results.len().saturating_sub(limit);
        results.truncate(limit);
        let said = |name: &str, read: fn(&Value) -> Option<Said>| {
            list(&answer[name]).filter_map(read).take(FEW).collect()
        };
        let pages = Self {
            results,
            answers: said("answers", Said::answer),
            infoboxes: said("infoboxes", Said::infobox),
            suggestions: list(&answer["suggestions"])
                .filter_map(|value| text(value, SHORT))
                .take(FEW)
                .collect(),
        };
        (pages, more)
    }
}

impl Found {
    fn read(result: &Value) -> Option<Self> {
        let url = web_address(result["url"].as_str()?)?;
        Some(Self {
            title: text(&result["title"], SHORT).unwrap_or_else(|| url.clone()),
            url,
            text: text(&result["content"], EXCERPT).unwrap_or_default(),
            published: text(&result["publishedDate"], 40).unwrap_or_default(),
        })
    }
}

impl Said {
    /// Older servers give texts, newer ones objects.
    fn answer(value: &Value) -> Option<Self> {
        let said = text(value, EXCERPT).or_else(|| text(&value["answer"], EXCERPT))?;
        let url = value["url"].as_str().and_then(web_address);
        Some(Self { title: String::new(), text: said, url })
    }

    fn infobox(value: &Value) -> Option<Self> {
        let title = text(&value["infobox"], SHORT).unwrap_or_default();
        let said = text(&value["content"], EXCERPT)?;
        let first = || list(&value["urls"]).find_map(|link| web_address(link["url"].as_str()?));
        let url = value["id"].as_str().and_then(web_address).or_else(first);
        Some(Self { title, text: said, url })
    }
}

/// Engines that gave nothing, each with the server's reason.
pub fn unresponsive(answer: &Value) -> Vec<String> {
    let engine = |value: &Value| match value {
        Value::Array(parts) => {
            let name = text(parts.first()?, 40)?;
            let reason = parts.get(1).and_then(|reason| text(reason, 60));
            Some(reason.map_or(name.clone(), |reason| format!("{name} ({reason})")))
        }
        value => text(value, 40),
    };
    list(&answer["unresponsive_engines"]).filter_map(engine).take(FEW).collect()
}

/// Items of a list; none for other values.
fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Cleans a text; `None` if it is empty.
fn text(value: &Value, characters: usize) -> Option<String> {
    let text = plain(value.as_str()?, characters);
    (!text.is_empty()).then_some(text)
}
