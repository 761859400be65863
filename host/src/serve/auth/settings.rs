//! Validation of `[auth]`.

use std::{
    collections::HashSet,
    fmt::Display,
    path::{Path, PathBuf},
    time::Duration,
};

use jsonwebtoken::Algorithm;
use loggia_egress::RuleDestination;
use loggia_gate::access::{AccessScope, CallerRights};
use tokio_util::sync::CancellationToken;
use url::{Host, Url};

use super::token::{self, KnownToken, TokenSet};
use crate::config::{
    server,
    server::{Auth, Mistake},
};

/// Longest issuer, since it is part of each caller's name.
const ISSUER: usize = 256;
/// Maximum leeway: more would extend the lifetime of tokens.
const LEEWAY: Duration = Duration::from_secs(10 * 60);

/// All mistakes of `[auth]`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
pub struct AuthError(Vec<Mistake>);

impl From<Mistake> for AuthError {
    fn from(mistake: Mistake) -> Self {
        Self(vec![mistake])
    }
}

/// Returns all mistakes of the settings.
pub fn mistakes(settings: &Auth, base: &Path) -> Vec<Mistake> {
    validate(settings, base).err().map_or_else(Vec::new, |AuthError(mistakes)| mistakes)
}

/// Validated settings.
#[derive(Debug)]
pub(super) struct ValidatedAuth {
    pub tokens: TokenSet,
    pub oauth: Option<OAuthConfig>,
}

/// Validated settings of an authorization server.
#[derive(Debug)]
pub(super) struct OAuthConfig {
    /// Verbatim, since clients compare it with their configured URL.
    pub resource: String,
    pub url: Url,
    pub issuer: String,
    pub audience: String,
    pub jwks: JwksLocation,
    pub algorithms: Vec<Algorithm>,
    pub leeway: Duration,
    pub scopes: Vec<String>,
    /// Accepts the scope `*` as all rights.
    pub allow_star: bool,
}

/// Location of the keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum JwksLocation {
    File(PathBuf),
    Url(Url),
}

/// Mistakes so far.
struct MistakeList(Vec<Mistake>);

impl MistakeList {
    fn collect<T>(&mut self, key: &str, read: Result<T, impl ToString>) -> Option<T> {
        read.map_err(|why| self.0.push(Mistake::new(key, why.to_string()))).ok()
    }
}

pub(super) fn validate(settings: &Auth, base: &Path) -> Result<ValidatedAuth, AuthError> {
    let mut problems = MistakeList(Vec::new());
    let known = validate_tokens(&settings.tokens, &mut problems);
    let resource = settings.resource.as_deref();
    let url = resource.and_then(|text| problems.collect("auth.resource", parse_resource(text)));
    let oauth = settings.oauth.as_ref().and_then(|oauth| {
        if resource.is_none() {
            let missing = "is missing: oauth needs the URL by which clients know this server, such as \
                           \"https://tools.example.com/mcp\"";
            problems.collect::<()>("auth.resource", Err(missing));
        }
        let jwks = problems.collect("auth.oauth.jwks", parse_jwks(&oauth.jwks, base));
        let issuer = problems.collect("auth.oauth.issuer", parse_issuer(&oauth.issuer));
        let algorithms = problems.collect("auth.oauth.algorithms", parse_algorithms(oauth));
        let leeway = problems.collect("auth.oauth.leeway", check_leeway(oauth.leeway.0));
        let audience = oauth.audience.as_deref().or(resource);
        if audience == Some("") {
            problems.collect::<()>("auth.oauth.audience", Err("is empty"));
        }
        for (n, scope) in oauth.scopes.iter().enumerate().filter(|(_, scope)| !is_scope_token(scope)) {
            let why = "has an invalid scope: one word each, without quotes and backslashes";
            problems
                .collect::<()>(&format!("auth.oauth.scopes.{n}"), Err(format!("{why} (got {scope:.40?})")));
        }
        Some(OAuthConfig {
            resource: resource?.to_owned(),
            url: url?,
            issuer: issuer?,
            audience: audience?.to_owned(),
            jwks: jwks?,
            algorithms: algorithms?,
            leeway: leeway?,
            scopes: oauth.scopes.clone(),
            allow_star: oauth.allow_star,
        })
    });
    if problems.0.is_empty() {
        Ok(ValidatedAuth { tokens: TokenSet::new(known), oauth })
    } else {
        Err(AuthError(problems.0))
    }
}

