//! Failures that explain what a server refused, and what helps.

use std::time::Duration;

use loggia_sdk::{failure::code, http::Response, prelude::*};
use url::Url;

use crate::address;

/// Adds the redirects to a failure without a response: the caller did not ask for that host.
pub fn after_redirects(failure: Failure, redirects: &[String], url: &Url) -> Failure {
    let failure = match (failure.code.as_str(), failure.hint.is_some()) {
        (code::TIMED_OUT, false) => failure.hint(
            "Try again later. The operator raises `limits.http-time` in web.toml if the site is always slow.",
        ),
        (code::UNAVAILABLE, false) if failure.message.starts_with("too large") => failure.hint(
            "The operator raises `limits.http-response` and `config.max_bytes` in web.toml. `head` shows a page's size.",
        ),
        _ => failure,
    };
    let Some(first) = redirects.first() else { return failure };
    let mut failure = failure;
    failure.message = format!("{} (redirected from {first} to {url})", failure.message);
    failure
}

/// Returns the response if its status is one of 200 to 299.
pub fn ok(url: &Url, response: Response) -> Result<Response> {
    if response.is_success() { Ok(response) } else { Err(refused(url, &response)) }
}

/// Failure for a response with another status.
fn refused(url: &Url, response: &Response) -> Failure {
    let status = response.status;
    let (code, sentence, hint) = match status {
        401 | 407 => (
            code::DENIED,
            "access denied: the page requires a login",
            "The operator can bind a credential to the host with `secrets` in web.toml.",
        ),
        402 | 403 | 451 => (
            code::DENIED,
            "access denied",
            "The site refuses this page, perhaps to programs only. Do not repeat the call: another site may have the text.",
        ),
        404 | 410 => (
            code::NOT_FOUND,
            "not found",
            "The page does not exist, or has moved: `links` of the site's start page, or `search`, may find it.",
        ),
        408 | 504 => (code::TIMED_OUT, "timed out", "Try again later."),
        429 => (
            code::UNAVAILABLE,
            "too many requests",
            "The site limits the rate of requests: wait before the next one.",
        ),
        500.. => (code::UNAVAILABLE, "not available now", "The site has a fault: try again later."),
        300..=399 => (code::UNAVAILABLE, "redirected nowhere", "The redirect has no target."),
        _ => (code::UNAVAILABLE, "refused", "The site does not answer this request with a page."),
    };
    let details = json!({"status": status, "url": url.as_str()});
    let message = format!("{sentence}: {} answered {status}", address::authority(url));
    let mut failure = Failure::new(code, message).hint(hint).details(details);
    failure.retry_after = retry_after(response);
    failure
}

/// `Retry-After` in seconds. A date is ignored, as the clocks may differ.
pub fn retry_after(response: &Response) -> Option<Duration> {
    response.header("retry-after")?.trim().parse().ok().map(Duration::from_secs)
}

/// A redirect to a page that asks for a password.
pub fn login(from: &str, url: &Url) -> Failure {
    Failure::denied(format!("access denied: {from} redirects to a login page, {url}"))
        .hint("The page requires a login, which this plugin has not. The operator can bind a credential to the host with `secrets` in web.toml.")
}

/// A type that is no text.
pub fn unreadable(url: &Url, kind: &str, size: usize) -> Failure {
    let name = url.path_segments().and_then(|mut path| path.next_back()).filter(|name| !name.is_empty());
    let name = untrusted::short(name.unwrap_or(address::authority(url)), 100);
    Failure::new("unsupported_type", format!("`{name}` is not text: {kind}, {size} bytes"))
        .hint("`fetch` reads HTML, text, JSON, XML, PDF, and PNG, JPEG, GIF and WebP images.")
        .details(json!({"type": kind, "size": size, "url": url.as_str()}))
}
