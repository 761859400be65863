//! URLs of servers.

use url::{Host, Url};

/// Parses an absolute http or https URL of visible characters, with a host and without credentials.
pub(super) fn web_url(text: &str) -> Option<Url> {
    let url = Url::parse(text).ok()?;
    let web = matches!(url.scheme(), "http" | "https") && url.has_host();
    let plain = url.username().is_empty() && url.password().is_none();
    (web && plain && text.bytes().all(|byte| byte.is_ascii_graphic())).then_some(url)
}

/// Returns true if the host of a URL is a loopback address or `localhost`.
pub(super) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    }
}