fn validate_tokens(settings: &[server::Token], problems: &mut MistakeList) -> Vec<KnownToken> {
    let (mut names, mut hashes) = (HashSet::new(), HashSet::new());
    let mut known = Vec::new();
    for (n, token) in settings.iter().enumerate() {
        let name = token.name.as_str();
        let at = |key: &str| format!("auth.tokens.{n}.{key}");
        // Mention the name only if it is valid, and so printable.
        let named = problems.collect(&at("name"), token::check_name(name));
        let of_it = |why: &dyn Display| match named {
            Some(()) => format!("({name}) {why}"),
            None => why.to_string(),
        };
        if named.is_some() && !names.insert(name) {
            let why = of_it(&"is also the name of another token; names must be unique");
            problems.collect::<()>(&at("name"), Err(why));
        }
        let hash = problems.collect(&at("hash"), parse_hash(&token.hash).map_err(|why| of_it(&why)));
        if hash.is_some_and(|hash| !hashes.insert(hash)) {
            let why = of_it(&"is also the hash of another token; make one for each with `loggia token new`");
            problems.collect::<()>(&at("hash"), Err(why));
        }
        if token.scopes.is_empty() {
            let why = of_it(&"is empty, so the token allows nothing; write [\"*\"] for everything");
            problems.collect::<()>(&at("scopes"), Err(why));
        }
        let read = |(n, text): (usize, &String)| {
            let scope = text.parse::<AccessScope>().map_err(|why| of_it(&format!("has {text:.80?}: {why}")));
            problems.collect(&at(&format!("scopes.{n}")), scope)
        };
        // Parse all of them, so that each mistake is reported.
        let scopes: Vec<Option<AccessScope>> = token.scopes.iter().enumerate().map(read).collect();
        let scopes = scopes.into_iter().collect::<Option<Vec<_>>>().filter(|scopes| !scopes.is_empty());
        let expires = token.expires.as_deref().map(|day| {
            let none = || of_it(&format!("must be a date such as \"2027-06-30\" (got {day:.40?})"));
            problems.collect(&at("expires"), token::parse_expiry(day).ok_or_else(none))
        });
        if let (Some(()), Some(hash), Some(rights)) = (named, hash, scopes.map(CallerRights::from_scopes)) {
            let expires = expires.flatten();
            let revoked = CancellationToken::new();
            known.push(KnownToken { name: name.to_owned(), hash, rights, expires, revoked });
        }
    }
    known
}

/// Parses a hash. Errors do not show the text, since it may be a token.
fn parse_hash(text: &str) -> Result<token::TokenHash, &'static str> {
    match token::parse_hash(text) {
        Some(hash) => Ok(hash),
        None if text.starts_with(token::PREFIX) => Err(
            "is a token itself, which must not be stored; make another with `loggia token new` and store its hash",
        ),
        None => Err("must be `sha256:` and 64 hexadecimal digits, as `loggia token new` prints it"),
    }
}

fn parse_resource(text: &str) -> Result<Url, &'static str> {
    const FORM: &str = "must be an absolute URL such as \"https://tools.example.com/mcp\"";
    let url = parse_web_url(text).ok_or(FORM)?;
    if url.fragment().is_some() || url.query().is_some() {
        return Err("must have no query and no fragment");
    }
    Ok(url)
}

fn parse_issuer(text: &str) -> Result<String, String> {
    let url = parse_web_url(text).filter(|url| url.fragment().is_none() && url.query().is_none());
    match url {
        None => {
            Err("must be the URL of the authorization server, exactly as in the `iss` of its tokens".into())
        }
        Some(_) if text.len() > ISSUER => Err(format!("must not be longer than {ISSUER} characters")),
        Some(url) if url.scheme() == "http" && !is_loopback(&url) => {
            Err("must be https://: clients are sent there to sign in (http:// for a loopback address)".into())
        }
        Some(_) => Ok(text.to_owned()),
    }
}

/// Parses an absolute http(s) URL of visible characters, with a host and without credentials.
fn parse_web_url(text: &str) -> Option<Url> {
    let url = Url::parse(text).ok()?;
    let web = matches!(url.scheme(), "http" | "https") && url.has_host();
    let plain = url.username().is_empty() && url.password().is_none();
    (web && plain && text.bytes().all(|byte| byte.is_ascii_graphic())).then_some(url)
}

/// Returns true for URLs of loopback.
fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    }
}

pub(super) fn parse_jwks(text: &str, base: &Path) -> Result<JwksLocation, String> {
    if text.is_empty() {
        return Err("is empty: name a file or an https:// URL".into());
    }
    if !text.contains("://") {
        return Ok(JwksLocation::File(base.join(text)));
    }
    let url =
        parse_web_url(text).ok_or("must be a file or an https:// URL, without a name and a password")?;
    if url.scheme() == "http" && !is_loopback(&url) {
        return Err("must be https://: over http://, anyone on the way could replace the keys".into());
    }
    RuleDestination::parse(&url.origin().ascii_serialization())?;
    Ok(JwksLocation::Url(url))
}

