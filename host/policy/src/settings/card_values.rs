//! Values of `[card]`: what the schemas of server cards and of the MCP registry allow.

use loggia_text::is_clean;
use url::{Host, Url};

use super::{
    kind::ValueKind,
    value::{text, values, words},
    web_url::{is_loopback, web_url},
};
use crate::document::tree::Text;

/// Longest name. The schemas of card and registry allow 200; the rest is for the name of a profile (32) and a dot.
const MAX_NAME: usize = 160;
/// Longest title and description, in characters, of both schemas.
const MAX_LINE: usize = 100;
/// Longest version, of both schemas.
const MAX_VERSION: usize = 255;
/// Longest address of an icon, of the registry's schema.
const MAX_ICON: usize = 255;

/// Type of an icon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
#[allow(missing_docs, reason = "media types")]
pub enum IconType {
    #[value(name = "image/png")]
    Png,
    #[value(name = "image/jpeg")]
    Jpeg,
    #[value(name = "image/svg+xml")]
    Svg,
    #[value(name = "image/webp")]
    Webp,
}

/// Background of an icon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
#[allow(missing_docs, reason = "standard themes")]
pub enum IconTheme {
    Light,
    Dark,
}

impl IconType {
    /// Returns the media type.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Svg => "image/svg+xml",
            Self::Webp => "image/webp",
        }
    }
}

impl IconTheme {
    /// Returns the name of the theme.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }
}

words! {
    IconType, "Type of an image.";
    IconTheme, "Background for which an icon is made.";
}

/// URL of the MCP endpoint, without a slash at its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardUrl(String);

impl CardUrl {
    /// Returns the URL.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns true if only programs on this machine can reach it.
    pub fn is_local(&self) -> bool {
        Url::parse(&self.0).is_ok_and(|url| is_local(&url))
    }

    /// Returns true if a URL is the same but for a slash at its end.
    pub fn is_same(&self, url: &Url) -> bool {
        self.0 == without_slash(url)
    }
}

/// Repository of a server's source code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardRepository {
    /// Its URL.
    pub url: String,
    /// The hosting service: `github`, `gitlab`, or the host.
    pub source: String,
}

impl CardRepository {
    /// Returns true if the MCP registry accepts it: it knows two services.
    pub fn is_registrable(&self) -> bool {
        ["github", "gitlab"].contains(&&*self.source)
    }
}

values! {
    CardUrl, ValueKind::Text, text(endpoint);
    CardRepository, ValueKind::Text, text(repository);
}

fn without_slash(url: &Url) -> &str {
    url.as_str().trim_end_matches('/')
}

fn is_local(url: &Url) -> bool {
    let is_local_name = |host: Host<&str>| matches!(host, Host::Domain(name) if name.ends_with(".localhost"));
    is_loopback(url) || url.host().is_some_and(is_local_name)
}

/// Parses a name. Stricter than the schema's pattern, as is the registry: both parts begin and end with a letter or digit
/// (`serverNameRegex` in its internal/validators/validators.go), and the namespace is a domain, since the catalog's identifiers
/// contain it.
pub(super) fn name(text: &Text) -> Result<String, String> {
    let is_edged = |part: &str| {
        part.len() > 1
            && part.starts_with(|c: char| c.is_ascii_alphanumeric())
            && part.ends_with(|c: char| c.is_ascii_alphanumeric())
    };
    let is_label = |label: &str| {
        let inner = label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        inner && !label.is_empty() && !label.starts_with('-') && !label.ends_with('-')
    };
    let is_name =
        |part: &str| part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    let fits = text.value.split_once('/').is_some_and(|(space, name)| {
        space.contains('.') && space.split('.').all(is_label) && is_edged(name) && is_name(name)
    });
    match fits && text.value.len() <= MAX_NAME {
        true => Ok(text.value.clone()),
        false => Err(format!(
            "must be a reverse domain name of yours, a slash and a name of letters, digits, `.`, `_` and `-`, together at most \
             {MAX_NAME} characters, such as \"com.example/tools\" or \"io.github.ada/tools\" (got {})",
            text.quoted()
        )),
    }
}

