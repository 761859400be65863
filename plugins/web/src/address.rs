//! URLs of pages and links.

use loggia_sdk::prelude::*;
use url::Url;

/// Maximum length of a URL, in bytes.
const LONGEST: usize = 4000;

/// Parses a URL that a caller gave, without its fragment.
pub fn parse(given: &str) -> Result<Url> {
    let given = given.trim();
    let url = Url::parse(given).map_err(|error| not_a_page(given, &error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(not_a_page(given, "it is neither http nor https"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        let reason = "it contains a user name or a password";
        return Err(Failure::invalid_params(format!("`url` is not a page of the web: {reason}"))
            .hint("The operator binds credentials to a host with `secrets` in web.toml."));
    }
    Ok(without_fragment(url))
}

fn not_a_page(given: &str, reason: &str) -> Failure {
    let failure = Failure::invalid_params(format!("`url` is not a page of the web: {reason}"));
    let named = given.split('/').next().is_some_and(|host| host.contains('.') && !host.contains(':'));
    if named {
        return failure.hint(format!("Did you mean https://{}?", untrusted::short(given, 200)));
    }
    failure.hint("Such as https://example.com/page.")
}

/// Resolves a reference that a page contains. `None` if it is not a link to a page, or deceptive.
pub fn resolve(base: &Url, reference: &str) -> Option<Url> {
    let reference = reference.trim_matches(|char: char| char.is_ascii_whitespace());
    if reference.is_empty() || reference.len() > LONGEST {
        return None;
    }
    let url = base.join(reference).ok()?;
    let is_page = matches!(url.scheme(), "http" | "https")
        && url.host_str().is_some()
        && url.username().is_empty()
        && url.password().is_none()
        && url.as_str().len() <= LONGEST;
    is_page.then_some(url)
}

/// Removes the fragment, which is not sent.
pub fn without_fragment(mut url: Url) -> Url {
    url.set_fragment(None);
    url
}

/// Scheme, host and port: `https://example.com`.
pub fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

/// Host, and the port unless it is the scheme's own.
pub fn authority(url: &Url) -> &str {
    url.authority()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_of_the_web_are_accepted() {
        let check = |given: &str, expected: &str| {
            let shown = parse(given).map_or_else(|failure| failure.message.clone(), String::from);
            assert_eq!(shown, expected, "{given}");
        };
        check(" https://Example.com/a b?q=ü#top ", "https://example.com/a%20b?q=%C3%BC");
        check("http://127.0.0.1:8080", "http://127.0.0.1:8080/");
        check("https://münchen.example/", "https://xn--mnchen-3ya.example/");
        check("file:///etc/passwd", "`url` is not a page of the web: it is neither http nor https");
        check("javascript:alert(1)", "`url` is not a page of the web: it is neither http nor https");
        check(
            "https://bank.example@evil.example/",
            "`url` is not a page of the web: it contains a user name or a password",
        );
        check("example.com/a", "`url` is not a page of the web: relative URL without a base");
        assert_eq!(
            parse("example.com/a").unwrap_err().hint.as_deref(),
            Some("Did you mean https://example.com/a?")
        );
    }

    #[test]
    fn references_are_resolved_against_their_base() {
        let base = Url::parse("https://example.com/docs/a.html?x=1").unwrap();
        let check = |reference: &str, expected: Option<&str>| {
            assert_eq!(resolve(&base, reference).as_ref().map(Url::as_str), expected, "{reference}");
        };
        check("b.html", Some("https://example.com/docs/b.html"));
        check("../c", Some("https://example.com/c"));
        check("//other.example/x", Some("https://other.example/x"));
        check("?y=2", Some("https://example.com/docs/a.html?y=2"));
        check("#top", Some("https://example.com/docs/a.html?x=1#top"));
        check("https:\\\\example.org\\x", Some("https://example.org/x"));
        check("mailto:a@example.com", None);
        check("javascript:void(0)", None);
        check("data:text/html,x", None);
        check("https://a@example.com/", None);
        check("", None);
        check(&"a".repeat(5000), None);
    }
}