fn parse_algorithms(oauth: &server::OAuth) -> Result<Vec<Algorithm>, &'static str> {
    use server::Algorithm as A;
    let same = |algorithm: &A| match algorithm {
        A::RS256 => Algorithm::RS256,
        A::RS384 => Algorithm::RS384,
        A::RS512 => Algorithm::RS512,
        A::PS256 => Algorithm::PS256,
        A::PS384 => Algorithm::PS384,
        A::PS512 => Algorithm::PS512,
        A::ES256 => Algorithm::ES256,
        A::ES384 => Algorithm::ES384,
        A::EdDSA => Algorithm::EdDSA,
    };
    match oauth.algorithms.is_empty() {
        true => Err("is empty, so every token would be refused; omit it for RS256 and ES256"),
        false => Ok(oauth.algorithms.iter().map(same).collect()),
    }
}

fn check_leeway(span: Duration) -> Result<Duration, &'static str> {
    if span <= LEEWAY { Ok(span) } else { Err("must not be longer than 10m: synchronize the clocks instead") }
}

/// Checks for RFC 6749's `scope-token`, which is wider than our own scopes.
fn is_scope_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(toml: &str) -> Result<ValidatedAuth, AuthError> {
        validate(&toml::from_str(toml).unwrap(), Path::new("/etc/loggia"))
    }

    const OAUTH: &str = "resource = 'https://h/mcp'\noauth.issuer = 'https://id.example.com/'\n";

    #[test]
    fn all_mistakes_are_reported_without_tokens() {
        let made = token::generate();
        let hash = token::hash(&made);
        let toml = format!(
            "resource = 'tools.example.com/mcp#x'
            tokens = [
                {{ name = 'ci', hash = '{hash}', scopes = ['*'] }},
                {{ name = 'ci', hash = '{hash}', scopes = ['notes:read', 'notes'], expires = '30.6.2027' }},
                {{ name = \"a\\u001bb\", hash = '{made}', scopes = [] }},
                {{ name = 'short', hash = 'sha256:00', scopes = ['*'] }},
            ]
            oauth = {{ issuer = 'id', audience = '', jwks = 'http://id.example.com/keys', algorithms = [], leeway = '1h',
                       scopes = ['a b', 'a\"b'] }}"
        );
        let problems = checked(&toml).unwrap_err();
        assert!(!problems.to_string().contains(&made));
        insta::assert_snapshot!(problems.to_string().replace("; `", "\n`"));
    }

    #[test]
    fn a_resource_is_a_plain_url() {
        let check = |text: &str, good: bool| assert_eq!(parse_resource(text).is_ok(), good, "{text}");
        check("https://tools.example.com/mcp", true);
        check("http://127.0.0.1:8080/mcp", true);
        check("https://h", true);
        for bad in [
            "",
            "/mcp",
            "h/mcp",
            "https://",
            "ftp://h/",
            "https://h/mcp#a",
            "https://h/mcp?a",
            "https://u:p@h/",
        ] {
            check(bad, false);
        }
        check("https://h/a b", false);
    }

    #[test]
    fn keys_come_from_a_file_or_tls() {
        let check = |text: &str, expected: Option<JwksLocation>| {
            assert_eq!(parse_jwks(text, Path::new("/etc/loggia")).ok(), expected, "{text}");
        };
        let url = |text: &str| Some(JwksLocation::Url(text.parse().unwrap()));
        check("keys.json", Some(JwksLocation::File("/etc/loggia/keys.json".into())));
        check("/run/keys.json", Some(JwksLocation::File("/run/keys.json".into())));
        for good in [
            "https://id.example.com/keys?tenant=1",
            "http://127.0.0.1:8080/k",
            "http://[::1]/k",
            "http://localhost/k",
        ] {
            check(good, url(good));
        }
        for bad in [
            "",
            "http://id.example.com/keys",
            "http://10.0.0.1/k",
            "ftp://h/k",
            "https://u:p@h/k",
            "file:///etc/k",
        ] {
            check(bad, None);
        }
    }

    #[test]
    fn oauth_requires_a_resource() {
        let problems = checked("oauth = { issuer = 'https://id', jwks = 'k.json' }").unwrap_err();
        assert!(problems.to_string().starts_with("`auth.resource` is missing"), "{problems}");
        let checked = checked(&format!("{OAUTH}oauth.jwks = 'k.json'")).unwrap().oauth.unwrap();
        assert_eq!(
            (checked.audience.as_str(), checked.issuer.as_str()),
            ("https://h/mcp", "https://id.example.com/")
        );
        assert_eq!(checked.algorithms, [Algorithm::RS256, Algorithm::ES256]);
    }
}
