//! `head`: what a page is, before it is fetched.

use loggia_sdk::prelude::*;
use url::Url;

use crate::{address, body, html::Page as HtmlPage, redirects::Visit, refusal, visit::Visitor};

/// Bytes in which a title is looked for.
const BEGINNING: usize = 16 << 10;

/// The head of a response.
#[derive(Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct PageHead {
    /// After redirects.
    pub url: String,
    pub status: u16,
    #[serde(rename = "type", skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// Bytes, as they would be sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub modified: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub title: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub redirects: Vec<String>,
    /// Seconds after which a request may succeed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<u64>,
}

/// Asks for the head of a page. Another status than 200 is a result, not a failure.
pub fn head(url: &str) -> Result<PageHead> {
    let mut visitor = Visitor::default();
    let mut visit = visitor.head(&address::parse(url)?)?;
    // Some servers answer only GET.
    if matches!(visit.response.status, 405 | 501) {
        let beginning = visitor.beginning(&visit.url, BEGINNING)?;
        visit = Visit { redirects: [visit.redirects, beginning.redirects].concat(), ..beginning };
        let title = if visit.response.is_success() { title(&visit) } else { String::new() };
        return Ok(PageHead { title, ..describe(&visit) });
    }
    let mut head = describe(&visit);
    if visit.response.status == 200 && is_cheap(&visit, &head) {
        // The title is an extra: without it, the head is still an answer.
        head.title = visitor.beginning(&visit.url, BEGINNING).map(|visit| title(&visit)).unwrap_or_default();
    }
    Ok(head)
}

fn describe(visit: &Visit) -> PageHead {
    let response = &visit.response;
    let header = |name| response.header(name).unwrap_or_default();
    let size = match header("content-range").rsplit_once('/') {
        Some((_, size)) => size.trim().parse().ok(),
        None => header("content-length").trim().parse().ok(),
    };
    PageHead {
        url: visit.url.to_string(),
        // A part is a success like the whole.
        status: if response.status == 206 { 200 } else { response.status },
        kind: body::mime(header("content-type")),
        size,
        modified: untrusted::short(header("last-modified"), 40),
        title: String::new(),
        redirects: visit.redirects.clone(),
        retry_after: refusal::retry_after(response).map(|wait| wait.as_secs()),
    }
}

/// Tests whether the beginning of the page can be had alone, or is all of it.
fn is_cheap(visit: &Visit, head: &PageHead) -> bool {
    let is_html = matches!(head.kind.as_str(), "text/html" | "application/xhtml+xml");
    let has_parts = visit.response.header("accept-ranges").is_some_and(|ranges| ranges.trim() == "bytes");
    is_html && (has_parts || head.size.is_some_and(|size| size <= 4 * BEGINNING as u64))
}

fn title(visit: &Visit) -> String {
    let response = &visit.response;
    let Ok(bytes) = body::decompress(response, 16 * BEGINNING) else { return String::new() };
    let text = body::to_text(&bytes, response.header("content-type").unwrap_or_default());
    title_of(&text, &visit.url)
}

fn title_of(html: &str, url: &Url) -> String {
    HtmlPage::parse(html, url).meta().title
}