pub(super) fn one_line(text: &Text) -> Result<String, String> {
    let line = text.value.trim();
    match line.chars().count() {
        0 => Err("is empty".to_owned()),
        _ if line.contains(['\n', '\t']) || !is_clean(line) => {
            Err("must be one line without invisible characters".to_owned())
        }
        1..=MAX_LINE => Ok(line.to_owned()),
        long => Err(format!("has {long} characters; at most {MAX_LINE} are allowed")),
    }
}

/// Parses a version. Ranges and `latest` are what the registry refuses (`validateVersion` in the same file).
pub(super) fn version(text: &Text) -> Result<String, String> {
    let version = &text.value;
    let core = version.split(['-', '+']).next().unwrap_or_default();
    let is_open = core.split('.').any(|part| ["x", "X", "*"].contains(&part));
    let is_plain = version.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-+".contains(&byte));
    let fits = is_plain && !is_open && version != "latest" && (1..=MAX_VERSION).contains(&version.len());
    if fits {
        return Ok(version.clone());
    }
    Err(format!("must be one version, such as \"1.4.0\", not a range or `latest` (got {})", text.quoted()))
}

fn endpoint(text: &Text) -> Result<CardUrl, &'static str> {
    const FORM: &str = "must be the https:// URL of the MCP endpoint, such as \"https://tools.example.com/mcp\", without a user \
                        name and password (http:// only for this machine)";
    let url = web_url(&text.value).ok_or(FORM)?;
    if url.scheme() != "https" && !is_local(&url) {
        return Err(FORM);
    }
    if url.fragment().is_some() || url.query().is_some() {
        return Err(
            "must have no query and no fragment: the address of the card is this one and `/server-card`",
        );
    }
    Ok(CardUrl(without_slash(&url).to_owned()))
}

/// Parses a public page. The registry accepts only https.
fn public_url(text: &Text) -> Option<Url> {
    web_url(&text.value).filter(|url| url.scheme() == "https")
}

pub(super) fn website(text: &Text) -> Result<String, &'static str> {
    match public_url(text) {
        Some(url) => Ok(url.into()),
        None => Err("must be an https:// URL without a user name and password"),
    }
}

pub(super) fn icon(text: &Text) -> Result<String, String> {
    match public_url(text).map(String::from) {
        Some(url) if url.len() <= MAX_ICON => Ok(url),
        _ => Err(format!(
            "must be an https:// URL of at most {MAX_ICON} characters, without a user name and password"
        )),
    }
}

pub(super) fn size(text: &Text) -> Result<String, String> {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_size =
        text.value.split_once('x').is_some_and(|(width, height)| is_number(width) && is_number(height));
    match is_size || text.value == "any" {
        true => Ok(text.value.clone()),
        false => Err(format!("must be a size such as \"48x48\", or \"any\" (got {})", text.quoted())),
    }
}

