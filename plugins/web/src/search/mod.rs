//! `search`: a search of a SearXNG server, or of any that answers in its shape.

mod answer;

use loggia_sdk::{failure::code, http::Response, prelude::*};

pub use answer::Pages;
use untrusted::web_address;

/// Hint for the operator.
const LINES: &str = "The operator writes in web.toml, under [grants], for a SearXNG server: \
    `http = [\"https://searx.example.org\"]` and `config.search = { url = \"https://searx.example.org/search\" }`.";

/// Settings that a default SearXNG lacks.
const FORMATS: &str = "A SearXNG gives JSON only where `search.formats` in its settings.yml has `json`, and its limiter \
    may turn programs away. The operator checks that, and `config.search.url` in web.toml.";

/// Default number of pages.
pub const LIMIT: u32 = 8;

/// Endpoint of the search server.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Endpoint {
    url: String,
}

/// Maximum age of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TimeRange {
    Day,
    Week,
    Month,
    Year,
}

impl TimeRange {
    fn name(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
            Self::Year => "year",
        }
    }
}

/// Parameters of a web search.
pub struct Query {
    pub query: String,
    pub limit: usize,
    pub page: u32,
    pub language: Option<String>,
    pub time_range: Option<TimeRange>,
    pub categories: Option<Vec<String>>,
}

/// Searches the web.
pub fn search(query: &Query) -> Result<Reply<Pages>> {
    let endpoint: Endpoint = host::config("search")?
        .ok_or_else(|| Failure::unavailable("not configured: `search` needs a search server").hint(LINES))?;
    if web_address(&endpoint.url).is_none() {
        return Err(
            Failure::internal("the configuration `search` is invalid: `url` is not a URL").hint(LINES)
        );
    }
    let categories = query.categories.iter().flatten();
    if categories.into_iter().any(|category| !(1..=40).contains(&category.chars().count())) {
        return Err(
            Failure::invalid_params("a category has 1 to 40 characters").hint("Such as general, news, it.")
        );
    }
    let response = request(&endpoint.url, query).send()?;
    let answer = read(response)?;
    let (pages, more) = Pages::read(&answer, query.limit);
    Ok(reply(query, pages, more, &answer))
}

fn request(url: &str, query: &Query) -> http::Request {
    let mut request = http::get(url)
        .query(&[("q", query.query.as_str()), ("format", "json"), ("pageno", &query.page.to_string())])
        .header("accept", "application/json");
    let categories = query.categories.as_ref().map(|categories| categories.join(","));
    let optional = [
        ("language", query.language.as_deref()),
        ("time_range", query.time_range.map(TimeRange::name)),
        ("categories", categories.as_deref()),
    ];
    for (name, value) in optional {
        if let Some(value) = value {
            request = request.query(&[(name, value)]);
        }
    }
    request
}

/// Parses the response as JSON; explains other responses.
fn read(response: Response) -> Result<Value> {
    if response.status == 429 {
        let hint =
            "The search server limits the rate of requests: wait a while. Its limiter may block this host.";
        return response.ok().map(|_| Value::Null).map_err(|failure| failure.hint(hint));
    }
    let response = response.ok().map_err(|failure| match failure.code.as_str() {
        code::DENIED | code::NOT_FOUND | code::INTERNAL => failure.hint(FORMATS),
        _ => failure,
    })?;
    let answer: Value = response.json().map_err(|_| unusual("something else than JSON"))?;
    if answer.is_object() { Ok(answer) } else { Err(unusual("no search results")) }
}

fn unusual(what: &str) -> Failure {
    Failure::unavailable(format!("the search server answered {what}")).hint(FORMATS)
}

fn reply(query: &Query, pages: Pages, more: usize, answer: &Value) -> Reply<Pages> {
    let count = pages.results.len();
    let mut said = Vec::new();
    if count == 0 && pages.answers.is_empty() && pages.infoboxes.is_empty() {
        said.push("Nothing was found.".to_owned());
    }
    if more > 0 {
        said.push(format!("This page has {more} more: raise `limit`."));
    }
    let silent = answer::unresponsive(answer);
    if !silent.is_empty() {
        said.push(format!("Engines that did not answer: {}.", silent.join(", ")));
    }
    let mut reply = Reply::new(pages).page(Page::of(count));
    if count > 0 && more == 0 && query.page < 20 {
        let next = Next::action("search").param("query", &query.query).param("page", query.page + 1);
        let next = [
            ("limit", (query.limit != LIMIT as usize).then(|| json!(query.limit))),
            ("language", query.language.as_ref().map(|language| json!(language))),
            ("time_range", query.time_range.map(|range| json!(range))),
            ("categories", query.categories.as_ref().map(|categories| json!(categories))),
        ]
        .into_iter()
        .fold(next, |next, (name, value)| match value {
            Some(value) => next.param(name, value),
            None => next,
        });
        reply = reply.next(next.reason("for the next page"));
    }
    reply.message = (!said.is_empty()).then(|| said.join(" "));
    reply
}
