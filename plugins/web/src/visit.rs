//! Requests of pages, as robots.txt allows.

use loggia_sdk::{http::Request, prelude::*};
use url::Url;

use crate::{
    redirects::{Visit, follow},
    robots::RobotsGuard,
};

/// Types that `fetch` reads, best first. Some sites have their pages as Markdown, too.
const ACCEPT: &str = "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, application/json;q=0.8, \
                      text/*;q=0.8, application/pdf;q=0.7, */*;q=0.5";

/// Requests pages. Each request, also that of a redirect, is checked by robots.txt here and by the policy in the host.
#[derive(Default)]
pub struct Visitor {
    guard: RobotsGuard,
}

impl Visitor {
    /// Gets a page.
    pub fn get(&mut self, url: &Url) -> Result<Visit> {
        self.go(url, |url| http::get(url.as_str()).header("accept", ACCEPT).header("accept-encoding", "gzip"))
    }

    /// Gets the beginning of a page, from servers that can send it alone.
    pub fn beginning(&mut self, url: &Url, bytes: usize) -> Result<Visit> {
        self.go(url, |url| {
            http::get(url.as_str()).header("accept", ACCEPT).header("range", format!("bytes=0-{}", bytes - 1))
        })
    }

    /// Gets the head of a page.
    pub fn head(&mut self, url: &Url) -> Result<Visit> {
        self.go(url, |url| http::head(url.as_str()).header("accept", ACCEPT))
    }

    fn go(&mut self, url: &Url, request: impl Fn(&Url) -> Request) -> Result<Visit> {
        follow(url, |url| {
            self.guard.admit(url)?;
            request(url).send()
        })
    }
}