/// Parses the address of a repository: for the services that the registry knows, the repository itself and not a page of it.
fn repository(text: &Text) -> Result<CardRepository, &'static str> {
    const FORM: &str = "must be the https:// URL of a repository, such as \"https://github.com/ada/tools\"";
    let url = public_url(text).filter(|url| url.query().is_none() && url.fragment().is_none()).ok_or(FORM)?;
    let segments = url.path().split('/').filter(|segment| !segment.is_empty()).count();
    let host = url.host_str().unwrap_or_default();
    let source = match host.strip_prefix("www.").unwrap_or(host) {
        "github.com" if segments == 2 => "github",
        "gitlab.com" if segments >= 2 => "gitlab",
        "github.com" | "gitlab.com" => return Err(FORM),
        host => host,
    };
    Ok(CardRepository { source: source.to_owned(), url: without_slash(&url).to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T, E>(parse: impl Fn(&Text) -> Result<T, E>, good: &[&str], bad: &[&str]) {
        let is_good = |value: &str| parse(&Text { value: value.to_owned(), written: None }).is_ok();
        for value in good {
            assert!(is_good(value), "{value:?} is refused");
        }
        for value in bad {
            assert!(!is_good(value), "{value:?} is accepted");
        }
    }

    #[test]
    fn a_name_is_a_reverse_domain_and_a_name() {
        let long = format!("com.example/{}", "a".repeat(MAX_NAME - 12));
        check(
            name,
            &["com.example/tools", "io.github.Ada-L/my_tools.v2", "a.b/cc", &long],
            &[
                "",
                "tools",
                "com.example",
                "com.example/",
                "/tools",
                "com.example/a/b",
                "com.example/tools!",
                "com/tools",
                "com..example/tools",
                ".com.example/tools",
                "com.example./tools",
                "com.-example/tools",
                "com.exa_mple/tools",
                "com.example/-tools",
                "com.example/tools.",
                "com.example/t",
                "com.exämple/tools",
                "com.example/to ols",
                &format!("{long}a"),
            ],
        );
    }

    #[test]
    fn titles_are_lines_of_a_hundred_characters() {
        check(
            one_line,
            &["Notes", " Notes ", &"ä".repeat(100)],
            &["", "  ", "a\nb", "a\tb", "a\u{202e}b", "a\u{1b}[2J", &"a".repeat(101)],
        );
    }

    #[test]
    fn a_version_is_not_a_range() {
        check(
            version,
            &["1.4.0", "v2", "2026-11-24", "1.0.0-alpha.x.1", "1.0.0+build.5", &"1".repeat(255)],
            &[
                "",
                "latest",
                "^1.2.3",
                "~1.2",
                ">=1.0",
                "<2",
                "=1",
                "1.x",
                "1.2.*",
                "*",
                "1.X.0",
                "1 - 2",
                "1||2",
                &"1".repeat(256),
            ],
        );
    }

    #[test]
    fn an_endpoint_is_https_or_local() {
        check(
            endpoint,
            &[
                "https://tools.example.com/mcp",
                "https://tools.example.com",
                "https://tools.example.com:8443/a/b/",
                "http://127.0.0.1:8080/mcp",
                "http://[::1]/mcp",
                "http://localhost/mcp",
                "http://tools.localhost/mcp",
            ],
            &[
                "",
                "/mcp",
                "tools.example.com/mcp",
                "http://tools.example.com/mcp",
                "http://10.0.0.1/mcp",
                "https://ada:pass@tools.example.com/mcp",
                "https://tools.example.com/mcp?a=b",
                "https://tools.example.com/mcp#a",
                "ftp://tools.example.com/mcp",
                "https://tools.example.com/a b",
            ],
        );
        let parse = |url: &str| endpoint(&Text { value: url.to_owned(), written: None }).unwrap();
        assert_eq!(parse("https://Tools.example.com/mcp/").as_str(), "https://tools.example.com/mcp");
        // Clients read braces as variables.
        assert_eq!(parse("https://h.example/{a}").as_str(), "https://h.example/%7Ba%7D");
        for (url, is_local) in
            [("http://127.0.0.1/mcp", true), ("https://a.localhost", true), ("https://h.example", false)]
        {
            assert_eq!(parse(url).is_local(), is_local, "{url}");
        }
        let slash: Url = "https://h.example/mcp/".parse().unwrap();
        assert!(
            parse("https://h.example/mcp").is_same(&slash) && !parse("https://h.example").is_same(&slash)
        );
    }

    #[test]
    fn pages_and_icons_are_https() {
        let long = format!("https://example.com/{}", "a".repeat(MAX_ICON));
        let bad = [
            "",
            "http://example.com",
            "example.com",
            "data:image/png;base64,AA==",
            "https://a:b@example.com",
        ];
        check(website, &["https://example.com", &long], &bad);
        check(icon, &["https://example.com/icon.png"], &[&bad[..], &[&long]].concat());
        check(
            size,
            &["48x48", "any", "1x1"],
            &["", "48", "x", "48x", "x48", "48X48", "48x48x48", "-1x1", "all"],
        );
    }

    #[test]
    fn a_repository_names_its_service() {
        for (url, source, is_registrable) in [
            ("https://github.com/ada/tools", "github", true),
            ("https://www.github.com/ada/tools/", "github", true),
            ("https://gitlab.com/group/sub/tools", "gitlab", true),
            ("https://codeberg.org/ada/tools", "codeberg.org", false),
        ] {
            let found = repository(&Text { value: url.to_owned(), written: None }).unwrap();
            assert_eq!((&*found.source, found.is_registrable()), (source, is_registrable), "{url}");
            assert_eq!(found.url, url.trim_end_matches('/'));
        }
        check(
            repository,
            &[],
            &[
                "",
                "ada/tools",
                "http://github.com/ada/tools",
                "https://github.com/ada",
                "https://github.com/ada/tools/tree/main/x",
                "https://gitlab.com/ada",
                "https://codeberg.org/ada/tools?a=b",
                "git@github.com:ada/tools.git",
            ],
        );
    }
}
