//! Links that facades ask a person to open: which ones are shown, and how.

use loggia_facade::Failure;
use serde_json::json;
use url::{Host, Url};

use crate::failures::denied;

/// Bytes of a link.
const MAX_LINK_BYTES: usize = 2048;

/// Validated link, as a browser reads it.
#[derive(Debug)]
pub(super) struct QuestionLink {
    url: String,
    /// Host, with the port if the link names one.
    host: String,
    is_punycode: bool,
}

impl QuestionLink {
    /// Validates a link.
    ///
    /// # Errors
    ///
    /// The reason why it is not shown, to be read after "it".
    pub(super) fn parse(link: &str) -> Result<Self, String> {
        if link.len() > MAX_LINK_BYTES {
            return Err(format!("has {} bytes, more than {MAX_LINK_BYTES}", link.len()));
        }
        // Parsers disagree about the backslash, and so about the host.
        if !link.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\') {
            return Err("has characters other than visible ASCII, or a backslash".to_owned());
        }
        let url = Url::parse(link).map_err(|error| format!("is no absolute URL: {error}"))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err("has a user name or a password".to_owned());
        }
        let (is_loopback, is_punycode) = match url.host() {
            Some(Host::Domain(name)) => {
                (name == "localhost", name.split('.').any(|label| label.starts_with("xn--")))
            }
            Some(Host::Ipv4(address)) => (address.is_loopback(), false),
            Some(Host::Ipv6(address)) => (address.is_loopback(), false),
            None => return Err("has no host".to_owned()),
        };
        match url.scheme() {
            "https" => {}
            "http" if is_loopback => {}
            _ => return Err("must be https, or http to this machine".to_owned()),
        }
        // Escaping may have made it longer.
        if url.as_str().len() > MAX_LINK_BYTES {
            return Err(format!("has more than {MAX_LINK_BYTES} bytes"));
        }
        let host = url.host_str().unwrap_or_default();
        let host = match url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        };
        Ok(Self { url: url.into(), host, is_punycode })
    }

    /// The link in the form that a browser would give it, so that all who read it see the same host.
    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Renders the text above the link. The host's own part comes first, where no text of a facade can precede it.
    pub(super) fn render_message(&self, facade: &str, message: &str) -> String {
        let note = if self.is_punycode { " in Punycode, which may imitate another name" } else { "" };
        format!("[{facade}, link to {}{note}] {message}", self.host).trim_end().to_owned()
    }

    /// Failure for a client that cannot open the link: passes it on through the caller.
    pub(super) fn to_failure(&self, facade: &str, message: &str) -> Failure {
        let failure = denied(format_args!(
            "the person has to open a link first, which this client cannot show: {}",
            self.url
        ));
        let hint = format!(
            "give the person the link; once they are done there, make the same call again. The question: {}",
            self.render_message(facade, message)
        );
        Failure { details: Some(json!({ "link": self.url })), ..failure.hint(hint) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// H94.
    #[test]
    fn shown_links_lead_where_they_say() {
        for (link, url, host) in [
            ("https://a.example/x?y=1#z", "https://a.example/x?y=1#z", "a.example"),
            ("https://A.Example:8443", "https://a.example:8443/", "a.example:8443"),
            ("https://a.example:443/", "https://a.example/", "a.example"),
            ("https:a.example", "https://a.example/", "a.example"),
            ("https:///a.example/", "https://a.example/", "a.example"),
            ("https://%61.example/", "https://a.example/", "a.example"),
            ("https://0x7f.1/", "https://127.0.0.1/", "127.0.0.1"),
            ("https://a.example/@b.example", "https://a.example/@b.example", "a.example"),
            ("https://a.example?@b.example", "https://a.example/?@b.example", "a.example"),
            ("http://localhost:3000/", "http://localhost:3000/", "localhost:3000"),
            ("http://127.0.0.2/", "http://127.0.0.2/", "127.0.0.2"),
            ("http://[::1]:80/", "http://[::1]/", "[::1]"),
        ] {
            let shown = QuestionLink::parse(link).unwrap();
            assert_eq!((shown.url(), &*shown.host), (url, host), "{link}");
        }
    }

    /// H94.
    #[test]
    fn other_links_are_refused() {
        let long = format!("https://a.example/{}", "x".repeat(2048));
        let escaped = format!("https://a.example/{}", "<".repeat(1000));
        for (link, reason) in [
            (&*long, "has 2066 bytes, more than 2048"),
            (&*escaped, "has more than 2048 bytes"),
            ("http://a.example/", "must be https, or http to this machine"),
            ("http://localhost.a.example/", "must be https, or http to this machine"),
            ("http://0.0.0.0/", "must be https, or http to this machine"),
            ("ftp://a.example/", "must be https, or http to this machine"),
            ("file:///etc/passwd", "has no host"),
            ("javascript:alert(1)", "has no host"),
            ("data:text/html,x", "has no host"),
            ("https://ada@a.example/", "has a user name or a password"),
            ("https://:x@a.example/", "has a user name or a password"),
            ("https://a.example\\@b.example/", "has characters other than visible ASCII, or a backslash"),
            ("https://a.example/ x", "has characters other than visible ASCII, or a backslash"),
            ("https://a.example/\n", "has characters other than visible ASCII, or a backslash"),
            ("https://ä.example/", "has characters other than visible ASCII, or a backslash"),
            ("/x", "is no absolute URL: relative URL without a base"),
            ("https://", "is no absolute URL: empty host"),
            ("https://a.example:x/", "is no absolute URL: invalid port number"),
            ("", "is no absolute URL: relative URL without a base"),
        ] {
            assert_eq!(QuestionLink::parse(link).unwrap_err(), reason, "{link}");
        }
    }

    /// H94.
    #[test]
    fn the_message_begins_with_the_host() {
        for (link, message, expected) in [
            ("https://a.example/x", "Sign in", "[fake, link to a.example] Sign in"),
            ("https://a.example", "", "[fake, link to a.example]"),
            (
                "https://xn--e1awd7f.example/",
                "[fake, link to b.example]",
                "[fake, link to xn--e1awd7f.example in Punycode, which may imitate another name] [fake, link to b.example]",
            ),
        ] {
            assert_eq!(QuestionLink::parse(link).unwrap().render_message("fake", message), expected);
        }
    }
}
