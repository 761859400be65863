//! `links`: where a page leads.

use loggia_sdk::prelude::*;

use crate::{
    address,
    body::{self, PageKind},
    fetch::receive,
    html::Page as HtmlPage,
    visit::Visitor,
};

/// Default number of links.
pub const LIMIT: u32 = 100;

/// Parameters of `links`.
pub struct LinkQuery {
    pub url: String,
    pub glob: Option<String>,
    pub same_host: bool,
    pub from: usize,
    pub limit: usize,
}

/// A link.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub struct PageLink {
    pub url: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
}

/// Lists the links of a page that match.
pub fn links(query: &LinkQuery) -> Result<Reply<Vec<PageLink>>> {
    let page = receive(&mut Visitor::default(), &address::parse(&query.url)?)?;
    if page.kind != PageKind::Html {
        return Err(Failure::new(
            "unsupported_type",
            format!("{} is {}, not HTML", page.visit.url, page.mime),
        )
        .hint("`links` reads HTML only; `fetch` shows the page."));
    }
    let content_type = page.visit.response.header("content-type").unwrap_or_default();
    let text = body::to_text(&page.bytes, content_type);
    let mut links = HtmlPage::parse(&text, &page.visit.url).links();
    let all = links.len();
    links.retain(|link| {
        (!query.same_host || link.url.host_str() == page.visit.url.host_str())
            && query.glob.as_ref().is_none_or(|glob| matches(glob, link.url.as_str()))
    });
    let total = links.len();
    let links = links.into_iter().skip(query.from).take(query.limit);
    let links: Vec<_> = links.map(|link| PageLink { url: link.url.into(), text: link.text }).collect();
    let end = query.from + links.len();
    let mut reply = Reply::new(links);
    if end < total {
        let next = Next::action("links").param("url", page.visit.url.as_str()).param("from", end);
        let optional = [
            ("glob", query.glob.as_ref().map(|glob| json!(glob))),
            ("same_host", query.same_host.then(|| json!(true))),
            ("limit", (query.limit != LIMIT as usize).then(|| json!(query.limit))),
        ];
        let next = optional.into_iter().fold(next, |next, (name, value)| match value {
            Some(value) => next.param(name, value),
            None => next,
        });
        reply = reply.next(next.reason("for the next links"));
    }
    if total == 0 && all > 0 {
        reply = reply.message(format!("None of the {all} links matches."));
    } else if total == 0 {
        reply = reply.message("The page has no links: it may need JavaScript, which is not run.");
    }
    Ok(reply.page(Page::default().total(total)))
}

/// Matches a whole URL; `*` is any text, and `?` a character. Upper and lower case
/// are alike.
fn matches(glob: &str, url: &str) -> bool {
    let lower = |text: &str| text.to_lowercase().chars().collect::<Vec<char>>();
    let (glob, url) = (lower(glob), lower(url));
    // Positions to return to: after the last `*`, and one character further than before.
    let (mut at, mut place, mut star) = (0, 0, None);
    while place < url.len() {
        match glob.get(at) {
            Some('*') => {
                star = Some((at + 1, place));
                at += 1;
            }
            Some('?') => (at, place) = (at + 1, place + 1),
            Some(char) if *char == url[place] => (at, place) = (at + 1, place + 1),
            _ => match star {
                Some((after, begin)) => {
                    star = Some((after, begin + 1));
                    (at, place) = (after, begin + 1);
                }
                None => return false,
            },
        }
    }
    glob[at..].iter().all(|char| *char == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_match_whole_urls() {
        let check = |glob: &str, expected| {
            assert_eq!(matches(glob, "https://example.com/docs/A.pdf?x=1"), expected, "{glob}");
        };
        check("*", true);
        check("*/docs/*", true);
        check("*.pdf", false);
        check("*.pdf*", true);
        check("https://example.com/*", true);
        check("*/a.pd??x=1", true);
        check("*/DOCS/*.PDF*1", true);
        check("docs", false);
        check("*x=2", false);
        check("", false);
    }

    #[test]
    fn hostile_globs_end_quickly() {
        assert!(!matches(&"*a".repeat(99), &"c".repeat(4000)));
        assert!(!matches(&format!("{}b", "*a".repeat(99)), &"a".repeat(4000)));
    }
}
