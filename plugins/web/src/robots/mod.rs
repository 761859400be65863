//! robots.txt (RFC 9309): whether this plugin may visit a page.
//!
//! Each call reads it again: its actions only read, so they cannot keep it in the plugin's state.

mod rules;

use std::collections::HashMap;

use loggia_sdk::{failure::code, prelude::*};
use url::Url;

use crate::{
    address, body, redirects, refusal,
    settings::{self, RobotsPolicy},
};
use rules::{Rules, Verdict};

/// Name of this plugin in robots.txt.
pub const AGENT: &str = "Loggia";

/// Bytes of a robots.txt that are read; RFC 9309 demands at least 500 KiB.
const SIZE: usize = 512 << 10;

/// Decides about the pages of one call.
#[derive(Default)]
pub struct RobotsGuard {
    policy: Option<RobotsPolicy>,
    /// By origin.
    rules: HashMap<String, Rules>,
}

impl RobotsGuard {
    /// Fails if robots.txt of the page's origin disallows the page.
    pub fn admit(&mut self, url: &Url) -> Result<()> {
        let policy = match self.policy {
            Some(policy) => policy,
            None => *self.policy.insert(settings::robots()?),
        };
        if policy == RobotsPolicy::Ignore {
            return Ok(());
        }
        let origin = address::origin(url);
        if !self.rules.contains_key(&origin) {
            let rules = read(url)?;
            self.rules.insert(origin.clone(), rules);
        }
        let path = &url[url::Position::BeforePath..url::Position::AfterQuery];
        match self.rules[&origin].verdict(path) {
            Verdict::Allowed => Ok(()),
            Verdict::Disallowed { line, rule } => Err(Failure::denied(format!(
                "access denied: {origin}/robots.txt disallows {} (line {line}: `Disallow: {}`)",
                untrusted::short(path, 200),
                untrusted::short(&rule, 200),
            ))
            .hint("The site does not want programs to read this page. The operator may allow it with `config.robots = \"ignore\"` in web.toml.")),
        }
    }
}

/// Reads the rules of a page's origin. A missing robots.txt allows everything; one that the server cannot deliver
/// disallows everything, as RFC 9309 demands.
fn read(page: &Url) -> Result<Rules> {
    let mut url = page.clone();
    url.set_path("/robots.txt");
    url.set_query(None);
    let visit = redirects::follow(&url, |url| {
        http::get(url.as_str()).header("accept", "text/plain, */*;q=0.5").send()
    });
    let visit = visit.map_err(|failure| match failure.code.as_str() {
        // The policy refuses the whole origin, so the page, too.
        code::DENIED if !failure.message.contains("redirect") => failure,
        _ => unreadable(&url, &failure.message),
    })?;
    match visit.response.status {
        200..300 => {
            let text = body::decompress(&visit.response, SIZE).unwrap_or_default();
            Ok(Rules::parse(&String::from_utf8_lossy(&text[..text.len().min(SIZE)]), AGENT))
        }
        status @ (429 | 500..) => {
            let mut failure = unreadable(&url, &format!("the server answered {status}"));
            failure.retry_after = refusal::retry_after(&visit.response);
            Err(failure)
        }
        _ => Ok(Rules::default()),
    }
}

fn unreadable(url: &Url, reason: &str) -> Failure {
    Failure::unavailable(format!("{url} cannot be read, so no page there is: {reason}")).hint(
        "Try again later. The operator may visit such sites all the same with `config.robots = \"ignore\"` in web.toml.",
    )
}
